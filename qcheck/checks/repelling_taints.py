"""Taints that keep the pods of a quota pool off nodes, for several rule families."""

from __future__ import annotations

from qcheck.cluster.labels import Taint, untolerated
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.table import promises_of, workloads_of
from qcheck.supply.eligibility import devices_are_tolerated, lasting
from qcheck.supply.node_demand import demand_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.workloads import Workload
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup


def keeps_off(cluster: Cluster, flavor: QuotaPool, group: NodeGroup) -> bool:
    """Return whether a group has a hard taint that neither a flavor nor any of its known workloads tolerates."""
    return any(True for _ in keeping_taints(cluster, flavor, group))


def keeping_taints(cluster: Cluster, flavor: QuotaPool, group: NodeGroup) -> Iterator[Taint]:
    """Yield the hard taints that keep a flavor's pods off a group."""
    taints = [t for t in standing_taints(group, flavor) if t not in flavor.node_taints]
    if not taints:
        return
    quotas = next((q for f, q in promises_of(cluster).used_pools if f.key == flavor.key), [])
    for taint in taints:
        if not any(tolerates(cluster, w, taint) for w in workloads_with(cluster, quotas)):
            yield taint


def standing_taints(group: NodeGroup, flavor: QuotaPool) -> tuple[Taint, ...]:
    """Return the hard taints of a group that neither the flavor nor an admission plugin tolerates."""
    if group.classes:
        labels, taints = group.classes[0].labels, group.classes[0].taints
    elif group.pool is not None:  # a pool of unknown machines
        labels, taints = group.pool.labels, group.pool.taints
    else:
        return ()
    found = untolerated(lasting(taints), flavor.tolerations)
    return tuple(t for t in found if not (devices_are_tolerated(labels) and looks_like_accelerator(t.key)))


def workloads_with(cluster: Cluster, quotas: list[Cell]) -> list[Workload]:
    """Return workloads in a queue that holds one of these cells."""
    return list(workloads_of(cluster, {q.holder for q in quotas}))


def tolerates(cluster: Cluster, workload: Workload, taint: Taint) -> bool:
    demands = (demand_of(cluster, p.template) for p in workload.pod_sets)
    return all(not untolerated((taint,), d.tolerations) for d in demands)


def has_open_taints(group: NodeGroup) -> bool:
    """Return whether its nodes may have unknown taints."""
    return group.pool is not None and group.pool.taints_unknown
