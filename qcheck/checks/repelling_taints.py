"""Taints that repel the pods of a quota pool from nodes, and quota that only such nodes cover, for several rule families."""

from __future__ import annotations

from qcheck.cluster.labels import untolerated
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.table import promises_of, workloads_of
from qcheck.supply.eligibility import devices_are_tolerated, is_chosen_class, lasting
from qcheck.supply.node_demand import demand_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Taint
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.workloads import Workload
    from qcheck.quota.max_flow import Overdraft
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup

    Repelled = list[tuple[NodeGroup, Taint]]


def keeps_off(cluster: Cluster, flavor: QuotaPool, group: NodeGroup) -> bool:
    """Return whether a group has a hard taint that neither a flavor nor any of its known workloads tolerates."""
    return any(True for _ in keeping_taints(cluster, flavor, group))


def keeping_taints(cluster: Cluster, flavor: QuotaPool, group: NodeGroup) -> Iterator[Taint]:
    """Yield the hard taints that keep a flavor's pods off a group."""
    declared = frozenset(flavor.node_taints)
    taints = tuple(t for t in standing_taints(group, flavor) if t not in declared)
    if not taints:
        return
    quotas = next((q for f, q in promises_of(cluster).used_pools if f.key == flavor.key), [])
    left = set(taints)
    for workload in workloads_with(cluster, quotas):
        left &= untolerated_by(cluster, workload, taints)
    yield from (t for t in taints if t in left)


def standing_taints(group: NodeGroup, flavor: QuotaPool) -> tuple[Taint, ...]:
    """Return the hard taints of a group that neither the flavor nor an admission plugin tolerates."""
    if group.classes:
        labels, taints = group.classes[0].labels, group.classes[0].taints
    elif group.pool is not None:  # a pool of unknown machines
        labels, taints = group.pool.labels, group.pool.taints
    else:
        return ()
    found = untolerated(lasting(taints), flavor.tolerations)
    found = tuple(t for t in found if not is_chosen_class(t, flavor.node_labels))
    return tuple(t for t in found if not (devices_are_tolerated(labels) and looks_like_accelerator(t.key)))


def workloads_with(cluster: Cluster, quotas: list[Cell]) -> list[Workload]:
    """Return workloads in a queue that holds one of these cells."""
    return list(workloads_of(cluster, {q.holder for q in quotas}))


def untolerated_by(cluster: Cluster, workload: Workload, taints: tuple[Taint, ...]) -> set[Taint]:
    """Return the hard taints that some pod set of a workload does not tolerate."""
    demands = (demand_of(cluster, p.template) for p in workload.pod_sets)
    return {
        taint
        for d in demands
        for taint in untolerated(taints, d.tolerations)
        if not is_chosen_class(taint, d.selection.selector)
    }


def has_open_taints(group: NodeGroup) -> bool:
    """Return whether its nodes may have unknown taints."""
    return group.pool is not None and group.pool.taints_unknown


def overdrafts_past_taints(cluster: Cluster, resource: str) -> Iterator[tuple[Overdraft, Repelled]]:
    """Yield sets of pools that promise more than the nodes their pods may use, with the nodes that do not count.

    Sets that exceed even all their nodes are omitted, and so are pools without any usable node (QC202).
    """
    off: dict[tuple[str, str], tuple[NodeGroup, Taint]] = {}
    for pool, _ in promises_of(cluster).used_pools:
        groups = [m.group for m in supply_of(cluster).matches(pool.key)]
        repelled = {g.name: (g, t) for g in groups if (t := _taint(cluster, pool, g)) is not None}
        if len(repelled) < len(groups):
            off.update({(pool.key, name): each for name, each in repelled.items()})
    if not off:
        return
    known = {o.pools for o in promises_of(cluster).overdrafts(resource, at_best=True)}
    for over in promises_of(cluster).overdrafts(resource, at_best=True, without=off.keys()):
        out = {name: each for (pool, name), each in off.items() if pool in over.pools}
        if not any(set(k) <= set(over.pools) for k in known) and any(g.advertises(resource) for g, _ in out.values()):
            yield over, list(out.values())


def _taint(cluster: Cluster, pool: QuotaPool, group: NodeGroup) -> Taint | None:
    """Return a taint that keeps a pool's pods off.

    One named like a device counts only if the pool has no quota for it.
    """
    if has_open_taints(group):
        return None
    cells = promises_of(cluster).cells
    taints = keeping_taints(cluster, pool, group)
    return next((t for t in taints if not (looks_like_accelerator(t.key) and (pool.key, t.key) in cells)), None)
