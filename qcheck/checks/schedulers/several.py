"""QC990, QC991: several schedulers in one cluster, on the same nodes or for the same pods."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import cell_scale, names, promised, supplied
from qcheck.checks.capacity.quota import compared_resources, is_proven, near_supply
from qcheck.checks.registry import rule
from qcheck.cluster.policy import KAI_SCHEDULER, VOLCANO_SCHEDULER
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import QUEUE_ANNOTATION, VolcanoJob
from qcheck.cluster.workloads import QUEUE_NAME
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of, title_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.quota_pool import SchedulerName
    from qcheck.cluster.workloads import Workload
    from qcheck.quota.max_flow import Overdraft
    from qcheck.quota.tree import Cell


@rule("QC990")
def schedulers_share_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report promises of several schedulers on the same nodes that exceed what the nodes can ever supply."""
    promises = promises_of(cluster)
    everyone = [t.scheduler for t in promises.trees]
    if len(everyone) < 2:
        return
    for resource in compared_resources(cluster):
        for over in promises.overdrafts(resource, True, everyone):
            is_mixed = len({cluster.quota_pools[key].scheduler for key in over.pools}) > 1
            if is_mixed and is_proven(cluster, resource, over):
                yield _shared(cluster, resource, over)


def _shared(cluster: Cluster, resource: str, over: Overdraft) -> Finding:
    cells = [c for key in over.pools for c in promises_of(cluster).cells[key, resource] if c.promised]
    groups = [g for g in supply_of(cluster).groups if g.name in over.groups]
    pools = [cluster.quota_pools[key] for key in over.pools]
    scale = cell_scale(resource, cells, groups)
    by_scheduler: dict[SchedulerName, list[Cell]] = {}
    for cell in cells:
        by_scheduler.setdefault(cluster.quota_pools[cell.pool].scheduler, []).append(cell)
    parts = [f"{title_of(scheduler)} {promised(scale, its)}" for scheduler, its in by_scheduler.items()]
    message = (
        f"several schedulers promise the same nodes: {names(parts)}, together {scale.name(over.wanted)}, "
        f"but the nodes can supply {scale(over.supply)}: {supplied(scale, groups, at_best=True)}"
    )
    largest, *others = sorted(cells, key=lambda c: -c.promised)
    found = finding(largest.place, message, f"{scale(largest.promised)} for {largest.holder}")
    for cell in others:
        found = found.near(cell.place, f"{scale(cell.promised)} for {cell.holder}")
    return (
        near_supply(found, scale, groups)
        .likely(any(supply_of(cluster).is_estimated(key, resource) for key in over.pools))
        .with_data(
            resource=resource,
            schedulers=sorted({p.scheduler.value for p in pools}),
            pools=[p.name for p in pools],
            reserved=over.wanted,
            supply=over.supply,
            excess=over.wanted - over.supply,
        )
    )


@rule("QC991")
def scheduler_bypassed(cluster: Cluster) -> Iterator[Finding]:
    """Report pods that name a queue of one scheduler but are for another; QC907 reports KAI's label without KAI."""
    for workload in cluster.workloads:
        yield from _of_kueue(workload)
        yield from _of_volcano(workload)


def _named(workload: Workload) -> str:
    """Return the scheduler that the pods are for."""
    if isinstance(workload, VolcanoJob):
        return workload.scheduler
    named = (p.template.scheduler_name for p in workload.pod_sets if p.template.scheduler_name)
    return next(named, "default-scheduler")


def _of_kueue(workload: Workload) -> Iterator[Finding]:
    scheduler = _named(workload)
    queue = workload.queue or workload.labels.get(QUEUE_NAME)
    if queue is None or scheduler not in (VOLCANO_SCHEDULER, KAI_SCHEDULER):
        return
    if isinstance(workload, VolcanoJob):
        effect = "Kueue does not manage Jobs of Volcano, so its quota does not count them"
    else:
        effect = "it uses quota of both and starts only when both admit it"
    place = workload.queue_place if workload.queue else workload.place.at("metadata", "labels", QUEUE_NAME)
    message = f"{workload.id} names Kueue's queue {queue}, but its pods run under {scheduler}: {effect}"
    yield finding(place, message).about(workload.id).with_data(queue=queue, scheduler=scheduler)


def _of_volcano(workload: Workload) -> Iterator[Finding]:
    scheduler = _named(workload)
    if scheduler == VOLCANO_SCHEDULER:
        return
    if isinstance(workload, VolcanoJob):
        message = f"{workload.id} is in queue {workload.volcano_queue}, which does not count pods of {scheduler}"
        found = finding(workload.place.at("spec", "schedulerName"), message).about(workload.id)
        yield found.with_data(queue=workload.volcano_queue, scheduler=scheduler)
        return
    for pod_set in workload.pod_sets:
        queue = pod_set.template.annotations.get(QUEUE_ANNOTATION)
        if queue:
            place = pod_set.template.metadata_place.at("annotations", QUEUE_ANNOTATION)
            message = (
                f"{workload.id} names Volcano's queue {queue}, but its pods run under {scheduler}: no queue counts them"
            )
            yield finding(place, message).about(workload.id).with_data(queue=queue, scheduler=scheduler)
