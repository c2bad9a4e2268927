"""QC105: who takes accelerators behind Kueue's back."""

from __future__ import annotations

from qcheck.answers.verdict import verdicts_of
from qcheck.checks.capacity.sums import names, owner_of
from qcheck.checks.registry import rule
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.supply.hosts import hosts
from qcheck.supply.pod_requests import bounds, scheduled
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.supply.supply import NodeGroup


@rule("QC105")
def consumer_outside_kueue(cluster: Cluster) -> Iterator[Finding]:
    """Pods that ask for accelerators without a queue, on nodes whose accelerators are promised as quota."""
    for verdict in verdicts_of(cluster):
        if _is_outside(verdict):
            for pod_set in verdict.workload.pod_sets:
                yield from _taking(cluster, verdict.workload, pod_set)


def _is_outside(verdict: Verdict) -> bool:
    return not verdict.decision.is_managed and verdict.decision.reasons[0].cause == "unmanaged"


def _taking(cluster: Cluster, workload: Workload, pod_set: PodSet) -> Iterator[Finding]:
    request = scheduled(cluster, pod_set.template, bounds(cluster, workload.namespace))
    devices = sorted(r for r in request if is_compute(r))
    if not devices or not pod_set.count:
        return
    landing = [h.group for h in hosts(cluster, pod_set.template, request) if h.possible and h.group.is_known]
    large = [g for g in landing if all(g.highest(r) >= request[r] for r in devices)]
    for resource in devices:
        quota = _promised(cluster, large, resource)
        if quota is not None:
            yield _finding(cluster, workload, pod_set, request[resource], quota, large)


def _promised(cluster: Cluster, landing: list[NodeGroup], resource: str) -> Quota | None:
    """The largest quota for a resource on some of these nodes."""
    groups = {g.name for g in landing if g.advertises(resource)}
    cells = [
        q
        for (flavor, name), quotas in supply_of(cluster).demands.items()
        if name == resource and any(m.group.name in groups for m in supply_of(cluster).matches(flavor))
        for q in quotas
        if q.nominal
    ]
    return max(cells, key=lambda q: q.nominal, default=None)


def _finding(
    cluster: Cluster, workload: Workload, pod_set: PodSet, each: int, quota: Quota, landing: list[NodeGroup]
) -> Finding:
    count = pod_set.count * workload.groups
    total = f"{count} x {each} = {count * each}" if count > 1 else str(each)
    groups = names(sorted({g.name for g in landing if g.advertises(quota.resource)}))
    periodic = " each time" if workload.id.kind == "CronJob" else ""
    message = (
        f"{workload.id} takes {total} {quota.resource}{periodic} on {groups} without a queue, "
        f"which {owner_of(cluster, quota)}'s quota does not know"
    )
    return (
        finding(pod_set.template.place_of(quota.resource), message)
        .about(workload.id)
        .near(quota.nominal_place, f"{owner_of(cluster, quota)} is promised {quota.nominal} on flavor {quota.flavor}")
        .with_data(resource=quota.resource, perPod=each, pods=count, total=count * each, flavor=quota.flavor)
    )
