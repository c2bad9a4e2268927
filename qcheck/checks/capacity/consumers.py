"""QC105: consumers of accelerators that Kueue does not count."""

from __future__ import annotations

from collections import Counter
from functools import cache, partial

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import cache_of
from qcheck.findings.finding import Finding, finding
from qcheck.quota.max_flow import assign
from qcheck.schedulers.table import has_kai, promises_of
from qcheck.supply.eligibility import hosts
from qcheck.supply.pod_requests import bounds, scheduled
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup, Reaching

    DeviceSource = tuple[str, tuple[str, ...]]
    """A resource, and the names of the groups that may supply it."""


class Consumer(Value):
    """A pod set that requests devices of one resource without a queue; `groups` are the names of those that may host it."""

    workload: Workload
    pod_set: PodSet
    resource: str
    each: int
    count: int
    groups: tuple[str, ...]

    @property
    def source(self) -> DeviceSource:
        return self.resource, self.groups

    @property
    def total(self) -> int:
        return self.count * self.each

    @property
    def is_grown(self) -> bool:
        """Return whether these are more pods than at first."""
        return self.count > self.pod_set.count * self.workload.groups

    def sizes(self) -> Iterator[Consumer]:
        """Yield the consumer with its current number of pods, and with the most that an autoscaler sets."""
        yield self
        most = (self.pod_set.maximum or 0) * self.workload.groups
        if most > self.count:
            yield replace(self, count=most)


@rule("QC105")
def consumer_outside_kueue(cluster: Cluster) -> Iterator[Finding]:
    """Report pods that request accelerators without a queue, if quota and these pods together exceed the nodes."""
    bypassing = _bypassing_kai(cluster)
    outside = [v.workload for v in verdicts_of(cluster) if _is_outside(v) and v.workload.id not in bypassing]
    consumers = [c for w in outside for p in w.pod_sets for c in _consumers(cluster, w, p)]
    asked: Counter[DeviceSource] = Counter()
    for consumer in consumers:
        asked[consumer.source] += consumer.total

    promised = cache(partial(_promised, cluster))

    @cache
    def fits(source: DeviceSource, counted: int, amount: int) -> bool:
        """Return whether an amount fits beside those in `asked`, except for `counted` devices from its own source."""
        return _fits(cluster, source, amount, asked - Counter({source: counted}))

    for consumer in consumers:
        quota = promised(consumer.source)
        too_large = (c for c in consumer.sizes() if not fits(c.source, consumer.total, c.total))
        if quota is not None and (first := next(too_large, None)) is not None:
            yield _finding(cluster, first, quota)


def _bypassing_kai(cluster: Cluster) -> set[ObjectId]:
    """Return workloads with a queue of KAI that another scheduler starts; QC907 reports each."""
    if not has_kai(cluster):
        return set()
    from qcheck.schedulers.kai.jobs import jobs_of  # 3 ms

    return {job.workload.id for job in jobs_of(cluster) if not job.is_scheduled}


def _is_outside(verdict: Verdict) -> bool:
    return not verdict.decision.is_managed and verdict.decision.reasons[0].cause == "unmanaged"


def _consumers(cluster: Cluster, workload: Workload, pod_set: PodSet) -> Iterator[Consumer]:
    request = scheduled(cluster, pod_set.template, bounds(cluster, workload.namespace))
    devices = sorted(r for r in request if is_compute(r))
    if not devices or not pod_set.count:
        return
    landing = _landing(cluster, pod_set.template, request)
    for resource in devices:
        yield Consumer(
            workload=workload,
            pod_set=pod_set,
            resource=resource,
            each=request[resource],
            count=pod_set.count * workload.groups,
            groups=tuple(sorted({g.name for g in landing if g.advertises(resource)})),
        )


def _landing(cluster: Cluster, template: PodTemplate, request: Mapping[str, int]) -> tuple[NodeGroup, ...]:
    """Return the groups that may host pods and whose nodes have the devices for one; cached by equal pods."""
    known: dict[Hashable, tuple[NodeGroup, ...]] = cache_of(cluster, _landing)
    key = (template.ask, frozenset(request.items()))
    if key not in known:
        found = hosts(cluster, supply_of(cluster).groups, template, request)
        known[key] = tuple(
            h.group
            for h in found
            if h.possible
            and h.group.is_known
            and all(h.group.highest(r) >= amount for r, amount in request.items() if is_compute(r))
        )
    return known[key]


def _fits(cluster: Cluster, source: DeviceSource, amount: int, others: Counter[DeviceSource]) -> bool:
    """Return whether an amount finds free devices after all quota and other consumers; it may use reserves.

    The flow serves demands in order and takes nothing back from earlier ones, so the last one gets only what is free.
    """
    resource, last = source[0], "the consumer"
    asking = {f"consumers on {', '.join(c[1])}": (c[1], total) for c, total in others.items() if c[0] == resource}
    asking[last] = (source[1], amount)
    wanted, reach, capacity = promises_of(cluster).demand_at_best(resource)
    kept = {f"kept of {g}": held for g, held in supply_of(cluster).kept_by_group(resource).items()}
    own: Reaching = {
        name: dict.fromkeys(n for g in groups for n in (g, f"kept of {g}")) for name, (groups, _) in asking.items()
    }
    totals = wanted | {name: total for name, (_, total) in asking.items()}
    drawn = assign(totals, reach | own, capacity | kept)
    return sum(held for (name, _), held in drawn.items() if name == last) >= amount


def _promised(cluster: Cluster, source: DeviceSource) -> Cell | None:
    """Return the largest quota for the resource on nodes of the groups."""
    resource, groups = source
    cells = [
        q
        for (flavor, name), quotas in promises_of(cluster).cells.items()
        if name == resource and any(m.group.name in groups for m in supply_of(cluster).matches(flavor))
        for q in quotas
        if q.promised
    ]
    return max(cells, key=lambda q: q.promised, default=None)


def _finding(cluster: Cluster, consumer: Consumer, quota: Cell) -> Finding:
    workload, pod_set, count, each = consumer.workload, consumer.pod_set, consumer.count, consumer.each
    total = f"{count} x {each} = {consumer.total}" if count > 1 else str(each)
    groups = names(list(consumer.groups))
    periodic = " each time" if workload.id.kind == "CronJob" else ""
    uses = "may grow to use" if consumer.is_grown else "uses"
    message = (
        f"{workload.id} {uses} {total} {quota.resource}{periodic} on {groups} without a queue, "
        f"which the quota of {quota.holder} does not count"
    )
    found = (
        finding(pod_set.template.place_of(quota.resource), message)
        .about(workload.id)
        .near(quota.place, f"{quota.holder} is promised {quota.promised} on {cluster.quota_pools[quota.pool].title}")
    )
    if consumer.is_grown and pod_set.maximum_place is not None:
        found = found.near(pod_set.maximum_place, f"an autoscaler may scale it to {pod_set.maximum} pods")
    return found.with_data(
        resource=quota.resource,
        perPod=each,
        pods=count,
        total=consumer.total,
        excess=consumer.total,
        flavor=pool_name(quota.pool),
    )
