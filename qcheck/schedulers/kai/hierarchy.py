"""KAI's tree of queues: the queues in a scheduling cycle, and the fair share of each.

A queue whose parent is missing is dropped with its subtree. A queue in a cycle of parents is not below the top, so its
share is 0.
"""

from __future__ import annotations

from qcheck.cluster.kai import Dimension
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.division import Claim, divide

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Share(Value):
    """The spec of a queue for one resource, in the unit of its dimension; an absent field is 0."""

    quota: float = 0.0
    limit: float = 0.0
    weight: float = 0.0


class HierarchyQueue(Value):
    """A queue as the division sees it."""

    name: str
    parent: str
    terms: Mapping[Dimension, Share]
    priority: int = 100
    created: float = 0.0


Amounts = dict[str, dict[Dimension, float]]
"""An amount for each queue and dimension; omitted amounts are 0."""


class Hierarchy:
    """The queues of one shard."""

    def __init__(self, queues: Iterable[HierarchyQueue]) -> None:
        known = {queue.name: queue for queue in queues if queue.name}
        self.queues = {name: queue for name, queue in known.items() if _has_ancestry(queue, known)}
        self._children: dict[str, list[HierarchyQueue]] = {}
        for queue in self.queues.values():
            self._children.setdefault(queue.parent, []).append(queue)

    def top(self) -> Sequence[HierarchyQueue]:
        """The queues without a parent."""
        return self.children("")

    def children(self, name: str) -> Sequence[HierarchyQueue]:
        """Return the direct children of a queue."""
        return self._children.get(name, ())

    def path(self, name: str) -> Iterator[HierarchyQueue]:
        """Yield a queue and its ancestors, from the queue to the top; in a cycle, each queue once."""
        seen: set[str] = set()
        while name in self.queues and name not in seen:
            seen.add(name)
            yield self.queues[name]
            name = self.queues[name].parent

    def add_up(self, amounts: Mapping[str, Mapping[Dimension, float]]) -> Amounts:
        """Add the amounts of leaf queues to all of their ancestors."""
        sums: Amounts = {name: dict.fromkeys(Dimension, 0.0) for name in self.queues}
        for name, given in amounts.items():
            for queue in self.path(name):
                for dimension, amount in given.items():
                    sums[queue.name][dimension] += amount
        return sums

    def fair_shares(
        self,
        total: Mapping[Dimension, float],
        requests: Mapping[str, Mapping[Dimension, float]],
        usage: Mapping[str, Mapping[Dimension, float]],
        k: float,
    ) -> Amounts:
        """Return every queue's fair share, level by level: the children divide their parent's share.

        `requests` names leaf queues; `usage` names every queue, because KAI measures parents separately.
        """
        asked = self.add_up(requests)
        shares: Amounts = {name: dict.fromkeys(Dimension, 0.0) for name in self.queues}
        for dimension in Dimension:
            used = {name: usage.get(name, {}).get(dimension, 0.0) for name in self.queues}
            levels = [("", total.get(dimension, 0.0))]
            while levels:
                parent, amount = levels.pop()
                level = [_claim(q, dimension, asked[q.name][dimension], used[q.name]) for q in self.children(parent)]
                for name, share in divide(amount, level, k).items():
                    shares[name][dimension] = share
                    levels.append((name, share))
        return shares


def _has_ancestry(queue: HierarchyQueue, known: Mapping[str, HierarchyQueue]) -> bool:
    """Return whether every ancestor exists; a cycle has no missing member."""
    seen: set[str] = set()
    while queue.parent and queue.name not in seen:
        seen.add(queue.name)
        if queue.parent not in known:
            return False
        queue = known[queue.parent]
    return True


def _claim(queue: HierarchyQueue, dimension: Dimension, request: float, usage: float) -> Claim:
    terms = queue.terms.get(dimension, Share())
    return Claim(
        queue=queue.name,
        quota=terms.quota,
        limit=terms.limit,
        weight=terms.weight,
        request=request,
        usage=usage,
        priority=queue.priority,
        created=queue.created,
    )
