"""Classes of workloads that differ only in names and places, so that one represents all of them."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view
from qcheck.schedulers.kueue.rejected_workloads import may_be_rejected
from qcheck.schedulers.kueue.routing import at_home

if TYPE_CHECKING:
    from collections.abc import Hashable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload


@view
def workload_classes(cluster: Cluster) -> tuple[tuple[Workload, ...], ...]:
    """Return the workloads by class, in the order of the first of each.

    Those of a class go to the same queue with the same priority, and admission and scheduling decide alike on them.
    """
    classes: dict[Hashable, list[Workload]] = {}
    for workload in cluster.workloads:
        classes.setdefault(_class(cluster, workload), []).append(workload)
    return tuple(map(tuple, classes.values()))


def _class(cluster: Cluster, workload: Workload) -> Hashable:
    if may_be_rejected(cluster, workload):
        return id(workload)
    kind, home = workload.id, at_home(cluster, workload).namespace
    priority = (workload.priority_class, workload.job_pod_priority_class)
    return kind.group, kind.version, kind.kind, kind.namespace, home, workload.queue, priority, workload.ask


def representative(cluster: Cluster, workload: Workload) -> Workload:
    """Return the first workload of the class; the workload itself for one that is not in the cluster."""
    return _representatives(cluster).get(id(workload), workload)


@view
def _representatives(cluster: Cluster) -> dict[int, Workload]:
    """Return the first of the class by the identity of each workload in it."""
    return {id(workload): members[0] for members in workload_classes(cluster) for workload in members}
