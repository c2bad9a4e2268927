"""Volcano's queues as a neutral quota tree; each node group is a pool, and all nodes are another.

Under the capacity plugin a queue is entitled to what it deserves, otherwise to its guarantee; the guarantee is never
lent. The entitlements of the topmost queues are promised.
"""

from __future__ import annotations

from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import view
from qcheck.cluster.volcano import ROOT, pool_key, pool_of
from qcheck.packing.pod_shape import PodShape, pod_request
from qcheck.quota.tree import Cell, QuotaNode, QuotaTree
from qcheck.schedulers.volcano.amounts import UNLIMITED
from qcheck.schedulers.volcano.gates import barriers, limits
from qcheck.schedulers.volcano.jobs import gangs_of, gangs_with
from qcheck.schedulers.volcano.queues import queues_of
from qcheck.schedulers.volcano.webhook import is_counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.volcano import VolcanoQueue
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.volcano.jobs import VolcanoGang
    from qcheck.schedulers.volcano.queues import Queues

WORD = "queue"
NOT_COUNTED = "pods"


@view
def quota_tree(cluster: Cluster) -> QuotaTree:
    """Return all declared queues except `root`; its direct children are at the top."""
    queues = queues_of(cluster)
    leaves, top = ({q.name for q in some} for some in (queues.leaves, queues.top))
    nodes = tuple(_node(cluster, queues, q, q.name in leaves, q.name in top) for q in queues.declared if q.name != ROOT)
    pools = tuple(p for p in cluster.quota_pools.values() if p.scheduler is SchedulerName.VOLCANO)
    return QuotaTree(SchedulerName.VOLCANO, nodes, pools, queues.cycles)


def _node(cluster: Cluster, queues: Queues, queue: VolcanoQueue, admits: bool, is_top: bool) -> QuotaNode:
    has_parent = queues.is_tree and queue.parent in queues.queue and queue.parent != ROOT
    return QuotaNode(
        name=queue.name,
        word=WORD,
        parent=f"{WORD}/{queue.parent}" if has_parent else None,
        admits=admits,
        cells=tuple(_cells(cluster, queues, queue, is_top)),
        id=queue.id,
        place=queue.place,
        is_stopped=queue.state not in ("", "Open"),
    )


def _cells(cluster: Cluster, queues: Queues, queue: VolcanoQueue, is_top: bool) -> Iterator[Cell]:
    """Yield a cell for each resource of which the queue is promised some."""
    guarantee = queue.amounts["guarantee"]
    deserved = queue.amounts["deserved"] if queues.scheduler.by_capacity else {}
    known = limits(cluster).get(queue.name, {})
    for resource in {**deserved, **guarantee}:
        if resource == NOT_COUNTED or not is_counted(resource):
            continue
        entitled = max(deserved.get(resource, 0), guarantee.get(resource, 0))
        field = "deserved" if entitled == deserved.get(resource) else "guarantee"
        limit = known.get(resource, UNLIMITED)
        place = queue.place_of(field, resource)
        capability = queue.place_of("capability", resource)
        yield Cell(
            pool=pool_key(pool_of(queues.node_terms(queue.name))),
            resource=resource,
            promised=entitled if is_top else 0,
            entitled=entitled,
            lendable=entitled - guarantee.get(resource, 0),
            limit=None if limit == UNLIMITED else int(limit),
            holder=queue.name,
            place=place,
            name_place=place.key(),
            limit_place=capability if capability.exists else None,
        )


def queue_of(cluster: Cluster, workload: Workload) -> str | None:
    """Return the queue of a workload's first gang; None if Volcano does not schedule it."""
    gangs = gangs_with(cluster, workload)
    return gangs[0].queue if gangs else None


@view
def workload_shapes(cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
    """Return the pods of gangs that pass their gates, by node group."""
    queues = queues_of(cluster)
    found: dict[str, list[PodShape]] = {}
    for gang in gangs_of(cluster):
        known = queues.queue.get(gang.queue)
        if gang.workloads and known is not None and known in queues.leaves and not barriers(cluster, gang):
            key = pool_key(pool_of(queues.node_terms(gang.queue)))
            for workload in gang.workloads:
                found.setdefault(key, []).extend(_shapes(cluster, gang, workload))
    return {pool: tuple(shapes) for pool, shapes in found.items()}


def _shapes(cluster: Cluster, gang: VolcanoGang, workload: Workload) -> Iterator[PodShape]:
    for pod_set in workload.pod_sets:
        name = workload.name if len(workload.pod_sets) == 1 else f"{workload.name}/{pod_set.name}"
        shape = PodShape(
            name=name,
            request=pod_request(cluster, workload, pod_set),
            queue=gang.queue,
            template=pod_set.template,
            count=pod_set.count * workload.groups,
        )
        if shape.accelerator:
            yield replace(shape, place=pod_set.template.place_of(shape.accelerator))
