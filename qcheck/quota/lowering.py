"""The least that quota must be lowered by, so that what is promised exists as nodes.

Promises that a max-flow can meet at the same time are the independent vectors of a polymatroid. So all of it that can be met
has one total, whichever promises are met first: the least that is taken is the same for every choice of cells, and a choice
works exactly if the others can be met together with the least that the chosen ones may be.
"""

from __future__ import annotations

from itertools import combinations

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.quota.max_flow import assign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qcheck.quota.tree import Cell

    Reach = Mapping[str, Mapping[str, int | None]]

MOST_CELLS = 4
"""Choices of more cells are not searched: then one is found, and not proved to be the smallest."""
MOST_TRIES = 5000


class Adjustable(Value):
    """A cell, the least it may be lowered to (None: it is kept as it is), and whether it yields after all others."""

    cell: Cell
    floor: int | None = 0
    yields_last: bool = False

    @property
    def room(self) -> int:
        """How much may be taken from it at most."""
        return 0 if self.floor is None else max(0, self.cell.promised - self.floor)


class GroupCapacity(Value):
    """Where promises are met: what each pool reaches of each group of nodes, and what each group holds."""

    reach: Reach
    capacity: Mapping[str, int | None]

    def met(self, amounts: Mapping[str, int]) -> int:
        """Return how much of some amounts by pool can be met together."""
        wanted = {pool: amount for pool, amount in amounts.items() if pool in self.reach}
        return sum(assign(wanted, self.reach, self.capacity).values())


class Lowering(Value):
    """New amounts of some cells. `proved`: no choice of fewer cells would do."""

    amounts: tuple[tuple[Cell, int], ...]
    proved: bool = True

    @property
    def taken(self) -> int:
        return sum(c.promised - n for c, n in self.amounts)


def lowerings(cells: Sequence[Adjustable], room: GroupCapacity) -> Iterator[Lowering]:
    """Yield the ways to lower the fewest cells, the best first: reserved queues yield last, then the smallest relative cut.

    Nothing is yielded where lowering does not help, or nothing needs to be lowered.
    """
    amounts = [c.cell.promised for c in cells]
    needed = sum(amounts) - room.met(_by_pool(cells, amounts))
    if needed <= 0:
        return
    able = sorted((i for i, c in enumerate(cells) if c.room), key=lambda i: (cells[i].yields_last, -cells[i].room, i))
    tries = 0
    for size in range(1, min(MOST_CELLS, len(able)) + 1):
        found = []
        for chosen in combinations(able, size):
            tries += 1
            if tries > MOST_TRIES:
                break
            if sum(cells[i].room for i in chosen) >= needed:
                made = _lowered(cells, chosen, needed, room)
                if made is not None:
                    found.append((_cost(cells, chosen, made), chosen, made))
        if found:
            yield from (made for _, _, made in sorted(found, key=lambda f: f[:2]))
            return
    made = _lowered(cells, able, needed, room)
    if made is not None:
        yield replace(made, proved=False)


def _cost(cells: Sequence[Adjustable], chosen: Sequence[int], made: Lowering) -> tuple[int, int, int]:
    """How many reserved queues yield, how much is taken, and the largest relative cut in parts of a million."""
    cuts = [(cell.promised - amount) * 10**6 // cell.promised for cell, amount in made.amounts]
    return sum(cells[i].yields_last for i in chosen), made.taken, max(cuts)


def _lowered(cells: Sequence[Adjustable], chosen: Sequence[int], needed: int, room: GroupCapacity) -> Lowering | None:
    """The chosen cells lowered in proportion to what each can give, as far as their nodes allow; None if that is too little.

    First all of them are at their floors, which must be met together with the others; then each is raised again.
    """
    amounts = [c.cell.promised for c in cells]
    for i in chosen:
        amounts[i] -= cells[i].room
    if room.met(_by_pool(cells, amounts)) < sum(amounts):
        return None
    whole = sum(cells[i].room for i in chosen)
    for share in (True, False):
        for i in chosen:
            kept = cells[i].room * needed // whole if share and whole else 0
            wish = cells[i].cell.promised - kept
            raised = [*amounts[:i], max(amounts[i], wish), *amounts[i + 1 :]]
            amounts[i] += room.met(_by_pool(cells, raised)) - sum(amounts)
    made = tuple((cells[i].cell, amounts[i]) for i in chosen if amounts[i] != cells[i].cell.promised)
    return Lowering(made) if len(made) == len(chosen) else None


def divided(total: int, weights: Sequence[int], floors: Sequence[int]) -> list[int]:
    """Divide a total by weights in whole units, nobody below their floor; what is left over goes to the largest remainders.

    Floors that do not fit together are kept all the same.
    """
    amounts = list(floors)
    free = [i for i, weight in enumerate(weights) if weight]
    while free:
        left = total - sum(amounts[i] for i in range(len(weights)) if i not in free)
        whole = sum(weights[i] for i in free)
        short = [i for i in free if left * weights[i] < floors[i] * whole]
        if not short:
            shares = {i: left * weights[i] // whole for i in free}
            rest = sorted(free, key=lambda i: (-(left * weights[i] % whole), i))
            for i in free:
                amounts[i] = shares[i] + (rest.index(i) < left - sum(shares.values()))
            break
        free = [i for i in free if i not in short]
    return amounts


def _by_pool(cells: Sequence[Adjustable], amounts: Sequence[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each, amount in zip(cells, amounts, strict=True):
        found[each.cell.pool] = found.get(each.cell.pool, 0) + amount
    return found
