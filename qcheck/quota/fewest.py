"""The fewest cells to lower so that the promises of pools that share nodes can be met together.

A choice works if the promises can be met with every chosen cell at its minimum. Cells of one pool differ only in how
much they can give, so a choice is the number of largest cells of each pool. For pools that share nodes this is a
best-first search: a set of pools that promises too much needs at least as many of its largest cells as make up for the
excess. The search is exact unless it takes more than `MOST_EXPANDED` steps; then a solver, if installed, is asked for a
better choice, and only what the bound proves counts as proved.
"""

from __future__ import annotations

from heapq import heappop, heappush

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.quota.max_flow import first_overdrafts
from qcheck.quota.solver import proposed_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qcheck.quota.max_flow import Overdraft

    Reach = Mapping[str, Mapping[str, int | None]]
    Counts = tuple[int, ...]

MOST_EXPANDED = 2000
MOST_CHOICES = 20
"""The maximum number of equally small choices to find."""


class FewestQuestion(Value, cached=True):
    """The promises of each pool, the amounts that its cells can give (largest first), and the nodes to meet them."""

    wanted: dict[str, int]
    rooms: dict[str, tuple[int, ...]]
    reach: Reach
    capacity: Mapping[str, int | None]

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools whose cells can give, in order."""
        return tuple(self.rooms)

    def excess(self, counts: Sequence[int]) -> tuple[Overdraft, ...]:
        """Return the sets of pools that still promise too much with that many cells of each pool at their minimum."""
        given = {p: sum(self.rooms[p][:n]) for p, n in zip(self.pools, counts, strict=True)}
        wanted = {p: n - given.get(p, 0) for p, n in self.wanted.items()}
        return first_overdrafts(wanted, self.reach, self.capacity)

    def still_needed(self, counts: Sequence[int], over: Sequence[Overdraft]) -> int | None:
        """Return a lower bound for the number of further cells; None if even all of them are too few."""
        needed = 0
        for each in over:
            left = [r for p, n in zip(self.pools, counts, strict=True) if p in each.pools for r in self.rooms[p][n:]]
            missing = each.wanted - each.supply
            for room in sorted(left, reverse=True):
                if missing <= 0:
                    break
                missing -= room
                needed += 1
            if missing > 0:
                return None
        return needed


class Fewest(Value):
    """Equally small choices, each as a number of largest cells per pool. `proved`: no smaller choice works."""

    choices: tuple[Counts, ...]
    proved: bool = True


def fewest(problem: FewestQuestion, most_expanded: int = MOST_EXPANDED) -> Fewest:
    """Return the smallest choices; none if even lowering all cells is not enough."""
    if problem.excess([len(rooms) for rooms in problem.rooms.values()]):
        return Fewest(())
    start = (0,) * len(problem.pools)
    least = problem.still_needed(start, problem.excess(start)) or 0
    waiting: list[tuple[int, int, Counts]] = [(least, 0, start)]
    seen, found, expanded = {start}, list[tuple[int, ...]](), 0
    while waiting:
        bound, _, counts = heappop(waiting)
        if (found and bound > sum(found[0])) or len(found) == MOST_CHOICES:
            break
        over = problem.excess(counts)
        if not over:
            found.append(counts)
            continue
        expanded += 1
        if expanded > most_expanded:
            return Fewest(tuple(found)) if found else _unproved(problem, bound)
        for further in _further(problem, counts, over[0]):
            if further not in seen:
                seen.add(further)
                needed = problem.still_needed(further, problem.excess(further))
                if needed is not None:
                    heappush(waiting, (sum(further) + needed, -sum(further), further))
    return Fewest(tuple(found))


def _further(problem: FewestQuestion, counts: Counts, over: Overdraft) -> list[Counts]:
    """Return the counts with one more cell of each pool that promises too much."""
    found = []
    for at, pool in enumerate(problem.pools):
        if pool in over.pools and counts[at] < len(problem.rooms[pool]):
            found.append((*counts[:at], counts[at] + 1, *counts[at + 1 :]))
    return found


def _unproved(problem: FewestQuestion, bound: int) -> Fewest:
    """Return the solver's proposal, or a greedy choice of the largest cells; proved if it reaches `bound`."""
    greedy = _greedy(problem)
    proposed = proposed_counts(problem.wanted, problem.rooms, problem.reach, problem.capacity)
    if proposed is not None and not problem.excess(proposed) and sum(proposed) < sum(greedy):
        greedy = proposed
    return Fewest((greedy,), proved=sum(greedy) <= bound)


def _greedy(problem: FewestQuestion) -> Counts:
    """Take the largest cells of the pools that promise too much until none does, then drop unneeded ones."""
    counts = (0,) * len(problem.pools)
    while over := problem.excess(counts):
        counts = max(_further(problem, counts, over[0]), key=lambda c: _last(problem, c, counts))
    for at in range(len(counts)):
        while counts[at] and not problem.excess(fewer := (*counts[:at], counts[at] - 1, *counts[at + 1 :])):
            counts = fewer
    return counts


def _last(problem: FewestQuestion, counts: Counts, before: Counts) -> int:
    """Return the amount of the cell that `counts` has in addition to `before`."""
    return next(problem.rooms[p][n - 1] for p, n, m in zip(problem.pools, counts, before, strict=True) if n > m)
