"""The order in which a cycle processes its entries.

Source: Kueue 0.20 `pkg/scheduler/scheduler.go` (makeClassicalIterator), `fair_sharing_iterator.go`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.simulation.dominant_share import dominant_share
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.schedulers.kueue.simulation.dominant_share import DominantShare
    from qcheck.schedulers.kueue.simulation.entry import Entry
    from qcheck.schedulers.kueue.simulation.ledger import LedgerNode

    Standing = tuple[bool, DominantShare]
    """For a node with an entry's usage: whether it borrows what the entry requests, and its share."""


def classical_order(entries: list[Entry]) -> Iterator[Entry]:
    """Yield entries by lower borrowing level, higher priority, earlier time; one order over all cohorts."""
    yield from sorted(entries, key=lambda e: (e.assignment.level, *e.job.order))


def fair_order(entries: list[Entry], prefers_non_borrowing: bool) -> Iterator[Entry]:
    """Yield the winners of successive tournaments, tree by tree; each starts from the outcome of the previous ones.

    Trees are ordered by name: their order is random in Kueue, and they do not affect each other.
    """
    trees: dict[tuple[str, bool], list[Entry]] = {}
    for entry in entries:
        root = entry.node.root
        trees.setdefault((root.name, root.is_queue), []).append(entry)
    for _, left in sorted(trees.items()):
        while left:
            tournament = _Tournament(left, prefers_non_borrowing)
            winner = tournament.winner(left[0].node.root)
            left.remove(winner)
            yield winner


class _Tournament:
    """A tournament in which every cohort chooses among its queues' entries and its child cohorts' winners."""

    def __init__(self, entries: list[Entry], prefers_non_borrowing: bool) -> None:
        self._of_queue = {e.node: e for e in entries}
        self._above = {node for e in entries for node in e.node.path}
        self._prefers_non_borrowing = prefers_non_borrowing
        self._standings = {node: s for e in entries for node, s in self._standings_of(e)}

    def _standings_of(self, entry: Entry) -> Iterator[tuple[tuple[Entry, LedgerNode], Standing]]:
        charge(entry.assignment.usage)
        keys = [cell.key for cell, amount in entry.assignment.usage.items() if amount > 0]
        for node in entry.node.path:
            if node.parent is not None:
                borrows = self._prefers_non_borrowing and not node.is_within_nominal(keys)
                yield (entry, node), (borrows, dominant_share(node))
        discharge(entry.assignment.usage)

    def winner(self, node: LedgerNode) -> Entry:
        """Return the winning entry below a node."""
        if node.is_queue:
            return self._of_queue[node]
        rivals = [(self.winner(child), child) for child in (*node.queues, *node.cohorts) if child in self._above]
        best, _ = min(rivals, key=lambda r: (*self._standings[r], *r[0].job.order))
        return best
