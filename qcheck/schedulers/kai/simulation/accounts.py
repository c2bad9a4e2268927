"""The shares of KAI's queues, and what the queues hold during a cycle."""

from __future__ import annotations

from enum import StrEnum
from math import inf

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.division import UNLIMITED
from qcheck.schedulers.kai.hierarchy import Share
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, NOTHING, Vector, minus, plus

if TYPE_CHECKING:
    from qcheck.schedulers.kai.hierarchy import Amounts, Hierarchy
    from qcheck.schedulers.kai.simulation.gang import SimulatedGang


class Refusal(StrEnum):
    """The reason why a gang waits, in KAI's own terms."""

    OVER_LIMIT = "OverLimit"
    OVER_QUOTA = "NonPreemptibleOverQuota"
    NO_ROOM = "Unschedulable"


class QueueBounds(Value):
    """The amounts of one queue in a cycle; `allocatable` is the most that others cannot reclaim."""

    name: str
    parent: str
    quota: Vector
    limit: Vector
    fair: Vector
    allocatable: Vector
    priority: int
    created: float


SortKey = tuple[bool, bool, int, bool, float, float]
"""The sort key of a queue among its siblings, for its holdings and a change of them."""


class Accounts:
    """The queues of one shard and what they hold, including ancestors; `kept` is the part that nobody may preempt.

    `sort_keys` is the cache of computed sort keys, which copies share.
    """

    def __init__(self, bounds: dict[str, QueueBounds], paths: dict[str, tuple[str, ...]], total: Vector) -> None:
        self.bounds = bounds
        self.total = total
        self.paths = paths
        self.held = dict.fromkeys(bounds, NOTHING)
        self.kept = dict.fromkeys(bounds, NOTHING)
        self.sort_keys: dict[tuple[str, Vector, tuple[Vector, Vector]], SortKey] = {}

    def copy(self) -> Accounts:
        """Return an independent copy."""
        other = Accounts(self.bounds, self.paths, self.total)
        other.held.update(self.held)
        other.kept.update(self.kept)
        other.sort_keys = self.sort_keys
        return other

    def become(self, other: Accounts) -> None:
        """Adopt the amounts of other accounts."""
        self.held, self.kept = other.held, other.kept

    def add(self, gang: SimulatedGang) -> None:
        """Record that a gang starts, or is promised a start."""
        for name in self.paths[gang.queue]:
            self.held[name] = plus(self.held[name], gang.total)
            if not gang.is_preemptible:
                self.kept[name] = plus(self.kept[name], gang.total)

    def remove(self, gang: SimulatedGang) -> None:
        """Record that a preemptible gang stops."""
        for name in self.paths[gang.queue]:
            self.held[name] = minus(self.held[name], gang.total)

    def refusal(self, gang: SimulatedGang) -> Refusal | None:
        """Return why a queue or an ancestor refuses a gang: by a limit, or by a quota if it is not preemptible."""
        asked = [at for at, amount in enumerate(gang.total) if amount > 0]
        for name in self.paths[gang.queue]:
            bounds = self.bounds[name]
            if _exceeds(plus(self.held[name], gang.total), bounds.limit, asked):
                return Refusal.OVER_LIMIT
            if not gang.is_preemptible and _exceeds(plus(self.kept[name], gang.total), bounds.quota, asked):
                return Refusal.OVER_QUOTA
        return None


def accounts_of(tree: Hierarchy, shares: Amounts, total: Vector) -> Accounts:
    """Return the accounts at the start of a cycle, with nothing held."""
    bounds = {name: _bounds(tree, name, shares) for name in tree.queues}
    paths = {name: tuple(queue.name for queue in tree.path(name)) for name in tree.queues}
    return Accounts(bounds, paths, total)


def _exceeds(amount: Vector, bound: Vector, asked: list[int]) -> bool:
    return any(bound[at] != UNLIMITED and amount[at] > bound[at] for at in asked)


def within(amount: Vector, bound: Vector) -> bool:
    """Return whether no amount exceeds its bound; -1 means unlimited."""
    return all(b == UNLIMITED or a <= b for a, b in zip(amount, bound, strict=True))


def is_tighter(left: Vector, right: Vector) -> bool:
    """Return whether one bound is nowhere wider than another, and narrower in at least one dimension."""
    ours, theirs = ([inf if a == UNLIMITED else a for a in each] for each in (left, right))
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _bounds(tree: Hierarchy, name: str, shares: Amounts) -> QueueBounds:
    queue = tree.queues[name]
    terms = [queue.terms.get(dimension, Share()) for dimension in DIMENSIONS]
    fair = tuple(shares[name][dimension] for dimension in DIMENSIONS)
    return QueueBounds(
        name=name,
        parent=queue.parent,
        quota=tuple(each.quota for each in terms),
        limit=tuple(each.limit for each in terms),
        fair=fair,
        allocatable=tuple(_allocatable(each, share) for each, share in zip(terms, fair, strict=True)),
        priority=queue.priority,
        created=queue.created,
    )


def _allocatable(terms: Share, share: float) -> float:
    if terms.quota == UNLIMITED:
        return terms.limit
    most = max(terms.quota, share)
    return most if terms.limit == UNLIMITED else min(terms.limit, most)
