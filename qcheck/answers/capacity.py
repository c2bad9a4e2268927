"""Promises and nodes compared: what queues promise of a pool's resource, and what its nodes hold, in base units."""

from __future__ import annotations

from qcheck.cluster.problems import NODES
from qcheck.cluster.quota_pool import SchedulerName, pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.table import promises_of
from qcheck.supply.groups import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import Match, NodeClass, NodeGroup


class PoolLine(Value):
    """A group of nodes behind a quota pool. `ceiling_nodes` None: no ceiling.

    `free_per_node` is what DaemonSets and reserves leave of `per_node`; both are those of the machine with the least
    free, if a pool mixes several.
    """

    group: NodeGroup
    nodes: int
    ceiling_nodes: int | None
    per_node: int
    free_per_node: int

    @property
    def name(self) -> str:
        return self.group.name


class CapacityLine(Value):
    """One quota pool, by key, and resource.

    `static` is what exists after DaemonSets and reserves, `ceiling` the most that can exist (None: no ceiling); both
    are None if `is_known` is False, except for a ceiling set by a node pool's own limit. `placeable`: how many pods of
    a size fit on the existing nodes, by this resource alone.
    """

    pool: str
    scheduler: SchedulerName
    resource: str
    quotas: tuple[Cell, ...]
    nominal: int
    is_known: bool
    is_estimated: bool
    static: int | None
    ceiling: int | None
    daemon_sets: int
    reserves: int
    pools: tuple[PoolLine, ...]
    placeable: dict[int, int]

    @property
    def flavor(self) -> str:
        """The pool's name in its scheduler: the flavor, shard or node group."""
        return pool_name(self.pool)

    @property
    def label(self) -> str:
        """The pool in tables: a flavor by its name, any other pool with its scheduler."""
        return self.flavor if self.scheduler is SchedulerName.KUEUE else f"{self.scheduler} {self.flavor}"

    @property
    def headroom(self) -> int | None:
        """Static minus nominal; negative if more is promised than exists."""
        return None if self.static is None else self.static - self.nominal


def capacity_lines(cluster: Cluster) -> tuple[CapacityLine, ...]:
    """Return a line for each cell of queues and each accelerator of a pool's nodes; accelerators come first."""
    supply = supply_of(cluster)
    keys = {key for key in promises_of(cluster).cells if not supply.is_virtual(key[1])}
    for pool in cluster.quota_pools:
        for match in supply.matches(pool):
            keys |= {(pool, r) for c in match.group.classes for r in c.machine.allocatable if is_compute(r)}
    return tuple(_line(cluster, *key) for key in sorted(keys, key=lambda k: (not is_compute(k[1]), k)))


def _line(cluster: Cluster, pool: str, resource: str) -> CapacityLine:
    supply = supply_of(cluster)
    quotas = promises_of(cluster).cells.get((pool, resource), ())
    may_hide_nodes = cluster.live and not cluster.has_all(NODES)
    known = supply.is_known(pool, resource) and not may_hide_nodes
    scheduler = cluster.quota_pools[pool].scheduler if pool in cluster.quota_pools else SchedulerName.KUEUE
    pools = tuple(_pool(m, resource) for m in supply.matches(pool))
    return CapacityLine(
        pool=pool,
        scheduler=scheduler,
        resource=resource,
        quotas=quotas,
        nominal=sum(map(_reserved if scheduler is SchedulerName.VOLCANO else _promised, quotas)),
        is_known=known,
        is_estimated=supply.is_estimated(pool, resource),
        static=supply.static(pool, resource) if known else None,
        ceiling=supply.ceiling(pool, resource) if supply.is_bounded(pool, resource) else None,
        daemon_sets=sum(p.nodes * _least(p.group, resource)[1] for p in pools),
        reserves=sum(p.nodes * _least(p.group, resource)[2] for p in pools) + supply.total_reserve(pool, resource),
        pools=pools,
        placeable=_placeable(pools) if is_compute(resource) else {},
    )


def _promised(cell: Cell) -> int:
    return cell.promised


def _reserved(cell: Cell) -> int:
    """Return what is promised and never lent: a guarantee of Volcano."""
    return max(0, cell.promised - cell.lendable)


def _pool(match: Match, resource: str) -> PoolLine:
    group = match.group
    nodes = group.static if match.how_many == ALL else 0
    return PoolLine(
        group=group,
        nodes=nodes,
        ceiling_nodes=group.ceiling,
        per_node=_least(group, resource)[0],
        free_per_node=group.lowest(resource),
    )


def _least(group: NodeGroup, resource: str) -> tuple[int, int, int]:
    """Return allocatable, taken by DaemonSets and reserved, per node, for the machine with the least free."""
    if not group.classes:
        return 0, 0, 0
    least: NodeClass = min(group.classes, key=lambda c: c.free.get(resource, 0))
    return least.machine.allocatable.get(resource, 0), least.taken(resource), least.reserved(resource)


def _placeable(pools: tuple[PoolLine, ...]) -> dict[int, int]:
    """Return placeable pods by size: powers of two, and the full size of each kind of node."""
    sizes = {p.per_node for p in pools if p.per_node > 0}
    size = 1
    while sizes and size <= max(sizes):
        sizes.add(size)
        size *= 2
    return {s: sum(p.nodes * (p.free_per_node // s) for p in pools) for s in sorted(sizes)}
