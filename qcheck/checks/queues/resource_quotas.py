"""QC418: ResourceQuotas of namespaces beside the quota of queues."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.quantity import amount, written_amount
from qcheck.cluster.resources import BASIC, is_compute
from qcheck.cluster.units import named, show_amount, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.cohort_tree import cohort_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Quota
    from qcheck.cluster.workloads import ResourceQuota

REQUESTS = "requests."


@rule("QC418")
def resource_quota_tighter(cluster: Cluster) -> Iterator[Finding]:
    """Report namespaces whose ResourceQuota rejects pods of workloads that their queue admits."""
    for quota in cluster.resource_quotas:
        if quota.is_scoped:
            continue
        for local in cluster.local_queues:
            queue = cluster.queue.get(local.cluster_queue or "") if local.namespace == quota.namespace else None
            tight = _tight(cluster, quota, queue) if queue is not None else []
            if queue is not None and tight:
                yield _tighter(quota, queue, tight)
                break


def _tight(cluster: Cluster, quota: ResourceQuota, queue: ClusterQueue) -> list[tuple[str, int, int, Quota]]:
    """Return keys below what the queue can admit: key, hard limit, admitted amount, the largest cell."""
    found = []
    for key, hard in quota.hard.items():
        resource = key.removeprefix(REQUESTS)
        cells = [q for q in queue.quotas() if q.resource == resource]
        if not cells or (resource == key and resource not in BASIC):
            continue
        admitted = sum(cohort_tree(cluster).queue_potential(queue.name, c.key) for c in cells)
        if amount(resource, hard) < admitted:
            found.append((key, amount(resource, hard), admitted, max(cells, key=lambda c: c.nominal)))
    return sorted(found, key=lambda f: not is_compute(f[3].resource))


def _tighter(quota: ResourceQuota, queue: ClusterQueue, tight: list[tuple[str, int, int, Quota]]) -> Finding:
    (key, hard, admitted, cell), *others = tight
    resource = cell.resource
    allowed, at_most = show_amounts(resource, hard, admitted)
    found = finding(
        quota.place.at("spec", "hard", key),
        f"namespace {quota.namespace} may request {named(resource, allowed)}, while {queue.name} admits up to "
        f"{at_most}: beyond the ResourceQuota the API server rejects the pods of admitted workloads",
    ).about(quota.id)
    found = found.near(cell.nominal_place, f"nominalQuota {written_amount(resource, cell.nominal)} of {queue.name}")
    for other, _, most, its in others:
        found = found.near(
            quota.place.at("spec", "hard", other), f"{queue.name} admits up to {show_amount(its.resource, most)}"
        )
    return found.with_data(namespace=quota.namespace, queue=queue.name, resource=resource, hard=hard, admitted=admitted)
