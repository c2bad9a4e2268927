"""Preemption with fair sharing: whom a workload preempts so that shares become more equal.

Source: Kueue 0.20 `pkg/scheduler/preemption/preemption.go`, `fairsharing/ordering.go`, `fairsharing/strategy.go`.
"""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.simulation.dominant_share import dominant_share
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge
from qcheck.schedulers.kueue.simulation.outcomes import Cause
from qcheck.schedulers.kueue.simulation.victims import Victim, spared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.schedulers.kueue.simulation.dominant_share import DominantShare
    from qcheck.schedulers.kueue.simulation.ledger import LedgerNode
    from qcheck.schedulers.kueue.simulation.victims import Attempt
    from qcheck.schedulers.kueue.simulation.workload import Holder

    Lists = dict[str, list[Holder]]
    """The remaining candidates, by queue, in the order in which they go."""


class Strategy(StrEnum):
    """The condition under which a preemptor may take from another side of the tree."""

    FINAL = "LessThanOrEqualToFinalShare"
    INITIAL = "LessThanInitialShare"

    def allows(self, new: DominantShare, before: DominantShare, after: DominantShare) -> bool:
        """Compare the preemptor's share with the workload to the other side's before and after the preemption."""
        return new <= after if self is Strategy.FINAL else new < before


DEFAULT_STRATEGIES = (Strategy.FINAL, Strategy.INITIAL)


def victims(attempt: Attempt, strategies: tuple[Strategy, ...], takes_own_quota: bool) -> list[Victim]:
    """Return the workloads to preempt so that the request fits; empty if impossible.

    `takes_own_quota`: see `_FairSearch`.
    """
    lists = _candidates(attempt) if attempt.could_fit(takes_others=True) else {}
    return _FairSearch(attempt, lists, strategies, takes_own_quota).run() if lists else []


def _candidates(attempt: Attempt) -> Lists:
    found = []
    for queue in attempt.node.root.queues_below():
        if queue is attempt.node or not queue.is_within_nominal(attempt.keys):
            found += attempt.candidates(queue, attempt.keys)
    lists: Lists = {}
    for holder in attempt.sorted(found):
        lists.setdefault(holder.job.queue, []).append(holder)
    return lists


class _FairSearch:
    """One search. `takes_own_quota`: a preemptor within its own quota preempts borrowers regardless of shares."""

    def __init__(self, attempt: Attempt, lists: Lists, strategies: tuple[Strategy, ...], takes_own_quota: bool) -> None:
        self._attempt = attempt
        self._lists = lists
        self._strategies = strategies
        self._takes_own_quota = takes_own_quota
        self._removed: list[Victim] = []
        self._set_aside: Lists = {}

    def run(self) -> list[Victim]:
        """Return the victims. The ledger ends up unchanged."""
        attempt = self._attempt
        charge(attempt.wanted)
        found = self._by_first_strategy() or (len(self._strategies) > 1 and self._by_second_strategy())
        discharge(attempt.wanted)
        kept = spared(attempt, self._removed, True) if found else []
        for victim in kept if found else self._removed:
            charge(victim.holder.usage)
        return kept

    def _by_first_strategy(self) -> bool:
        takes_own = self._takes_own_quota and self._attempt.node.is_within_nominal(self._attempt.keys)
        for queue in _Walk(self._attempt, self._lists):
            candidates = self._lists[queue.name]
            if queue is self._attempt.node:
                taken, cause = candidates.pop(0), Cause.IN_QUEUE
            elif takes_own:
                taken, cause = candidates.pop(0), Cause.RECLAMATION
            else:
                fair = self._first_allowed(queue, candidates)
                if fair is None:
                    continue
                taken, cause = fair, Cause.FAIR_SHARING
            if self._fits_without(taken, cause):
                return True
        return False

    def _first_allowed(self, queue: LedgerNode, candidates: list[Holder]) -> Holder | None:
        """Return the first candidate of a queue that the strategy allows; those before it are set aside."""
        mine, theirs = _below_meeting(self._attempt.node, queue)
        new, before = dominant_share(mine), dominant_share(theirs)
        aside = self._set_aside.setdefault(queue.name, [])
        while candidates:
            candidate = candidates.pop(0)
            discharge(candidate.usage)
            after = dominant_share(theirs)
            charge(candidate.usage)
            if self._strategies[0].allows(new, before, after):
                return candidate
            aside.append(candidate)
        return None

    def _by_second_strategy(self) -> bool:
        """Take one workload of each queue if the preemptor's share is lower than the other side's."""
        lists = {name: candidates for name, candidates in self._set_aside.items() if candidates}
        for queue in _Walk(self._attempt, lists):
            mine, theirs = _below_meeting(self._attempt.node, queue)
            new, before = dominant_share(mine), dominant_share(theirs)
            first = lists.pop(queue.name)[0]
            if self._strategies[1].allows(new, before, before) and self._fits_without(first, Cause.FAIR_SHARING):
                return True
        return False

    def _fits_without(self, holder: Holder, cause: Cause) -> bool:
        """Remove a workload and test the request, which is already charged."""
        discharge(holder.usage)
        self._removed.append(Victim(holder, cause))
        discharge(self._attempt.wanted)
        fits = self._attempt.fits()
        charge(self._attempt.wanted)
        return fits


