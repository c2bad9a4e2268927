"""The order in which KAI takes workloads from its tree of queues, to start or to stop them."""

from __future__ import annotations

from typing import NamedTuple

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.division import UNLIMITED
from qcheck.schedulers.kai.simulation.accounts import is_tighter, within
from qcheck.schedulers.kai.simulation.gang import NOTHING, SimulatedGang, Vector, minus, plus
from qcheck.schedulers.kai.simulation.queue_heap import QueueHeap

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from qcheck.schedulers.kai.simulation.accounts import Accounts, QueueBounds, SortKey

WITHOUT_SHARE = 1000.0
"""The factor for what a queue holds if it may hold nothing."""


class Turns:
    """The order in which KAI takes gangs: from the top queue down, by the current holdings of the queues.

    KAI re-evaluates a queue only when it is the first among its siblings. The others keep their positions, and a parent
    queue is compared by the next gang of its first child.
    `for_victims` reverses both orders: the queue and the gang that come last are evicted first. `promised` are the names
    of victims that hold nothing yet.
    """

    def __init__(
        self,
        accounts: Accounts,
        gangs: Iterable[SimulatedGang],
        *,
        for_victims: bool = False,
        promised: Container[str] = (),
    ) -> None:
        self._accounts = accounts
        self._promised = promised
        self._for_victims = for_victims
        self._top: QueueHeap[_Branch] = QueueHeap(self._is_before)
        self._latest: _Taken | None = None
        waiting: dict[str, list[SimulatedGang]] = {}
        for gang in gangs:
            waiting.setdefault(gang.queue, []).append(gang)
        self._link(waiting)

    def _link(self, waiting: dict[str, list[SimulatedGang]]) -> None:
        """Put the queues with gangs and their ancestors into the heaps, the deepest first."""
        branches: dict[str, _Branch] = {}
        for queue, gangs in waiting.items():
            gangs.sort(key=lambda g: g.order, reverse=not self._for_victims)
            for name in self._accounts.paths[queue]:
                if name not in branches:
                    branches[name] = _Branch(name, len(self._accounts.paths[name]), QueueHeap(self._is_before))
            branches[queue].gangs = gangs
        for branch in sorted(branches.values(), key=lambda b: -b.depth):
            branch.parent = branches.get(self._accounts.bounds[branch.name].parent)
            (branch.parent.below if branch.parent else self._top).push(branch)

    def pop(self) -> SimulatedGang | None:
        """Return the next gang; None if there is none left."""
        if not self._top:
            return None
        leaf = self._leaf()
        gang = leaf.gangs.pop()
        if self._for_victims:
            leaf.popped = plus(leaf.popped, self._held(gang))
        self._leave(leaf)
        latest = self._latest
        is_repeated = latest is not None and latest.leaf is leaf and latest.gang.shape == gang.shape
        self._latest = _Taken(leaf, gang, is_repeated)
        return gang

    def pass_over(self, gang: SimulatedGang, but: Container[str] = ()) -> None:
        """Skip the next gangs of the same shape, because the gang just taken changes nothing.

        `but` are names of gangs to keep. Only the second gang in a row shows that its queue is next: the first may be next
        because of outdated positions.
        """
        latest = self._latest
        if latest is None or not latest.is_repeated:
            return
        leaf = latest.leaf
        while leaf.gangs and leaf.gangs[-1].shape == gang.shape and leaf.gangs[-1].name not in but:
            leaf.gangs.pop()
            if not leaf.gangs:
                self._leave(leaf)

    def _leaf(self) -> _Branch:
        """Return the leaf queue whose turn it is."""
        heap = self._top
        while True:
            branch = heap.first
            if branch.is_outdated:
                heap.fix_first()
                branch.is_outdated = False
            elif branch.gangs:
                return branch
            else:
                heap = branch.below

    def _leave(self, leaf: _Branch) -> None:
        """Remove queues without gangs, and mark the remaining ancestors as outdated."""
        branch: _Branch | None = leaf
        while branch is not None and not branch.gangs and not branch.below:
            (branch.parent.below if branch.parent else self._top).pop()
            branch = branch.parent
        while branch is not None:
            branch.is_outdated = True
            branch = branch.parent

    def _is_before(self, left: _Branch, right: _Branch) -> bool:
        ours, theirs = self._key(left), self._key(right)
        if ours != theirs:
            return (ours > theirs) is self._for_victims
        bounds = self._accounts.bounds
        order = _in_case_of_a_tie(bounds[left.name], bounds[right.name])
        return order >= 0 if self._for_victims else order < 0

    def _key(self, branch: _Branch) -> SortKey:
        accounts, change = self._accounts, self._change(branch)
        state = (branch.name, accounts.held[branch.name], change)
        key = accounts.sort_keys.get(state)
        if key is None:
            key = accounts.sort_keys[state] = _sort_key(accounts, branch.name, change)
        return key

    def _change(self, branch: _Branch) -> tuple[Vector, Vector]:
        """Return the amounts that the first gang below a queue would add, and those that its victims so far remove."""
        while branch.below:
            branch = branch.below.first
        gang = branch.gangs[-1]
        if self._for_victims:
            return NOTHING, plus(branch.popped, self._held(gang))
        return gang.total, NOTHING

    def _held(self, victim: SimulatedGang) -> Vector:
        return NOTHING if victim.name in self._promised else victim.total


class _Taken(NamedTuple):
    """The gang taken last. `is_repeated`: the previous one has the same shape and queue."""

    leaf: _Branch
    gang: SimulatedGang
    is_repeated: bool


class _Branch:
    """A queue with its gangs, or with the queues below it. `is_outdated`: it may have to move among its siblings."""

    __slots__ = ("below", "depth", "gangs", "is_outdated", "name", "parent", "popped")

    def __init__(self, name: str, depth: int, below: QueueHeap[_Branch]) -> None:
        self.name = name
        self.depth = depth
        self.below = below
        self.parent: _Branch | None = None
        self.gangs: list[SimulatedGang] = []
        self.popped = NOTHING
        self.is_outdated = False


def _sort_key(accounts: Accounts, name: str, change: tuple[Vector, Vector]) -> SortKey:
    bounds, held = accounts.bounds[name], accounts.held[name]
    added, taken = change
    with_gang = plus(held, added)
    return (
        all(fair < amount for fair, amount in zip(bounds.fair, held, strict=True)),
        not within(with_gang, bounds.quota),
        -bounds.priority,
        any(b == 0 and amount > 0 for b, amount in zip(bounds.allocatable, with_gang, strict=True)),
        _dominant(minus(with_gang, taken), bounds.allocatable, accounts.total),
        _dominant(held, bounds.allocatable, accounts.total),
    )


def _in_case_of_a_tie(left: QueueBounds, right: QueueBounds) -> int:
    """Return the order of queues with equal sort keys: the queue that may hold less is first, then the older queue."""
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
