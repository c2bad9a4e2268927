"""The cohort tree and Kueue's arithmetic on it.

Source: Kueue 0.19, `pkg/cache/scheduler/resource_node.go` and `pkg/cache/hierarchy`. All amounts are in base units; a
sum that reaches `UNLIMITED` stays there, as Kueue's int64 arithmetic saturates.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.kueue import ClusterQueue, Cohort, FlavorResource, Quota, QuotaHolder
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster

UNLIMITED = 2**63 - 1


class TreeNode(Value, cached=True):
    """A queue or cohort in the tree. `holder` is None for an implicit cohort, which is only referenced."""

    name: str
    holder: QuotaHolder | None
    parent: str | None
    queues: tuple[str, ...]
    cohorts: tuple[str, ...]

    @cached_property
    def cells(self) -> dict[FlavorResource, Quota]:
        return {q.key: q for q in self.holder.quotas()} if self.holder else {}


class CohortTree:
    """Every ClusterQueue and cohort (including implicit ones), and what each may hold, lend and borrow."""

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Iterable[Cohort]) -> None:
        self._queue_objects = {q.name: q for q in queues}
        self._cohort_objects = {c.name: c for c in cohorts}
        self.queues: dict[str, TreeNode] = {}
        self.cohorts: dict[str, TreeNode] = {}
        self._grow()
        self._sums: dict[int, dict[FlavorResource, int]] = {}
        self._potentials: dict[tuple[int, FlavorResource], int] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._ways: dict[tuple[str | None, str | None, FlavorResource], int] = {}

    def _grow(self) -> None:
        queues_of: dict[str, list[str]] = {}
        cohorts_of: dict[str, list[str]] = {}
        for queue in self._queue_objects.values():
            if queue.parent:
                queues_of.setdefault(queue.parent, []).append(queue.name)
            self.queues[queue.name] = TreeNode(
                name=queue.name, holder=queue, parent=queue.parent, queues=(), cohorts=()
            )
        for cohort in self._cohort_objects.values():
            if cohort.parent:
                cohorts_of.setdefault(cohort.parent, []).append(cohort.name)
        for name in sorted({*self._cohort_objects, *queues_of, *cohorts_of}):
            holder = self._cohort_objects.get(name)
            self.cohorts[name] = TreeNode(
                name=name,
                holder=holder,
                parent=holder.parent if holder else None,
                queues=tuple(sorted(queues_of.get(name, ()))),
                cohorts=tuple(sorted(cohorts_of.get(name, ()))),
            )

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Cohorts that are their own ancestors, each cycle once, starting at its first name."""
        found: set[tuple[str, ...]] = set()
        for start in self.cohorts:
            seen: list[str] = []
            at: str | None = start
            while at is not None and at not in seen:
                seen.append(at)
                at = self.cohorts[at].parent
            if at is not None:
                ring = seen[seen.index(at) :]
                first = ring.index(min(ring))
                found.add(tuple(ring[first:] + ring[:first]))
        return tuple(sorted(found))

    @cached_property
    def _cyclic(self) -> frozenset[str]:
        return frozenset(n for cycle in self.cycles for n in cycle)

    def is_below_cycle(self, cohort: str | None) -> bool:
        """Return whether the parents of `cohort` end in a cycle; its queues are then excluded from scheduling."""
        return bool(self._cyclic) and any(a in self._cyclic for a in self.ancestors(cohort))

    def ancestors(self, cohort: str | None) -> tuple[str, ...]:
        """Return `cohort`, its parent, and so on; in a cycle, each cohort once."""
        if cohort is None:
            return ()
        if cohort not in self._ancestors:
            line: dict[str, None] = {}
            at: str | None = cohort
            while at is not None and at not in line:
                line[at] = None
                at = self.cohorts[at].parent
            self._ancestors[cohort] = tuple(line)
        return self._ancestors[cohort]

    def root(self, queue: str) -> str | None:
        """Return the topmost cohort above a queue; None if it is in none or below a cycle."""
        parent = self.queues[queue].parent
        if parent is None or self.is_below_cycle(parent):
            return None
        return self.ancestors(parent)[-1]

    def members(self, cohort: str) -> Iterator[str]:
        """Yield the queues anywhere below a cohort, each once."""
        waiting, seen = [cohort], set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            yield from self.cohorts[name].queues
            waiting.extend(self.cohorts[name].cohorts)

    def subtree(self, node: TreeNode, cell: FlavorResource) -> int:
        """Return all quota at and below a node that may be used within it."""
        return self._subtrees(node).get(cell, 0)

    def _subtrees(self, node: TreeNode) -> dict[FlavorResource, int]:
        """Return `subtree` of a node by cell, for the cells listed at or below it."""
        if id(node) not in self._sums:
            sums = {cell: quota.nominal for cell, quota in node.cells.items()}
            for child in self._children(node):
                for cell in self._subtrees(child):
                    sums[cell] = sums.get(cell, 0) + self.lendable(child, cell)
            self._sums[id(node)] = {cell: min(UNLIMITED, total) for cell, total in sums.items()}
        return self._sums[id(node)]

    def _children(self, node: TreeNode) -> Iterator[TreeNode]:
        yield from (self.queues[q] for q in node.queues)
        yield from (self.cohorts[c] for c in node.cohorts if c not in self._cyclic)

    def local(self, node: TreeNode, cell: FlavorResource) -> int:
        """Return what a node never lends upward."""
        quota = node.cells.get(cell)
        if quota is None or quota.lending_limit is None:
            return 0
        return max(0, self.subtree(node, cell) - quota.lending_limit)

    def lendable(self, node: TreeNode, cell: FlavorResource) -> int:
        """Return what a node gives to its parent's other children if it uses none of it."""
        return self.subtree(node, cell) - self.local(node, cell)

    def potential(self, node: TreeNode, cell: FlavorResource) -> int:
        """Return the most that a node can ever hold, with all others idle."""
        key = (id(node), cell)
        if key not in self._potentials:
            self._potentials[key] = self._potential(node, cell)
        return self._potentials[key]

    def _potential(self, node: TreeNode, cell: FlavorResource) -> int:
        parent = self.cohorts.get(node.parent) if node.parent else None
        if parent is None or self.is_below_cycle(parent.name):
            return self.subtree(node, cell)
        quota = node.cells.get(cell)
        reach = min(UNLIMITED, self.local(node, cell) + self.potential(parent, cell))
        if quota is None or quota.borrowing_limit is None:
            return reach
        return min(reach, self.subtree(node, cell) + quota.borrowing_limit)

    def lent_to(self, node: TreeNode, cell: FlavorResource) -> int:
        """Return how much a node could hold beyond its own quota without its own borrowingLimit."""
        parent = self.cohorts.get(node.parent) if node.parent else None
        if parent is None:
            return 0
        reach = min(UNLIMITED, self.local(node, cell) + self.potential(parent, cell))
        return max(0, reach - self.subtree(node, cell))

    def queue_potential(self, queue: str, cell: FlavorResource) -> int:
        """Return `potential` of a ClusterQueue; 0 for a cell that it does not list and so may not use."""
        node = self.queues[queue]
        return self.potential(node, cell) if cell in node.cells else 0

    def borrowing_level(self, queue: str, cell: FlavorResource, held: int) -> int:
        """Return the level from which a queue borrows to hold `held`: 0 within its own quota, else a cohort's height.

        Source: Kueue `pkg/scheduler/preemption/classical/hierarchical_preemption.go`.
        """
        node = self.queues[queue]
        ancestors = () if self.is_below_cycle(node.parent) else self.ancestors(node.parent)
        if not ancestors or held <= self.subtree(node, cell):
            return 0
        left = held - self.local(node, cell)
        for cohort in ancestors:
            if left <= self.subtree(self.cohorts[cohort], cell):
                return self.height(cohort)
            left -= self.local(self.cohorts[cohort], cell)
        return self.height(ancestors[-1])

    def height(self, cohort: str) -> int:
        """Return the levels below a cohort: 0 without children, 1 with queues only, else the highest cohort's + 1."""
        if not self.cohorts[cohort].queues and not self.cohorts[cohort].cohorts:
            return 0
        below = [self.height(c) for c in self.cohorts[cohort].cohorts if c not in self._cyclic]
        return 1 + max(below, default=0)

    def borrowable(self, queue: str, cell: FlavorResource) -> int:
        """Return how much a queue can hold beyond its own quota."""
        node = self.queues[queue]
        return max(0, self.queue_potential(queue, cell) - self.subtree(node, cell))

    def lent(self, queue: str, cell: FlavorResource) -> int:
        """Return how much of a queue's quota others can use."""
        return self.lendable(self.queues[queue], cell) if self.queues[queue].parent else 0

    def reach(self, borrower: str, lender: str, cell: FlavorResource) -> int:
        """Return the most of anything below `lender`'s cohort that `borrower` could hold: the narrowest limit."""
        between = self.limit_between(self.queues[borrower].parent, self.queues[lender].parent, cell)
        quota = self.queues[borrower].cells.get(cell)
        own = UNLIMITED if quota is None or quota.borrowing_limit is None else quota.borrowing_limit
        return min(between, own)

    def limit_between(self, borrowing: str | None, lending: str | None, cell: FlavorResource) -> int:
        """Return the narrowest limit between the cohorts of a borrower and a lender.

        It is the least of what the lending side lends upward and the borrowing side may take from above, below their
        common ancestor. Results are cached, because many queues share a cohort.
        """
        key = (borrowing, lending, cell)
        if key not in self._ways:
            up, down = self.ancestors(lending), self.ancestors(borrowing)
            meeting = next((c for c in up if c in down), None)
            self._ways[key] = 0
            if meeting is not None:
                lent = [self.lendable(self.cohorts[c], cell) for c in up[: up.index(meeting)]]
                caps = [self.cohorts[c].cells.get(cell) for c in down[: down.index(meeting)]]
                taken = [q.borrowing_limit for q in caps if q is not None and q.borrowing_limit is not None]
                self._ways[key] = min([UNLIMITED, *lent, *taken])
        return self._ways[key]


@view
def cohort_tree(cluster: Cluster) -> CohortTree:
    """Return the cohorts and queues of a cluster with Kueue's quota arithmetic."""
    return CohortTree(cluster.queues, cluster.cohorts)