def _below_meeting(one: LedgerNode, other: LedgerNode) -> tuple[LedgerNode, LedgerNode]:
    """Return the two nodes just below the lowest common cohort."""
    mine, theirs = one.path, other.path
    meeting = next(node for node in mine[1:] if node in theirs)
    return mine[mine.index(meeting) - 1], theirs[theirs.index(meeting) - 1]


class _Walk:
    """Yields the queue from which to take next: from the root down, the largest share first."""

    def __init__(self, attempt: Attempt, lists: Lists) -> None:
        self._attempt = attempt
        self._lists = lists
        self._above = set(attempt.node.path)
        self._dropped: set[LedgerNode] = set()

    def __iter__(self) -> Iterator[LedgerNode]:
        own = self._attempt.node
        if own.parent is None:
            while self._lists.get(own.name):
                yield own
            return
        root = own.root
        while root not in self._dropped:
            queue = self._next(root)
            if queue is not None:
                yield queue

    def _next(self, cohort: LedgerNode) -> LedgerNode | None:
        """Return the queue to take from below a cohort; None if something was dropped, so that the walk restarts."""
        queue = self._largest_queue(cohort)
        child = self._largest_cohort(cohort)
        if child is not None and (queue is None or dominant_share(child) >= dominant_share(queue)):
            return self._next(child)
        if queue is None:
            self._dropped.add(cohort)
        return queue

    def _largest_queue(self, cohort: LedgerNode) -> LedgerNode | None:
        best: LedgerNode | None = None
        for queue in cohort.queues:
            if queue in self._dropped:
                continue
            if not self._lists.get(queue.name) or (queue is not self._attempt.node and not queue.borrows):
                self._dropped.add(queue)
            elif best is None or self._goes_before(queue, best):
                best = queue
        return best

    def _goes_before(self, queue: LedgerNode, best: LedgerNode) -> bool:
        mine, theirs = dominant_share(queue), dominant_share(best)
        if mine != theirs:
            return mine > theirs
        first = self._lists[queue.name][0]
        return self._attempt.sorted((self._lists[best.name][0], first))[0] is first

    def _largest_cohort(self, cohort: LedgerNode) -> LedgerNode | None:
        """Return the child cohort with the largest share; among equals, where Kueue chooses randomly, the first."""
        left = []
        for child in cohort.cohorts:
            if child in self._dropped:
                continue
            if not child.borrows and child not in self._above:
                self._dropped.add(child)
            else:
                left.append(child)
        return max(left, key=dominant_share, default=None)
