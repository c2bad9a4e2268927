"""A head in one cycle: what it is nominated for, and what becomes of it."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.simulation.words import Outcome

if TYPE_CHECKING:
    from qcheck.schedulers.kueue.simulation.flavors import Assignment, Spot
    from qcheck.schedulers.kueue.simulation.ledger import Node
    from qcheck.schedulers.kueue.simulation.victims import Victim
    from qcheck.schedulers.kueue.simulation.workload import Flavors, Job


class Entry:
    """A head with its nomination, which the cycle may renew, and in the end its outcome."""

    __slots__ = ("assignment", "job", "node", "outcome", "targets")

    def __init__(self, job: Job, node: Node, assignment: Assignment, targets: list[Victim]) -> None:
        self.job = job
        self.node = node
        self.assignment = assignment
        self.targets = targets
        self.outcome = Outcome.NO_FIT

    @property
    def progress(self) -> dict[Spot, int]:
        """How far the search for flavors came, as far as the next cycle goes on from there."""
        is_dropped = self.outcome in (Outcome.PENDING_PREEMPTION, Outcome.DEFERRED_FIT)
        return {} if is_dropped else self.assignment.progress

    @property
    def flavors(self) -> Flavors:
        """The flavors that every pod set gets for what it asks for itself."""
        found: Flavors = {}
        for (index, number), got in self.assignment.got.items():
            placement = self.job.placements[index]
            for share in placement.shares:
                mine = found.setdefault(share.pod_set, {})
                mine.update((r, got.flavor) for r in placement.choices[number].resources if r in share.resources)
        return found
