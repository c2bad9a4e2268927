"""The workloads that hold quota in one queue, ordered for the search for victims."""

from __future__ import annotations

from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.schedulers.kueue.simulation.ledger import LedgerCell
    from qcheck.schedulers.kueue.simulation.workload import Holder, Job


class AdmittedWorkloads:
    """Holders by priority, and the total of each priority for each cell."""

    def __init__(self) -> None:
        self._by_priority: dict[int, dict[str, Holder]] = {}
        self._totals: dict[int, dict[LedgerCell, int]] = {}

    def __iter__(self) -> Iterator[Holder]:
        for holders in self._by_priority.values():
            yield from holders.values()

    def add(self, holder: Holder) -> None:
        priority = holder.job.priority
        self._by_priority.setdefault(priority, {})[holder.job.name] = holder
        totals = self._totals.setdefault(priority, {})
        for cell, amount in holder.usage.items():
            totals[cell] = totals.get(cell, 0) + amount

    def remove(self, holder: Holder) -> None:
        priority = holder.job.priority
        del self._by_priority[priority][holder.job.name]
        totals = self._totals[priority]
        for cell, amount in holder.usage.items():
            totals[cell] -= amount
        if not self._by_priority[priority]:
            del self._by_priority[priority], self._totals[priority]

    def without(self, is_gone: Callable[[str], bool]) -> AdmittedWorkloads:
        """Return the same without some workloads, by name."""
        rest = AdmittedWorkloads()
        for holder in self:
            if not is_gone(holder.job.name):
                rest.add(holder)
        return rest

    def allowed(self, policy: str, job: Job) -> Iterator[Holder]:
        """Yield the workloads that a job may preempt under a policy: lower ones, newer ones among equals, or any."""
        for priority, holders in self._by_priority.items():
            if policy is PreemptionPolicy.ANY or (policy is not PreemptionPolicy.NEVER and priority < job.priority):
                yield from holders.values()
            elif policy not in (PreemptionPolicy.NEVER, PreemptionPolicy.LOWER_PRIORITY) and priority == job.priority:
                yield from (h for h in holders.values() if h.job.since > job.since)

    def most(self, policy: str, job: Job, cell: LedgerCell) -> int:
        """Return an upper bound of what the workloads of `allowed` hold of a cell."""
        if policy is PreemptionPolicy.NEVER:
            return 0
        is_any, takes_equals = policy is PreemptionPolicy.ANY, policy is not PreemptionPolicy.LOWER_PRIORITY
        return sum(
            totals.get(cell, 0)
            for priority, totals in self._totals.items()
            if is_any or priority < job.priority or (takes_equals and priority == job.priority)
        )
