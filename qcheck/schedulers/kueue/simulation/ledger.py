"""Quota with usage: the cohort tree as a ledger of what every queue and cohort currently holds.

The static amounts (`subtree`, `local`, `potential`) are those of `CohortTree`; this module adds usage. Source: Kueue
0.20 `pkg/cache/scheduler/resource_node.go`, `fair_sharing.go` and
`pkg/scheduler/preemption/classical/hierarchical_preemption.go`.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.cluster.kueue import FlavorResource
    from qcheck.schedulers.kueue.cohort_tree import CohortTree, TreeNode

    Usage = Mapping["LedgerCell", int]

DEFAULT_WEIGHT = 1.0


class LedgerCell:
    """The quota of one node for a flavor and a resource, with its usage. Amounts are in base units."""

    __slots__ = ("borrowing_limit", "key", "local", "node", "nominal", "parent", "potential", "subtree", "usage")

    def __init__(
        self, tree: CohortTree, source: TreeNode, key: FlavorResource, node: LedgerNode, parent: LedgerCell | None
    ) -> None:
        quota = source.cells.get(key)
        self.key = key
        self.node = node
        self.parent = parent
        self.nominal = quota.nominal if quota else 0
        self.borrowing_limit = quota.borrowing_limit if quota else None
        self.subtree = tree.subtree(source, key)
        self.local = tree.local(source, key)
        self.potential = tree.potential(source, key)
        self.usage = 0

    @property
    def local_free(self) -> int:
        """The free part of what is never lent."""
        return max(0, self.local - self.usage)

    @property
    def is_within_nominal(self) -> bool:
        return self.usage <= self.subtree

    def available(self) -> int:
        """Return what the node could still take; negative if it uses more than exists."""
        if self.parent is None:
            return self.subtree - self.usage
        reach = self.parent.available()
        if self.borrowing_limit is not None:
            beyond_local = max(0, self.usage - self.local)
            reach = min(reach, self.subtree - self.local - beyond_local + self.borrowing_limit)
        return self.local_free + reach

    def takes(self, amount: int) -> bool:
        """Return whether `amount` more is available."""
        return amount <= max(0, self.available())

    def add(self, amount: int) -> None:
        """Charge `amount`; the part beyond the node's local quota is also charged to its parent."""
        cell: LedgerCell | None = self
        while cell is not None:
            beyond = amount - cell.local_free
            cell.usage += amount
            if beyond <= 0:
                return
            cell, amount = cell.parent, beyond

    def remove(self, amount: int) -> None:
        """Undo `add`."""
        cell: LedgerCell | None = self
        while cell is not None:
            stored = cell.usage - cell.local
            cell.usage -= amount
            amount = min(amount, stored)
            if amount <= 0:
                return
            cell = cell.parent

    def level(self, amount: int) -> tuple[int, bool]:
        """Return the level from which a queue borrows for `amount` more, and whether there is any level above it.

        The level is 0 within its own quota, else the height of the lowest cohort in which the request fits.
        """
        if self.parent is None or self.usage + amount <= self.nominal:
            return 0, self.parent is not None
        rest, cohort = amount - self.local_free, self.parent
        while True:
            if cohort.usage + rest <= cohort.subtree:
                return cohort.node.height, cohort.parent is not None
            if cohort.parent is None:
                return cohort.node.height, False
            rest -= cohort.local_free
            cohort = cohort.parent


class LedgerNode:
    """A queue or cohort. `lendable` of a cohort: per resource, what its children can reach, over all flavors."""

    def __init__(self, source: TreeNode, parent: LedgerNode | None, height: int, is_queue: bool) -> None:
        self.name = source.name
        self.parent = parent
        self.height = height
        self.is_queue = is_queue
        self.weight = _weight(source)
        self.cells: dict[FlavorResource, LedgerCell] = {}
        self.queues: list[LedgerNode] = []
        self.cohorts: list[LedgerNode] = []
        self.lendable: dict[str, int] = {}

    @cached_property
    def path(self) -> tuple[LedgerNode, ...]:
        """The node and all its ancestors, up to the root."""
        return (self, *self.parent.path) if self.parent else (self,)

    @property
    def root(self) -> LedgerNode:
        return self.path[-1]

    def queues_below(self) -> Iterator[LedgerNode]:
        """Yield the queues at and below the node."""
        if self.is_queue:
            yield self
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.queues_below()

    @property
    def borrows(self) -> bool:
        """Return whether it holds more than its own quota of anything."""
        return any(c.usage > c.subtree for c in self.cells.values())

    def is_within_nominal(self, keys: Iterable[FlavorResource]) -> bool:
        """Return whether it holds no more than its own quota in each of these cells."""
        cells = self.cells
        return all(cells[k].usage <= cells[k].subtree for k in keys if k in cells)

    def borrowed_ratio(self) -> float:
        """Return the dominant share: the borrowed part of what its parent can give, in thousandths.

        In double precision, as upstream; 0 at the root.
        """
        if self.parent is None:
            return 0.0
        borrowed: dict[str, int] = {}
        for (_, resource), cell in self.cells.items():
            if cell.usage > cell.subtree:
                borrowed[resource] = borrowed.get(resource, 0) + cell.usage - cell.subtree
        lendable = self.parent.lendable
        return max((n * 1000.0 / lendable[r] for r, n in borrowed.items() if lendable.get(r, 0) > 0), default=0.0)


