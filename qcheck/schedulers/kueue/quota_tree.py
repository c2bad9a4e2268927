"""Kueue's cohorts and ClusterQueues as a neutral quota tree in which a flavor is a pool, and the pods of their workloads."""

from __future__ import annotations

from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import view
from qcheck.packing.pod_shape import PodShape, pod_request
from qcheck.quota.tree import Cell, QuotaNode, QuotaTree
from qcheck.schedulers.kueue.admission import decide
from qcheck.schedulers.kueue.cohort_tree import UNLIMITED, cohort_tree
from qcheck.schedulers.kueue.workload_classes import workload_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import AdmissionCheck, ClusterQueue, Quota
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.schedulers.kueue.assignment import Assigned
    from qcheck.schedulers.kueue.cohort_tree import TreeNode

COHORT, QUEUE = "cohort", "ClusterQueue"


@view
def quota_tree(cluster: Cluster) -> QuotaTree:
    """Return the queues, then the cohorts, including those that are only referenced."""
    tree = cohort_tree(cluster)
    queues = (_queue(cluster, q) for q in cluster.queues)
    cohorts = (_cohort(cluster, node) for node in tree.cohorts.values())
    pools = tuple(p for p in cluster.quota_pools.values() if p.scheduler is SchedulerName.KUEUE)
    return QuotaTree(SchedulerName.KUEUE, (*queues, *cohorts), pools, tree.cycles)


def _queue(cluster: Cluster, queue: ClusterQueue) -> QuotaNode:
    checks = [c for use in queue.checks if (c := cluster.admission_check.get(use.name)) is not None]
    node = cohort_tree(cluster).queues[queue.name]
    return QuotaNode(
        name=queue.name,
        word=QUEUE,
        parent=None if queue.parent is None else f"{COHORT}/{queue.parent}",
        admits=True,
        cells=tuple(_cell(cluster, node, q, queue.name) for q in queue.quotas()),
        id=queue.id,
        place=queue.place,
        is_stopped=queue.is_stopped,
        needs_nodes=not _is_remote(checks),
        provisioned=any(c.is_provisioning for c in checks),
    )


def _is_remote(checks: list[AdmissionCheck]) -> bool:
    """Return whether a queue's workloads run on MultiKueue workers, so that its quota needs no nodes here."""
    return any(c.is_multikueue for c in checks)


def _cohort(cluster: Cluster, node: TreeNode) -> QuotaNode:
    holder = node.holder
    return QuotaNode(
        name=node.name,
        word=COHORT,
        parent=None if node.parent is None else f"{COHORT}/{node.parent}",
        admits=False,
        cells=tuple(_cell(cluster, node, q, f"cohort {node.name}") for q in holder.quotas()) if holder else (),
        id=holder.id if holder else None,
        place=holder.place if holder else None,
    )


def _cell(cluster: Cluster, node: TreeNode, quota: Quota, holder: str) -> Cell:
    tree = cohort_tree(cluster)
    most = tree.potential(node, quota.key)
    return Cell(
        pool=quota.flavor,
        resource=quota.resource,
        promised=quota.nominal,
        entitled=quota.nominal,
        lendable=min(quota.nominal, tree.lendable(node, quota.key)) if node.parent else 0,
        limit=None if most >= UNLIMITED // 2 else most,
        holder=holder,
        place=quota.nominal_place,
        name_place=quota.place.at("name"),
        limit_place=limit if (limit := quota.place.at("borrowingLimit")).exists else None,
    )


@view
def workload_shapes(cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
    """Return the shapes of admissible workloads by flavor; equal shapes of a queue are combined with their sum."""
    found: dict[str, dict[tuple[object, ...], PodShape]] = {}
    for workload, *others in workload_classes(cluster):
        for flavor, shape in _of_workload(cluster, workload, 1 + len(others)):
            key = (shape.queue, tuple(sorted(shape.request.items())))
            known = found.setdefault(flavor, {})
            if key in known:
                shape = _joined(known[key], shape)
            known[key] = shape
    return {flavor: tuple(shapes.values()) for flavor, shapes in found.items()}


def _joined(first: PodShape, more: PodShape) -> PodShape:
    """Return two shapes with one request as one: the pods that the fewest nodes reject, in the number of both."""
    return replace(min(first, more, key=lambda s: s.strictness), count=first.count + more.count)


def _of_workload(cluster: Cluster, workload: Workload, many: int) -> Iterator[tuple[str, PodShape]]:
    """Yield the pods of `many` workloads of one class."""
    if not _meets_devices(cluster, workload):
        return
    decision = decide(cluster, workload)
    if decision.admitted is False or decision.cluster_queue is None:
        return
    queue = cluster.queue[decision.cluster_queue]
    for assigned in decision.assigned:
        for flavor in assigned.flavor_names:
            yield flavor, _shape(cluster, workload, assigned, queue, many * decision.copies)


def _meets_devices(cluster: Cluster, workload: Workload) -> bool:
    """Return whether a workload requests devices, or its queue has quota for some, so that it may run beside them."""
    if any(is_compute(r) for p in workload.pod_sets for r in p.template.amounts()):
        return True
    local = cluster.local_queue.get((workload.namespace, workload.queue or ""))
    queue = cluster.queue.get(local.cluster_queue or "") if local is not None else None
    return queue is not None and any(is_compute(q.resource) and q.nominal for q in queue.quotas())


def _shape(cluster: Cluster, workload: Workload, assigned: Assigned, queue: ClusterQueue, copies: int) -> PodShape:
    pod_set = assigned.pod_set
    shape = PodShape(
        name=_name(workload, pod_set),
        request=pod_request(cluster, workload, pod_set),
        queue=queue.name,
        template=pod_set.template,
        count=assigned.demand.count * copies,
        level=pod_set.topology.required if pod_set.topology else None,
    )
    return replace(shape, place=pod_set.template.place_of(shape.accelerator or ""))


def _name(workload: Workload, pod_set: PodSet) -> str:
    return workload.name if len(workload.pod_sets) == 1 else f"{workload.name}/{pod_set.name}"
