"""A head in one cycle: its nomination and its outcome."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.schedulers.kueue.simulation.flavors import SimulatedAssignment, Spot
    from qcheck.schedulers.kueue.simulation.ledger import LedgerNode
    from qcheck.schedulers.kueue.simulation.victims import Victim
    from qcheck.schedulers.kueue.simulation.workload import Flavors, Job, PodCounts


class Nomination(Value):
    """The result for a head alone: its flavors, and the workloads to preempt for it."""

    assignment: SimulatedAssignment
    targets: list[Victim]


class Head(Value):
    """A workload that a queue offers, and how far the search for its flavors went.

    `known` is its nomination if an earlier cycle made it in the same state.
    """

    job: Job
    progress: Mapping[Spot, int]
    known: Nomination | None


class Entry:
    """A head with its nomination, which the cycle may renew, and finally its outcome."""

    __slots__ = ("assignment", "job", "node", "nomination", "outcome", "targets")

    def __init__(self, job: Job, node: LedgerNode, nomination: Nomination) -> None:
        self.job = job
        self.node = node
        self.nomination = nomination
        self.assignment = nomination.assignment
        self.targets = nomination.targets
        self.outcome = Outcome.NO_FIT

    @property
    def progress(self) -> dict[Spot, int]:
        """Return how far the search for flavors went, if the next cycle continues from there."""
        is_dropped = self.outcome in (Outcome.PENDING_PREEMPTION, Outcome.DEFERRED_FIT)
        return {} if is_dropped else self.assignment.progress

    @property
    def counts(self) -> PodCounts:
        """Return the number of pods of every pod set if partial admission reduces it."""
        step, smaller = self.assignment.step, self.job.smaller
        return smaller.counts(step) if step and smaller is not None else {}

    @property
    def flavors(self) -> Flavors:
        """Return the flavors that every pod set gets for its own requests."""
        found: Flavors = {}
        for (index, number), got in self.assignment.got.items():
            placement = self.job.placements[index]
            for share in placement.shares:
                mine = found.setdefault(share.pod_set, {})
                mine.update((r, got.flavor) for r in placement.choices[number].resources if r in share.resources)
        return found
