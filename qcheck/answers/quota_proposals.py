"""Proposals that change quotas: lower them to what the nodes can supply, or derive them from it."""

from __future__ import annotations

from qcheck.answers.constraints import Mode
from qcheck.answers.proposals import Proposal, Way
from qcheck.answers.quota_changes import least_for_workloads, workload_objection
from qcheck.answers.quota_division import by_pool, cells_of, in_proportion, joined, unit_of, written
from qcheck.cluster.quota_pool import SchedulerName, pool_name
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import answered_once, view
from qcheck.quota.lowering import Adjustable, GroupCapacity, in_units, lowerings
from qcheck.schedulers.table import promises_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.answers.constraints import Constraints
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Route
    from qcheck.findings.finding import Finding
    from qcheck.quota.lowering import Lowering
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import Reaching

    Amounts = tuple[tuple[Cell, int], ...]

MEGABYTE = 10**6
MOST_QUOTAS = 6
MOST_NAMED = 6


def lower_quotas(cluster: Cluster, found: Finding, constraints: Constraints) -> Iterator[Proposal]:
    """Yield the ways to lower a resource's promises to what the nodes can ever supply."""
    resource = str(found.data["resource"])
    names = found.data["flavors"]
    pools = {key for key, _ in promises_of(cluster).cells if isinstance(names, list) and pool_name(key) in names}
    scheduler = next((cluster.quota_pools[p].scheduler for p in pools if p in cluster.quota_pools), SchedulerName.KUEUE)
    reach, capacity = _where_met(cluster, resource, scheduler)
    together = joined(pools & set(reach), reach)
    room = GroupCapacity({p: reach[p] for p in together}, capacity)
    cells = cells_of(cluster, resource, together)
    if _is_met(cells, room):  # because of nodes that do not count for these pools
        room = GroupCapacity({key: {"": None} for key in pools}, {"": _number(found.data["supply"])})
        cells = cells_of(cluster, resource, pools)
    if constraints.mode is not Mode.MINIMAL:
        yield from in_proportion(cluster, cells, room, constraints)
    else:
        yield from _fewest(cluster, cells, room, constraints)


@answered_once
def _where_met(cluster: Cluster, resource: str, scheduler: SchedulerName) -> tuple[Reaching, dict[str, int | None]]:
    """Return what each pool can draw from each group of nodes, and what each group holds."""
    _, reach, capacity = promises_of(cluster).demand_and_supply(resource, scheduler)
    return reach, capacity


@view
def written_cells(cluster: Cluster) -> dict[tuple[int, Route], Cell]:
    """Return the cells by the document and the route of their amount."""
    cells = (c for held in promises_of(cluster).cells.values() for c in held)
    return {(id(c.place.origin), c.place.route): c for c in cells}


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _is_met(cells: Sequence[Cell], room: GroupCapacity) -> bool:
    wanted = by_pool(cells)
    return room.met(wanted) == sum(wanted.values())


def _fewest(
    cluster: Cluster, cells: Sequence[Cell], room: GroupCapacity, constraints: Constraints
) -> Iterator[Proposal]:
    """Yield obvious choices, those that respect workloads and constraints, and those that also leave each queue a node.

    One of each kind comes first. Obvious choices come with the objections to them.
    """
    able = [c for c in cells if _is_able(c)]
    fixed = [Adjustable(c, None) for c in cells if not _is_able(c)]
    bound = {id(c): _floor(cluster, c, constraints) for c in able}
    every = [*(_adjustable(cluster, c, 0) for c in able), *fixed]
    ways: list[list[Lowering]] = []
    for floors in ({}, bound, {id(c): _with_a_node(cluster, c, bound[id(c)]) for c in able}):
        adjustable = [_adjustable(cluster, c, floors.get(id(c), 0)) for c in able]
        known = {_key(f) for found in ways for f in found}
        ways.append([f for f in lowerings([*adjustable, *fixed], room, MOST_QUOTAS) if _key(f) not in known])
    smallest = min((len(f.amounts) for found in ways[:2] for f in found), default=0)
    ways[2] = [replace(f, proved=f.proved and len(f.amounts) <= smallest) for f in ways[2]]
    for part in ([way[:1] for way in ways], [way[1:] for way in ways]):
        for found in part:
            yield from _proposed(cluster, found, every, room, constraints)


def _is_able(cell: Cell) -> bool:
    return cell.is_declared and cell.promised > 0


def _key(found: Lowering) -> frozenset[tuple[int, int]]:
    return frozenset((id(cell), amount) for cell, amount in found.amounts)


def _with_a_node(cluster: Cluster, cell: Cell, floor: int | None) -> int | None:
    """Return a floor that leaves the queue the devices of a node, if it has more."""
    unit = unit_of(cluster, cell)
    return max(floor, unit) if floor is not None and cell.promised > unit > 1 else floor


def _adjustable(cluster: Cluster, cell: Cell, floor: int | None) -> Adjustable:
    return Adjustable(cell, floor, cluster.policy.is_reserved(cell.holder))


def _floor(cluster: Cluster, cell: Cell, constraints: Constraints) -> int | None:
    asked = constraints.floor(cell)
    return None if asked is None else max(asked, least_for_workloads(cluster, cell))


def _proposed(
    cluster: Cluster,
    found: Sequence[Lowering],
    cells: Sequence[Adjustable],
    room: GroupCapacity,
    constraints: Constraints,
) -> Iterator[Proposal]:
    """Yield each lowering exactly and in whole nodes, the latter first if the exact one would strand devices."""
    for each in found:
        units = [unit_of(cluster, c) for c, _ in each.amounts]
        whole = in_units(each, units, cells, room).amounts
        strands = any(n % u and not c.promised % u for (c, n), u in zip(each.amounts, units, strict=True))
        strands = strands and all(n for _, n in whole)
        for amounts in dict.fromkeys((whole, each.amounts) if strands else (each.amounts, whole)):
            objection = _objection(cluster, amounts, constraints)
            if objection and amounts is not each.amounts:
                continue
            yield Proposal(
                way=Way.LOWER_QUOTA,
                values=tuple((c.place, written(cluster, c, n)) for c, n in amounts),
                words=f"lower {_listed([_cut(c, n) for c, n in amounts])}",
                proved=each.proved,
                objection=objection,
            )


def _objection(cluster: Cluster, amounts: Amounts, constraints: Constraints) -> str:
    kept = (constraints.objection(c, written(cluster, c, n)) for c, n in amounts)
    return next((text for text in kept if text), "") or workload_objection(cluster, amounts)


def _listed(words: list[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`, or `a, b, c, d, e and 9 more quotas`."""
    if len(words) > MOST_NAMED:
        words = [*words[: MOST_NAMED - 1], f"{len(words) - MOST_NAMED + 1} more quotas"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _cut(cell: Cell, amount: int) -> str:
    was, now = show_amounts(cell.resource, cell.promised, amount)
    return f"the quota of {cell.holder} from {was} to {named(cell.resource, now)}"
