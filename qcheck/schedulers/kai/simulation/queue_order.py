"""The order in which KAI takes workloads from its tree of queues, to start or to stop them."""

from __future__ import annotations

from functools import cmp_to_key

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.division import UNLIMITED
from qcheck.schedulers.kai.simulation.accounts import is_tighter, within
from qcheck.schedulers.kai.simulation.gang import NOTHING, SimulatedGang, Vector, minus, plus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.schedulers.kai.simulation.accounts import Accounts

WITHOUT_SHARE = 1000.0
"""The factor for what a queue holds if it may hold nothing."""


class Turns:
    """Gangs by queue, taken queue by queue from the top of the tree down, by what the queues currently hold.

    `for_victims` reverses both orders: the queue and the gang that come last are the first to stop.
    """

    def __init__(self, accounts: Accounts, gangs: Iterable[SimulatedGang], *, for_victims: bool = False) -> None:
        self._accounts = accounts
        self._for_victims = for_victims
        self._waiting: dict[str, list[SimulatedGang]] = {}
        self._below: dict[str, list[str]] = {}
        self._popped: dict[str, Vector] = {}
        for gang in gangs:
            self._waiting.setdefault(gang.queue, []).append(gang)
        for queue, each in self._waiting.items():
            each.sort(key=lambda g: g.order, reverse=not for_victims)
            self._link(queue)

    def _link(self, queue: str) -> None:
        """Link a queue below each of its ancestors."""
        for name in self._accounts.paths[queue]:
            siblings = self._below.setdefault(self._accounts.bounds[name].parent, [])
            if name not in siblings:
                siblings.append(name)

    def pop(self) -> SimulatedGang | None:
        """Return the next gang; None if there is none left."""
        if not self._below.get(""):
            return None
        queue = self._next("")
        gang = self._waiting[queue].pop()
        self._popped[queue] = plus(self._popped.get(queue, NOTHING), gang.total)
        if not self._waiting[queue]:
            self._unlink(queue)
        return gang

    def drop(self, gang: SimulatedGang) -> None:
        """Drop the gangs of a queue that have the same shape as one that cannot start."""
        waiting = self._waiting.get(gang.queue, [])
        kept = [other for other in waiting if other.shape != gang.shape]
        if len(kept) < len(waiting):
            self._waiting[gang.queue] = kept
            if not kept:
                self._unlink(gang.queue)

    def _unlink(self, queue: str) -> None:
        for name in self._accounts.paths[queue]:
            siblings = self._below[self._accounts.bounds[name].parent]
            siblings.remove(name)
            if siblings:
                return

    def _next(self, parent: str) -> str:
        """Return the leaf queue whose turn it is below a queue."""
        while self._below.get(parent):
            parent = self._first(self._below[parent])
        return parent

    def _first(self, names: list[str]) -> str:
        if len(names) == 1:
            return names[0]
        ranked = [_Ranked(self._accounts, name, self._change(name)) for name in names]
        order = cmp_to_key(_compare)
        best = max(ranked, key=order) if self._for_victims else min(ranked, key=order)
        return best.name

    def _change(self, name: str) -> tuple[Vector, Vector]:
        """Return what the best gang below a queue would add, and what the victims so far would remove."""
        leaf = self._next(name)
        gang = self._waiting[leaf][-1]
        if self._for_victims:
            return NOTHING, plus(self._popped.get(leaf, NOTHING), gang.total)
        return gang.total, NOTHING


class _Ranked:
    """The sort key of a queue among its siblings."""

    __slots__ = ("allocatable", "created", "key", "name")

    def __init__(self, accounts: Accounts, name: str, change: tuple[Vector, Vector]) -> None:
        bounds, held = accounts.bounds[name], accounts.held[name]
        added, taken = change
        with_gang = plus(held, added)
        is_over = all(fair < amount for fair, amount in zip(bounds.fair, held, strict=True))
        has_no_share = any(b == 0 and amount > 0 for b, amount in zip(bounds.allocatable, with_gang, strict=True))
        self.name = name
        self.allocatable = bounds.allocatable
        self.created = bounds.created
        self.key = (
            is_over,
            not within(with_gang, bounds.quota),
            -bounds.priority,
            has_no_share,
            _dominant(minus(with_gang, taken), bounds.allocatable, accounts.total),
            _dominant(held, bounds.allocatable, accounts.total),
        )


def _compare(left: _Ranked, right: _Ranked) -> int:
    if left.key != right.key:
        return -1 if left.key < right.key else 1
    if is_tighter(left.allocatable, right.allocatable):
        return -1
    if is_tighter(right.allocatable, left.allocatable):
        return 1
    return (left.created > right.created) - (left.created < right.created)


def _dominant(held: Vector, allocatable: Vector, total: Vector) -> float:
    """Return the largest fraction, over the resources, that a queue holds of what it may hold."""
    largest = 0.0
    for amount, bound, whole in zip(held, allocatable, total, strict=True):
        most = whole if bound == UNLIMITED else bound
        largest = max(largest, amount / most if most else amount * WITHOUT_SHARE)
    return largest
