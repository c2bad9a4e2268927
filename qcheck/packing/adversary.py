"""The worst case for large pods: the fewest small pods of other queues that make them unplaceable.

Small pods that cannot be preempted may be placed anywhere. For each node, counting finds the cheapest way to destroy
some of the slots of a large pod; across nodes this is a knapsack, solved exactly if that is cheap.
"""

from __future__ import annotations

from qcheck.cluster.pods import fits_times
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.pods import Amounts
    from qcheck.packing.question import Nodes

_WORK = 400_000
_SLOTS = 1000
"""The maximum number of blocked slots per node that is considered; beyond it, the result is a lower bound."""


class Blocked(Value):
    """The `slots` of the large pod left by `pods` badly placed small pods; if not `exact`, worse is possible."""

    pods: int
    slots: int
    exact: bool


def pods_to_block(nodes: Sequence[Nodes], large: Amounts, small: Amounts) -> int | None:
    """Return the fewest small pods that keep the large pod off every node; None if no number can.

    The result is exact: every slot of every node must be destroyed, and nodes are independent.
    """
    total = 0
    for each in nodes:
        cost = _fewest(each, large, small, 0) if fits_times(each.free, large) else 0
        if each.count and cost is None:
            return None
        total += each.count * (cost or 0)
    return total


def worst_case(nodes: Sequence[Nodes], large: Amounts, small: Amounts, pods: int) -> Blocked:
    """Return the fewest slots of the large pod that remain once `pods` small pods are placed as badly as possible."""
    slots = sum(n.count * (fits_times(n.free, large) or 0) for n in nodes)
    work = (sum(n.count for n in nodes) + slots) * (slots + 1)
    if work <= _WORK:
        return Blocked(pods, slots - _most_destroyed(nodes, large, small, pods, slots), exact=True)
    return Blocked(pods, slots - _destroyed_cheaply(nodes, large, small, pods), exact=False)


def _costs(nodes: Nodes, large: Amounts, small: Amounts) -> list[tuple[int, int]]:
    """Return (j, the fewest small pods on one node that destroy j of its slots) for each possible j up to a limit."""
    slots = fits_times(nodes.free, large) or 0
    costs = ((j, _fewest(nodes, large, small, slots - j)) for j in range(1, min(slots, _SLOTS) + 1))
    return [(j, cost) for j, cost in costs if cost is not None]


def _fewest(nodes: Nodes, large: Amounts, small: Amounts, slots: int) -> int | None:
    """Return the fewest small pods that leave at most `slots`, by bisection; None if no number does."""
    room = fits_times(nodes.free, small) or 0
    low, high = 1, room + 1
    while low < high:
        number = (low + high) // 2
        left = {r: f - number * small.get(r, 0) for r, f in nodes.free.items()}
        if (fits_times(left, large) or 0) <= slots:
            high = number
        else:
            low = number + 1
    return low if low <= room else None


def _most_destroyed(nodes: Sequence[Nodes], large: Amounts, small: Amounts, pods: int, slots: int) -> int:
    """Return the most slots that `pods` small pods destroy: a knapsack over the cheapest ways on each node."""
    cheapest: list[int | None] = [0] + [None] * slots
    for each in nodes:
        costs = _costs(each, large, small)
        for _ in range(each.count if costs else 0):
            cheapest = _with_node(cheapest, costs)
    return max(j for j, cost in enumerate(cheapest) if cost is not None and cost <= pods)


def _with_node(cheapest: list[int | None], costs: list[tuple[int, int]]) -> list[int | None]:
    better = list(cheapest)
    for have, paid in enumerate(cheapest):
        if paid is None:
            continue
        for more, cost in costs:
            known = better[have + more] if have + more < len(better) else 0
            if known is None or paid + cost < known:
                better[have + more] = paid + cost
    return better


def _destroyed_cheaply(nodes: Sequence[Nodes], large: Amounts, small: Amounts, pods: int) -> int:
    """Return the slots destroyed by taking the cheapest per slot first: a lower bound of the damage."""
    bargains: list[tuple[int, int, int]] = []
    for index, each in enumerate(nodes):
        bargains += [(cost, j, index) for j, cost in _costs(each, large, small)]
    untouched = [n.count for n in nodes]
    destroyed = 0
    for cost, slots, index in sorted(bargains, key=lambda b: (b[0] * 10**6 // b[1], b)):
        times = min(untouched[index], pods // cost)
        untouched[index] -= times
        destroyed, pods = destroyed + times * slots, pods - times * cost
    return destroyed
