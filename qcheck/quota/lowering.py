"""The least amount by which quota must be lowered so that the nodes cover the promises.

Promises that a max-flow can meet at the same time are the independent vectors of a polymatroid. So the total that can
be met does not depend on which promises are met first: the least reduction is the same for every choice of cells, and a
choice works iff the others can be met together with the minimums of the chosen cells.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import combinations, islice, product
from math import comb, prod

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.quota.fewest import FewestQuestion, fewest
from qcheck.quota.max_flow import assign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qcheck.quota.tree import Cell

    Reach = Mapping[str, Mapping[str, int | None]]

MOST_COMPARED = 400
"""The maximum number of equally small choices to compare by their cuts; beyond it, only those of the largest cells."""


class Adjustable(Value):
    """A cell, its minimum after lowering (None: it must not be lowered), and whether it is lowered only last."""

    cell: Cell
    floor: int | None = 0
    yields_last: bool = False

    @property
    def room(self) -> int:
        """The most by which the cell may be lowered."""
        return 0 if self.floor is None else max(0, self.cell.promised - self.floor)

    @property
    def kind(self) -> tuple[str, int, int, bool]:
        """The properties that matter when a cell is lowered: cells of the same kind are interchangeable."""
        return self.cell.pool, self.cell.promised, self.room, self.yields_last


class GroupCapacity(Value, cached=True):
    """The capacity behind promises: how much of each node group a pool can draw, and how much the group holds."""

    reach: Reach
    capacity: Mapping[str, int | None]

    @cached_property
    def _known(self) -> dict[tuple[tuple[str, int], ...], int]:
        """Cached results of `met`: choices of equal cells leave equal amounts."""
        return {}

    def met(self, amounts: Mapping[str, int]) -> int:
        """Return how much of some amounts by pool can be met together."""
        key = tuple(amounts.items())
        if key not in self._known:
            wanted = {pool: amount for pool, amount in key if pool in self.reach}
            self._known[key] = sum(assign(wanted, self.reach, self.capacity).values())
        return self._known[key]


class Lowering(Value):
    """New amounts of some cells. `proved`: no choice of fewer cells works."""

    amounts: tuple[tuple[Cell, int], ...]
    proved: bool = True

    @property
    def taken(self) -> int:
        return sum(c.promised - n for c, n in self.amounts)

    @property
    def largest_cut(self) -> int:
        """The largest relative cut, in parts per million."""
        return max((c.promised - n) * 10**6 // c.promised for c, n in self.amounts)


def lowerings(cells: Sequence[Adjustable], room: GroupCapacity, most: int = MOST_COMPARED) -> Iterator[Lowering]:
    """Yield at most `most` ways to lower the fewest cells, the smallest relative cut first.

    Cells that yield last are lowered only if lowering all others is not enough, and then in as few of the ways as
    possible. Nothing is yielded if lowering does not help, or nothing needs to be lowered.
    """
    wanted = _by_pool(cells)
    needed = sum(wanted.values()) - room.met(wanted)
    if needed <= 0:
        return
    able = sorted((c for c in cells if c.room), key=lambda c: (c.yields_last, -c.room))
    first = [c for c in able if not c.yields_last]
    for some in (first, able) if 0 < len(first) < len(able) else (able,):
        found = list(_smallest(some, wanted, needed, room, most))
        if found:
            last = {id(c.cell) for c in some if c.yields_last}
            found.sort(key=lambda f: (sum(id(c) in last for c, _ in f.amounts), f.taken, f.largest_cut))
            yield from found[:most]
            return


def _smallest(
    able: Sequence[Adjustable], wanted: dict[str, int], needed: int, room: GroupCapacity, most: int
) -> Iterator[Lowering]:
    """Yield the choices of the fewest cells, each with its reductions.

    Choices of equal cells have equal reductions and equal ranks. So each is lowered once, and the first `most` suffice.
    """
    by_pool: dict[str, list[Adjustable]] = {}
    for each in sorted(able, key=lambda c: -c.room):
        by_pool.setdefault(each.cell.pool, []).append(each)
    rooms = {pool: tuple(c.room for c in mine) for pool, mine in by_pool.items()}
    outcome = fewest(FewestQuestion({p: wanted.get(p, 0) for p in room.reach}, rooms, room.reach, room.capacity))
    kinds: dict[tuple[str, int, int, bool], int] = {}
    kind_of = {id(c): kinds.setdefault(c.kind, len(kinds)) for c in able}
    lowered: dict[tuple[int, ...], list[int] | None] = {}
    yielded: Counter[tuple[int, ...]] = Counter()
    for counts in outcome.choices:
        for chosen in _choices(list(by_pool.values()), counts):
            equal = tuple([kind_of[id(c)] for c in chosen])
            if equal not in lowered:
                lowered[equal] = _lowered(chosen, wanted, needed, room)
            amounts = lowered[equal]
            if amounts is not None and yielded[equal] < most:
                yielded[equal] += 1
                cells = (c.cell for c in chosen)
                yield Lowering(tuple(zip(cells, amounts, strict=True)), outcome.proved)


def _choices(by_pool: Sequence[Sequence[Adjustable]], counts: Sequence[int]) -> Iterable[list[Adjustable]]:
    """Return every choice of `counts` cells of each pool, or the first ones if there are too many."""
    each: list[Iterator[tuple[Adjustable, ...]]]
    each = [combinations(mine, n) for mine, n in zip(by_pool, counts, strict=True)]
    if prod(comb(len(mine), n) for mine, n in zip(by_pool, counts, strict=True)) > MOST_COMPARED:
        few = max(1, int(MOST_COMPARED ** (1 / max(1, sum(n > 0 for n in counts)))))
        each = [iter(list(islice(some, few))) for some in each]
    return ([c for some in chosen for c in some] for chosen in product(*each))


def _lowered(
    chosen: Sequence[Adjustable], wanted: dict[str, int], needed: int, room: GroupCapacity
) -> list[int] | None:
    """Lower the chosen cells in proportion to the most by which each can be lowered, as far as their nodes allow.

    All of them start at their floors, which must be met together with the others; then each is raised again. None if
    the floors cannot be met, or if a cell is not lowered after all.
    """
    if sum(c.room for c in chosen) < needed:
        return None
    amounts = [c.cell.promised - c.room for c in chosen]
    totals = dict(wanted)
    for each in chosen:
        totals[each.cell.pool] -= each.room
    if room.met(totals) < sum(totals.values()):
        return None
    whole = sum(c.room for c in chosen)
    for in_proportion in (True, False):
        for i, each in enumerate(chosen):
            kept = each.room * needed // whole if in_proportion else 0
            wish = max(0, each.cell.promised - kept - amounts[i])
            raised = {**totals, each.cell.pool: totals[each.cell.pool] + wish}
            more = room.met(raised) - sum(totals.values())
            amounts[i] += more
            totals[each.cell.pool] += more
    return amounts if all(n != c.cell.promised for c, n in zip(chosen, amounts, strict=True)) else None


def in_units(found: Lowering, units: Sequence[int], cells: Iterable[Adjustable], room: GroupCapacity) -> Lowering:
    """Return a lowering in multiples of each cell's unit: rounded down, then up again if there is room."""
    amounts = [n - n % unit for (_, n), unit in zip(found.amounts, units, strict=True)]
    totals = _by_pool(cells)
    for (cell, _), amount in zip(found.amounts, amounts, strict=True):
        totals[cell.pool] -= cell.promised - amount
    for i, (cell, _) in enumerate(found.amounts):
        raised = {**totals, cell.pool: totals[cell.pool] + units[i]}
        if amounts[i] + units[i] < cell.promised and room.met(raised) == sum(raised.values()):
            amounts[i], totals = amounts[i] + units[i], raised
    return replace(found, amounts=tuple((c, n) for (c, _), n in zip(found.amounts, amounts, strict=True)))


def _by_pool(cells: Iterable[Adjustable]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in cells:
        found[each.cell.pool] = found.get(each.cell.pool, 0) + each.cell.promised
    return found
