"""Verdicts as values; `judge.py` determines them."""

from __future__ import annotations

from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.place import Place
    from qcheck.cluster.reasons import Reason
    from qcheck.cluster.workloads import Workload
    from qcheck.packing.kube_scheduler import Placed
    from qcheck.schedulers.kueue.decision import Decision


class Verdict(Value):
    """The verdict on a workload on an otherwise idle cluster.

    `runs` is False if it is never admitted, held, or can never be placed; None if unknown. `witness` places every pod
    of a workload that runs. `reasons`: why not, or why it is unknown; empty if it runs. `change`: the smallest known
    change that makes it run, if searched for; `edits` are the same as new values at places. `is_start_decision`: the
    scheduler that starts the pods decides, not Kueue.
    """

    decision: Decision
    runs: bool | None
    reasons: tuple[Reason, ...] = ()
    witness: tuple[Placed, ...] = ()
    change: str = ""
    edits: tuple[tuple[Place, str], ...] = ()
    is_start_decision: bool = False

    @property
    def workload(self) -> Workload:
        return self.decision.workload

    @property
    def admitted(self) -> bool | None:
        return self.decision.admitted

    @property
    def word(self) -> str:
        """The verdict in words."""
        if self.runs:
            return "admitted and runs" if self.decision.is_managed else "runs outside Kueue"
        if self.admitted is False:
            return "admitted only in part" if self.decision.is_in_part else "never admitted"
        if self.runs is False:
            outcome = self._outcome_of_pods
            return f"admitted but {outcome}" if self.admitted else outcome
        return "admitted, cannot tell whether it runs" if self.admitted else "cannot tell"

    @property
    def _outcome_of_pods(self) -> str:
        """The outcome for pods that never run: rejected on creation, pending, or one of the two."""
        codes = {r.code for r in self.reasons}
        if ReasonCode.REJECTED not in codes:
            return "pending"
        return "rejected or pending" if ReasonCode.UNSCHEDULABLE in codes else "rejected"


class Judged(Value):
    """Verdicts with their clusters. `unjudged` lists what else could not be judged: unreadable files, no workload."""

    verdicts: tuple[tuple[str, Verdict], ...]
    unjudged: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: all run; 1: one will not; 2: something could not be judged. 2 takes precedence over 1."""
        runs = [v.runs for _, v in self.verdicts]
        if self.unjudged or None in runs:
            return 2
        return 1 if False in runs else 0
