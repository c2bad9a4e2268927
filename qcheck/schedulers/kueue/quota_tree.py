"""Kueue's cohorts and ClusterQueues as a neutral quota tree; a ResourceFlavor is a pool."""

from __future__ import annotations

from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view
from qcheck.quota.tree import Cell, QuotaNode, QuotaTree
from qcheck.schedulers.kueue.cohort_tree import UNLIMITED, cohort_tree

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import AdmissionCheck, ClusterQueue, Quota
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
