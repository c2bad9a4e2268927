"""Quota on nodes whose taints keep its pods off: such nodes are counted, but no known workload can use them."""

from __future__ import annotations

from qcheck.checks.repelling_taints import has_open_taints, keeping_taints
from qcheck.cluster.resources import looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Taint
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.quota.max_flow import Overdraft
    from qcheck.supply.groups import NodeGroup

    Repelled = list[tuple[NodeGroup, Taint]]


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
