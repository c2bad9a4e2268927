"""The common part of both searches for victims: the candidates, their order, and which of the removed ones may stay.

Source: Kueue 0.20 `pkg/scheduler/preemption/preemption.go`, `common/ordering.go`.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.cluster.kueue import ClusterQueue, FlavorResource
    from qcheck.schedulers.kueue.simulation.admitted import AdmittedWorkloads
    from qcheck.schedulers.kueue.simulation.ledger import LedgerCell, LedgerNode
    from qcheck.schedulers.kueue.simulation.outcomes import Cause
    from qcheck.schedulers.kueue.simulation.workload import Holder, Job

    Holders = Mapping[str, AdmittedWorkloads]
    """Running workloads by queue."""


class Victim(Value):
    """A workload to preempt, and Kueue's reason for it."""

    holder: Holder
    cause: Cause


class Attempt(Value, cached=True):
    """A search for victims: the preemptor, the amounts it wants by cell, and the cells in which others must give way.

    `holders` are the possible victims, without those that are already gone in this cycle.
    """

    job: Job
    queue: ClusterQueue
    node: LedgerNode
    wanted: Mapping[LedgerCell, int]
    in_need: frozenset[LedgerCell]
    holders: Holders

    @cached_property
    def keys(self) -> tuple[FlavorResource, ...]:
        """The cells in need by the key that they have in every node."""
        return tuple(cell.key for cell in self.in_need)

    def fits(self, is_borrowing: bool = True) -> bool:
        """Return whether the request fits now; without borrowing also within the queue's own quota."""
        return all(
            cell.takes(amount) and (is_borrowing or cell.usage + amount <= cell.nominal)
            for cell, amount in self.wanted.items()
        )

    def candidates(self, node: LedgerNode, keys: Iterable[FlavorResource]) -> list[Holder]:
        """Return the workloads of a queue that hold quota in a cell in need and that the policy lets be preempted."""
        cells = [node.cells[k] for k in keys if k in node.cells]
        allowed = self.holders[node.name].allowed(self._policy(node), self.job)
        return [h for h in allowed if any(c in h.usage for c in cells)]

    def _policy(self, node: LedgerNode) -> str:
        policy = self.queue.preemption
        return policy.within_queue if node is self.node else policy.reclaim

    def could_fit(self, takes_others: bool) -> bool:
        """Return whether the request fits without all candidates for preemption, in all queues or only in its own."""
        nodes = self.node.root.queues_below() if takes_others else (self.node,)
        freed = [pair for node in nodes for pair in self._freed(node)]
        for cell, amount in freed:
            cell.remove(amount)
        fits = self.fits()
        for cell, amount in freed:
            cell.add(amount)
        return fits

    def could_be_within_quota(self) -> bool:
        """Return whether the request is within the queue's quota without all candidates of the same queue."""
        freed = dict(self._freed(self.node))
        return all(c.usage - freed.get(c, 0) + amount <= c.nominal for c, amount in self.wanted.items())

    def _freed(self, node: LedgerNode) -> Iterator[tuple[LedgerCell, int]]:
        """Yield upper bounds of what candidates of a queue hold of the wanted cells."""
        policy = self._policy(node)
        if policy is PreemptionPolicy.NEVER or (node is not self.node and node.is_within_nominal(self.keys)):
            return
        held = self.holders[node.name]
        for wanted in self.wanted:
            cell = node.cells.get(wanted.key)
            amount = held.most(policy, self.job, cell) if cell is not None else 0
            if cell is not None and amount:
                yield cell, amount

    def sorted(self, candidates: Iterable[Holder]) -> list[Holder]:
        """Return candidates in the order in which they go."""
        return sorted(candidates, key=self.turn)

    def turn(self, holder: Holder) -> tuple[bool, bool, int, int, str]:
        """Return the sort key of victims: those being evicted, other queues, lower priority, later reservation."""
        job = holder.job
        return holder.evicted_by is None, job.queue == self.job.queue, job.priority, -holder.since, job.name


def spared(attempt: Attempt, victims: list[Victim], is_borrowing: bool) -> list[Victim]:
    """Return the victims that are needed: from the last but one to the first, those that may stay are put back.

    All victims are removed from the ledger at the call; at the return, only those returned are.
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
