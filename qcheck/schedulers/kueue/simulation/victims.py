"""What both searches for victims share: who may be one, in which order, and which of those removed may stay.

Source: Kueue 0.20 `pkg/scheduler/preemption/preemption.go`, `common/ordering.go`.
"""

from __future__ import annotations

from qcheck.cluster.kueue import NEVER
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.cluster.kueue import ClusterQueue, FlavorResource
    from qcheck.schedulers.kueue.simulation.ledger import Cell, Node
    from qcheck.schedulers.kueue.simulation.words import Cause
    from qcheck.schedulers.kueue.simulation.workload import Holder, Job

    Holders = Mapping[str, Mapping[str, Holder]]
    """What runs: by queue and name of the workload."""

LOWER, ANY = "LowerPriority", "Any"


class Victim(Value):
    """A workload to preempt, and the reason that Kueue gives for it."""

    holder: Holder
    cause: Cause


class Attempt(Value):
    """A search for victims: who asks, for how much of which cells, and in which of them others have to give way.

    `holders` are the workloads that may be victims, without those that are gone in this cycle.
    """

    job: Job
    queue: ClusterQueue
    node: Node
    wanted: Mapping[Cell, int]
    in_need: frozenset[Cell]
    holders: Holders

    @property
    def keys(self) -> tuple[FlavorResource, ...]:
        """The cells in need as they are called in every node."""
        return tuple(cell.key for cell in self.in_need)

    def fits(self, is_borrowing: bool = True) -> bool:
        """Whether the request fits now; without borrowing also into the queue's own quota."""
        return all(
            cell.takes(amount) and (is_borrowing or cell.usage + amount <= cell.nominal)
            for cell, amount in self.wanted.items()
        )

    def candidates(self, node: Node, keys: Iterable[FlavorResource]) -> list[Holder]:
        """The workloads of a queue that the preemptor's policy lets go and that hold quota in some cell in need."""
        running = self.holders.get(node.name)
        is_own = node is self.node
        policy = self.queue.preemption.within_queue if is_own else self.queue.preemption.reclaim
        if not running or policy == NEVER:
            return []
        cells = [node.cells[k] for k in keys if k in node.cells]
        return [
            h for h in running.values() if _is_allowed(policy, self.job, h.job) and any(c in h.usage for c in cells)
        ]

    def sorted(self, candidates: Iterable[Holder]) -> list[Holder]:
        """Candidates in the order in which they go: being evicted, other queues, lower priority, later reservation."""
        own = self.job.queue
        return sorted(
            candidates,
            key=lambda h: (h.evicted_by is None, h.job.queue == own, h.job.priority, -h.since, h.job.name),
        )


def _is_allowed(policy: str, job: Job, other: Job) -> bool:
    if policy == ANY or other.priority < job.priority:
        return True
    return policy != LOWER and other.priority == job.priority and other.since > job.since


def spared(attempt: Attempt, victims: list[Victim], is_borrowing: bool) -> list[Victim]:
    """The victims that are needed: from the last but one down to the first, one that may stay is put back.

    All victims are gone from the ledger when it is called, and those returned are when it ends.
    """
    kept = list(victims)
    for index in range(len(kept) - 2, -1, -1):
        charge(kept[index].holder.usage)
        if attempt.fits(is_borrowing):
            kept[index] = kept[-1]
            kept.pop()
        else:
            discharge(kept[index].holder.usage)
    return kept
