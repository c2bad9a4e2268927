"""One cycle: every head is nominated in the same state, then they are processed one after the other.

Source: Kueue 0.20 `pkg/scheduler/scheduler.go` (schedule, nominate, processEntry, updateAssignmentIfNeeded).
"""

from __future__ import annotations

from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.assignment import AssignmentMode
from qcheck.schedulers.kueue.partial_admission import first_fitting
from qcheck.schedulers.kueue.simulation import classical, fair
from qcheck.schedulers.kueue.simulation.entry import Entry, Nomination
from qcheck.schedulers.kueue.simulation.flavors import SimulatedAssigner
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge
from qcheck.schedulers.kueue.simulation.order import classical_order, fair_order
from qcheck.schedulers.kueue.simulation.outcomes import Outcome
from qcheck.schedulers.kueue.simulation.victims import Attempt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.simulation.entry import Head
    from qcheck.schedulers.kueue.simulation.flavors import Grades, SimulatedAssignment, Spot
    from qcheck.schedulers.kueue.simulation.ledger import Ledger, LedgerCell, LedgerNode
    from qcheck.schedulers.kueue.simulation.rules import Rules
    from qcheck.schedulers.kueue.simulation.victims import Holders, Victim
    from qcheck.schedulers.kueue.simulation.workload import Holder, Job, Usage


