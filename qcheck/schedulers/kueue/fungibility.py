"""The choice among a queue's flavors: their comparison, and the end of the search.

Source: Kueue 0.20 `pkg/scheduler/flavorassigner/flavorassigner.go` (isPreferred, shouldTryNextFlavor).
"""

from __future__ import annotations

from enum import IntEnum

from qcheck.cluster.kueue import FlavorPreference, FungibilityPolicy
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.kueue import Fungibility

    Rank = tuple[int, int, int]


class AssignmentMode(IntEnum):
    """The fit of a request in a cell, worst first. RECLAIM preempts only in other queues, PREEMPT also in its own."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


class Grade(Value):
    """The fit of a request in a flavor. `level`: 0 within its own quota, else the borrowing level."""

    mode: AssignmentMode
    level: int

    def rank(self, fungibility: Fungibility) -> Rank:
        """Return the sort key by the queue's preference; a higher key is better."""
        if self.mode <= AssignmentMode.NO_CANDIDATES:
            return (int(self.mode), 0, -self.level)
        if fungibility.preference is FlavorPreference.PREEMPTION_OVER_BORROWING:
            return (2, -self.level, int(self.mode))
        return (2, int(self.mode), -self.level)

    def stops_search(self, fungibility: Fungibility) -> bool:
        """Return whether a flavor of this grade is taken without considering later ones."""
        if self.mode <= AssignmentMode.NO_CANDIDATES:
            return False
        if self.mode is not AssignmentMode.FIT and fungibility.when_can_preempt is FungibilityPolicy.TRY_NEXT_FLAVOR:
            return False
        return self.level == 0 or fungibility.when_can_borrow is not FungibilityPolicy.TRY_NEXT_FLAVOR


IMPOSSIBLE = Grade(AssignmentMode.NO_FIT, 0)
BEST = Grade(AssignmentMode.FIT, 0)