def _weight(source: TreeNode) -> float:
    weight = source.holder.weight if source.holder else None
    return DEFAULT_WEIGHT if weight is None else weight.milli / 1000


class Ledger:
    """All queues and cohorts of a cluster with their usage. Queues below a cycle of cohorts are omitted."""

    def __init__(self, tree: CohortTree) -> None:
        self._tree = tree
        self.queues: dict[str, LedgerNode] = {}
        self._cohorts: dict[str, LedgerNode] = {}
        for source in tree.queues.values():
            if not tree.is_below_cycle(source.parent):
                self.queues[source.name] = self._queue(source)
        for cohort in self._cohorts.values():
            cohort.lendable = self._lendable(cohort)
        nodes = [*self.queues.values(), *self._cohorts.values()]
        self._cells = [cell for node in nodes for cell in node.cells.values()]

    def usage(self) -> list[int]:
        """Return the current usage of every cell, for `restore`."""
        return [cell.usage for cell in self._cells]

    def restore(self, usage: list[int]) -> None:
        """Restore an earlier state: a cycle charges quota that may not be granted in the end."""
        for cell, used in zip(self._cells, usage, strict=True):
            cell.usage = used

    def _queue(self, source: TreeNode) -> LedgerNode:
        parent = self._cohort(source.parent) if source.parent else None
        node = LedgerNode(source, parent, 0, is_queue=True)
        if parent is not None:
            parent.queues.append(node)
        for key in source.cells:
            self._cell(node, source, key)
        return node

    def _cohort(self, name: str) -> LedgerNode:
        if name not in self._cohorts:
            source = self._tree.cohorts[name]
            parent = self._cohort(source.parent) if source.parent else None
            node = LedgerNode(source, parent, self._tree.height(name), is_queue=False)
            if parent is not None:
                parent.cohorts.append(node)
            self._cohorts[name] = node
        return self._cohorts[name]

    def _cell(self, node: LedgerNode, source: TreeNode, key: FlavorResource) -> LedgerCell:
        """Return the cell of a node, with the same cell of all cohorts above it as its ancestors."""
        if key not in node.cells:
            above = self._cell(node.parent, self._tree.cohorts[node.parent.name], key) if node.parent else None
            node.cells[key] = LedgerCell(tree=self._tree, source=source, key=key, node=node, parent=above)
        return node.cells[key]

    def _lendable(self, cohort: LedgerNode) -> dict[str, int]:
        source = self._tree.cohorts[cohort.name]
        found: dict[str, int] = {}
        for key in self._known(cohort.root):
            found[key[1]] = found.get(key[1], 0) + self._tree.potential(source, key)
        return found

    def _known(self, root: LedgerNode) -> set[FlavorResource]:
        """Return every cell in a tree: the root's own and those of everything below it."""
        cohorts = [c for c in self._tree.cohorts if self._tree.ancestors(c)[-1] == root.name]
        queues = [q for c in cohorts for q in self._tree.cohorts[c].queues]
        sources = [*(self._tree.cohorts[c] for c in cohorts), *(self._tree.queues[q] for q in queues)]
        return {key for source in sources for key in source.cells}


def charge(usage: Usage) -> None:
    """Charge the usage of a workload to its queue."""
    for cell, amount in usage.items():
        cell.add(amount)


def discharge(usage: Usage) -> None:
    """Remove the usage of a workload from its queue."""
    for cell, amount in usage.items():
        cell.remove(amount)