class Cycle:
    """The scheduler during one cycle. The ledger is restored when it ends.

    `grades` of each tree's current state may come from earlier cycles; this one adds to them.
    """

    def __init__(
        self,
        rules: Rules,
        queues: Mapping[str, ClusterQueue],
        ledger: Ledger,
        holders: Holders,
        grades: Mapping[LedgerNode, Grades],
    ) -> None:
        self._rules = rules
        self._queues = queues
        self._ledger = ledger
        self._holders = holders
        self._grades = grades
        self._gone: dict[str, Holder] = {}

    def run(self, heads: list[Head]) -> list[Entry]:
        """Process the heads; return entries in the order of processing."""
        before = self._ledger.usage()
        entries = [self._entered(head) for head in heads]
        processed = []
        for entry in self._in_order(entries):
            entry.outcome = self._process(entry)
            processed.append(entry)
        self._ledger.restore(before)
        return processed

    def _in_order(self, entries: list[Entry]) -> Iterator[Entry]:
        if self._rules.is_fair:
            return fair_order(entries, self._rules.prefers_non_borrowing)
        return classical_order(entries)

    def _entered(self, head: Head) -> Entry:
        job, node = head.job, self._ledger.queues[head.job.queue]
        if head.known is not None:
            return Entry(job, node, head.known)
        return Entry(job, node, self._nominated(job, node, head.progress, self._grades[node.root]))

    def _nominated(
        self,
        job: Job,
        node: LedgerNode,
        progress: Mapping[Spot, int],
        known: Grades,
        only: Mapping[Spot, str] | None = None,
    ) -> Nomination:
        """Return flavors and victims for all pods, or for as many as possible if all pods neither fit nor can preempt."""

        def tried(step: int) -> Nomination:
            assignment = self._assigner(job, node, known).assign(progress, only, step)
            return Nomination(assignment, self._targets(job, node, assignment))

        def fitting(step: int) -> Nomination | None:
            found = tried(step)
            return found if found.targets or found.assignment.mode is AssignmentMode.FIT else None

        full = tried(0)
        if job.smaller is None or full.targets or full.assignment.mode is AssignmentMode.FIT:
            return full
        return first_fitting(job.smaller.most, fitting) or full

    def _assigner(self, job: Job, node: LedgerNode, known: Grades) -> SimulatedAssigner:
        def find(wanted: Mapping[LedgerCell, int], in_need: frozenset[LedgerCell]) -> list[Holder]:
            return [v.holder for v in self._victims(job, node, wanted, in_need)]

        return SimulatedAssigner(
            job=job, queue=self._queues[job.queue], is_fair=self._rules.is_fair, find_victims=find, known=known
        )

    def _targets(self, job: Job, node: LedgerNode, assignment: SimulatedAssignment) -> list[Victim]:
        if assignment.mode is not AssignmentMode.PREEMPT:
            return []
        return self._victims(job, node, assignment.usage, assignment.in_need)

    def _victims(
        self, job: Job, node: LedgerNode, wanted: Mapping[LedgerCell, int], in_need: frozenset[LedgerCell]
    ) -> list[Victim]:
        attempt = Attempt(
            job=job,
            queue=self._queues[job.queue],
            node=node,
            wanted=wanted,
            in_need=in_need,
            holders=self._holders,
        )
        if self._rules.is_fair:
            return fair.victims(attempt, self._rules.strategies, self._rules.takes_own_quota)
        return classical.victims(attempt)

    def _process(self, entry: Entry) -> Outcome:
        was_fit = entry.assignment.mode is AssignmentMode.FIT
        if self._rules.recomputes_overlaps and self._overlaps(entry):
            self._renew(entry)
        mode = entry.assignment.mode
        if mode is AssignmentMode.NO_FIT:
            return Outcome.NO_FIT
        if mode is AssignmentMode.PREEMPT and not entry.targets:
            self._hold_room(entry)
            return Outcome.NO_CANDIDATES
        if mode is AssignmentMode.FIT and not was_fit:
            charge(entry.assignment.usage)
            return Outcome.DEFERRED_FIT
        if self._overlaps(entry):
            return Outcome.OVERLAP
        if not self._fits(entry):
            return Outcome.NO_LONGER_FITS
        charge(entry.assignment.usage)
        self._gone.update((v.holder.job.name, v.holder) for v in entry.targets)
        return Outcome.ADMITTED if mode is AssignmentMode.FIT else Outcome.PENDING_PREEMPTION

    def _overlaps(self, entry: Entry) -> bool:
        return any(v.holder.job.name in self._gone for v in entry.targets)

    def _renew(self, entry: Entry) -> None:
        """Assign an entry anew as if all victims of this cycle were gone, among the flavors of its nomination."""
        gone, holders = list(self._gone.values()), self._holders
        for holder in gone:
            discharge(holder.usage)
        self._holders = {q: of.without(self._gone.__contains__) for q, of in holders.items()}
        only = {spot: got.flavor for spot, got in entry.assignment.got.items()}
        renewed = self._nominated(entry.job, entry.node, {}, {}, only)
        entry.assignment, entry.targets = renewed.assignment, renewed.targets
        self._holders = holders
        for holder in gone:
            charge(holder.usage)

    def _fits(self, entry: Entry) -> bool:
        """Return whether an entry fits once its own victims and those of earlier entries are gone."""
        leaving = {**self._gone, **{v.holder.job.name: v.holder for v in entry.targets}}
        for holder in leaving.values():
            discharge(holder.usage)
        fits = all(cell.takes(amount) for cell, amount in entry.assignment.usage.items())
        for holder in leaving.values():
            charge(holder.usage)
        return fits

    def _hold_room(self, entry: Entry) -> None:
        """Hold room against later entries for one that can neither fit nor preempt, unless its queue may reclaim it."""
        if self._queues[entry.job.queue].preemption.reclaim is not PreemptionPolicy.ANY:
            charge(_room(entry.assignment.usage, entry.assignment.level > 0))


def _room(usage: Usage, borrows: bool) -> Usage:
    """Return the part of a request that is held: what the queue may have without or with borrowing."""
    if not borrows:
        return {cell: max(0, min(amount, cell.nominal - cell.usage)) for cell, amount in usage.items()}
    return {
        cell: amount if cell.borrowing_limit is None else min(amount, cell.nominal + cell.borrowing_limit - cell.usage)
        for cell, amount in usage.items()
    }
