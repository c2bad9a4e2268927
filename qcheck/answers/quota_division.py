"""Division of quotas by weights: all lowered in proportion, or set from what the nodes have."""

from __future__ import annotations

from qcheck.answers.proposals import Proposal, Way
from qcheck.answers.quota_changes import least_for_workloads
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.quota_pool import SchedulerName, pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.quota.dividing import divided
from qcheck.quota.lowering import GroupCapacity
from qcheck.schedulers.table import promises_of, trees_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qcheck.answers.constraints import Constraints, Headroom
    from qcheck.answers.proposals import Values
    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import Reaching

MEGABYTE = 10**6


def in_proportion(
    cluster: Cluster, cells: Sequence[Cell], room: GroupCapacity, constraints: Constraints
) -> Iterator[Proposal]:
    """Yield all quotas lowered by the same proportion, in whole nodes and exactly."""
    weights = {id(c): 0 if constraints.keeps(c) else c.promised for c in cells}
    for values, how in _divisions(cluster, cells, weights, room, room.met(by_pool(cells)), constraints):
        yield Proposal(Way.LOWER_QUOTA, values, f"lower all quotas of {cells[0].resource} in proportion{how}")


def fill_quotas(cluster: Cluster, constraints: Constraints) -> Iterator[tuple[Proposal, ...]]:
    """Yield, for each set of pools that share nodes, the quotas that use these nodes except for the headroom.

    They are divided in whole nodes, and exactly.
    """
    for scheduler in (t.scheduler for t in trees_of(cluster)):
        for resource in sorted({r for _, r in promises_of(cluster).cells if is_compute(r)}):
            _, reach, capacity = promises_of(cluster).demand_and_supply(resource, scheduler, at_best=False)
            for pools in _components(reach):
                room = GroupCapacity({p: reach[p] for p in pools}, capacity)
                if found := tuple(_filled(cluster, cells_of(cluster, resource, pools), room, constraints)):
                    yield found


def _filled(
    cluster: Cluster, cells: Sequence[Cell], room: GroupCapacity, constraints: Constraints
) -> Iterator[Proposal]:
    resource, pools = cells[0].resource, list(dict.fromkeys(c.pool for c in cells))
    whole = room.met(dict.fromkeys(pools, sum(n or 0 for n in room.capacity.values())))
    most = max(0, whole - _kept_free(cluster, pools, resource, whole, constraints.headroom))
    shares = cluster.policy.shares
    weights = {id(c): 0 if constraints.keeps(c) else shares.get(c.holder, 0) if shares else c.promised for c in cells}
    named = " and ".join(f"{cluster.quota_pools[p].word} {pool_name(p)}" for p in pools)
    for values, how in _divisions(cluster, cells, weights, room, most, constraints):
        yield Proposal(Way.LOWER_QUOTA, values, f"divide {name_amount(resource, most)} of {named}{how}")


def _kept_free(cluster: Cluster, pools: Sequence[str], resource: str, whole: int, headroom: Headroom) -> int:
    each = max((m.group.lowest(resource) for p in pools for m in supply_of(cluster).matches(p)), default=0)
    return headroom.devices + headroom.nodes * each - (-whole * headroom.percent // 100)


def _divisions(
    cluster: Cluster,
    cells: Sequence[Cell],
    weights: dict[int, int],
    room: GroupCapacity,
    most: int,
    constraints: Constraints,
) -> Iterator[tuple[Values, str]]:
    """Yield the largest amounts that can be divided by weight and met together, in whole nodes and exactly.

    Each result has the changed values and the kind of division. Cells without weight do not change, and no queue falls
    below a floor or the needs of its workloads.
    """
    whole = {unit_of(cluster, c) for c in cells}
    seen = set()
    for unit in dict.fromkeys((whole.pop() if len(whole) == 1 else 1, 1)):
        amounts = _largest(cluster, cells, weights, room, most, unit, constraints)
        changed = [(c, n) for c, n in zip(cells, amounts, strict=True) if n != c.promised]
        values = tuple((c.place, written(cluster, c, n)) for c, n in changed if c.is_declared)
        if values and values not in seen:
            seen.add(values)
            yield values, ", in whole nodes" if unit > 1 else ""


def _largest(
    cluster: Cluster,
    cells: Sequence[Cell],
    weights: dict[int, int],
    room: GroupCapacity,
    most: int,
    unit: int,
    constraints: Constraints,
) -> list[int]:
    """Return the amounts of the largest total up to `most` whose division can be met; else the original amounts."""

    def division(total: int) -> list[int]:
        free = [c for c in cells if weights[id(c)]]
        left = max(0, total - sum(c.promised for c in cells if not weights[id(c)]))
        floors = [-(-max(constraints.floor(c) or 0, least_for_workloads(cluster, c)) // unit) for c in free]
        parts = dict(zip(map(id, free), divided(left // unit, [weights[id(c)] for c in free], floors), strict=True))
        return [parts[id(c)] * unit if id(c) in parts else c.promised for c in cells]

    def is_met(total: int) -> bool:
        amounts = division(total)
        wanted: dict[str, int] = {}
        for cell, amount in zip(cells, amounts, strict=True):
            wanted[cell.pool] = wanted.get(cell.pool, 0) + amount
        return sum(amounts) <= most and room.met(wanted) == sum(amounts)

    total = _last(most, is_met)
    return division(total) if is_met(total) else [c.promised for c in cells]


def _last(high: int, works: Callable[[int], bool]) -> int:
    """Return the largest number up to `high` that works, by bisection; 0 if none does."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low


def _components(reach: Reaching) -> Iterator[set[str]]:
    """Yield sets of pools that share nodes, directly or through others."""
    left = set(reach)
    while left:
        part = joined({min(left)}, reach)
        left -= part
        yield part


def joined(pools: set[str], reach: Reaching) -> set[str]:
    """Return some pools and all that share nodes with them, directly or through others."""
    groups = {g for p in pools for g in reach[p]}
    more = {p for p, mine in reach.items() if groups & set(mine)}
    return pools if more <= pools else joined(more, reach)


def cells_of(cluster: Cluster, resource: str, pools: set[str]) -> list[Cell]:
    """Return the cells of some pools for a resource."""
    return [
        c for (p, name), held in promises_of(cluster).cells.items() if name == resource and p in pools for c in held
    ]


def by_pool(cells: Iterable[Cell]) -> dict[str, int]:
    """Return what cells promise, by pool."""
    found: dict[str, int] = {}
    for cell in cells:
        found[cell.pool] = found.get(cell.pool, 0) + cell.promised
    return found


def unit_of(cluster: Cluster, cell: Cell) -> int:
    """Return the devices that a node of the cell's pool leaves for pods; 1 for cpu and memory."""
    if not is_compute(cell.resource):
        return 1
    return max(1, min((m.group.lowest(cell.resource) for m in supply_of(cluster).matches(cell.pool)), default=1))


def written(cluster: Cluster, cell: Cell, amount: int) -> str:
    """Return an amount in its scheduler's manifest notation: a quantity, or a number in KAI's units, rounded down."""
    pool = cluster.quota_pools.get(cell.pool)
    if pool is not None and pool.scheduler is SchedulerName.KAI:
        return str(amount // MEGABYTE if cell.resource == "memory" else amount)
    return written_amount(cell.resource, amount)
