"""Classical preemption: whom a workload preempts without fair sharing.

Source: Kueue 0.20 `pkg/scheduler/preemption/preemption.go`, `classical/candidate_generator.go`,
`classical/hierarchical_preemption.go`.
"""

from __future__ import annotations

from itertools import pairwise

from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge
from qcheck.schedulers.kueue.simulation.outcomes import Cause
from qcheck.schedulers.kueue.simulation.victims import Victim, spared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.kueue import FlavorResource
    from qcheck.schedulers.kueue.simulation.ledger import LedgerNode
    from qcheck.schedulers.kueue.simulation.victims import Attempt
    from qcheck.schedulers.kueue.simulation.workload import Holder


class Candidate(Value):
    """A possible victim. `meeting` is the lowest cohort shared with the preemptor; None in the preemptor's own queue.

    `not_borrowing`: it may only go while the preemptor stays within its own quota.
    """

    holder: Holder
    node: LedgerNode
    meeting: LedgerNode | None
    cause: Cause
    not_borrowing: bool = False


class Ancestor(Value):
    """A cohort above the preemptor. `below`: the node on the way to it, whose side was already searched.

    `is_entitled`: the request fits into the quota of a node below, so candidates here are reclaimed, not competed with.
    """

    cohort: LedgerNode
    below: LedgerNode
    is_entitled: bool


def victims(attempt: Attempt) -> list[Victim]:
    """Return the workloads to preempt so that the attempt's request fits; empty if it cannot fit."""
    ancestors = _ancestors(attempt)
    if _is_hopeless(attempt, ancestors):
        return []
    own, hierarchy, rivals = _own(attempt), *_others(attempt, ancestors)
    ordered = [c for group in (hierarchy, rivals, own) for c in group if c.holder.evicted_by is not None]
    ordered += [c for group in (hierarchy, rivals, own) for c in group if c.holder.evicted_by is None]
    if not ordered:
        return []
    for is_borrowing in _attempts(attempt, bool(hierarchy), bool(rivals)):
        found = _search(attempt, ordered, is_borrowing)
        if found:
            return found
    return []


def _is_hopeless(attempt: Attempt, ancestors: list[Ancestor]) -> bool:
    """Return whether no attempt can succeed, by the candidates' total: most searches end here."""
    takes_others = attempt.queue.preemption.borrow is not PreemptionPolicy.NEVER or any(
        a.is_entitled for a in ancestors
    )
    if attempt.could_fit(takes_others):
        return False
    return not (attempt.could_be_within_quota() and attempt.could_fit(takes_others=True))


def _attempts(attempt: Attempt, has_hierarchy: bool, has_rivals: bool) -> tuple[bool, ...]:
    """Return whether the request may borrow, in the order of the attempts."""
    is_set = attempt.queue.preemption.borrow is not PreemptionPolicy.NEVER
    is_full = any(cell.usage >= cell.nominal for cell in attempt.in_need)
    if not (has_hierarchy or has_rivals) or (not is_set and is_full):
        return (True,)
    return (False, True) if not is_set and not has_hierarchy else (True, False)


def _own(attempt: Attempt) -> list[Candidate]:
    found = attempt.sorted(attempt.candidates(attempt.node, attempt.keys))
    return [Candidate(holder=h, node=attempt.node, meeting=None, cause=Cause.IN_QUEUE) for h in found]


def _ancestors(attempt: Attempt) -> list[Ancestor]:
    """Return the ancestors. At each, the free part of what stays there reduces the rest of the request."""
    rest = dict(attempt.wanted)
    cells = {cell: cell for cell in rest}
    found: list[Ancestor] = []
    is_entitled = False
    for below, cohort in pairwise(attempt.node.path):
        is_entitled = is_entitled or all(c.usage + rest[first] <= c.subtree for first, c in cells.items())
        found.append(Ancestor(cohort, below, is_entitled))
        for first, cell in cells.items():
            rest[first] = max(0, rest[first] - cell.local_free)
        cells = {first: cell.parent for first, cell in cells.items() if cell.parent is not None}
    return found


def _others(attempt: Attempt, ancestors: list[Ancestor]) -> tuple[list[Candidate], list[Candidate]]:
    """Return candidates of other queues: those that the preemptor's quota reclaims, and those it competes with."""
    hierarchy: list[Candidate] = []
    rivals: list[Candidate] = []
    if attempt.queue.preemption.reclaim is PreemptionPolicy.NEVER:
        return hierarchy, rivals
    for each in ancestors:
        found = _under(each.cohort, each.below, attempt, attempt.keys)
        if each.is_entitled:
            hierarchy += [
                Candidate(holder=h, node=node, meeting=each.cohort, cause=Cause.RECLAMATION) for h, node in found
            ]
        else:
            rivals += [_rival(attempt, h, node, each.cohort) for h, node in found]
    hierarchy.sort(key=lambda c: attempt.turn(c.holder))
    rivals.sort(key=lambda c: attempt.turn(c.holder))
    return hierarchy, rivals


def _under(
    cohort: LedgerNode, seen: LedgerNode, attempt: Attempt, keys: tuple[FlavorResource, ...]
) -> Iterator[tuple[Holder, LedgerNode]]:
    """Yield candidates below a cohort, except those already searched or within their own quota in the cells in need."""
    for child in cohort.cohorts:
        if child is not seen and not child.is_within_nominal(keys):
            yield from _under(child, seen, attempt, keys)
    for queue in cohort.queues:
        if queue is not attempt.node and not queue.is_within_nominal(keys):
            yield from ((h, queue) for h in attempt.candidates(queue, keys))


def _rival(attempt: Attempt, holder: Holder, node: LedgerNode, meeting: LedgerNode) -> Candidate:
    """Return a candidate that may only be taken while borrowing if borrowWithinCohort allows it."""
    policy = attempt.queue.preemption
    threshold, priority = policy.borrow_threshold, holder.job.priority
    is_spared = (
        policy.borrow is PreemptionPolicy.NEVER
        or priority >= attempt.job.priority
        or (threshold is not None and priority > threshold)
    )
    cause = Cause.RECLAMATION if is_spared else Cause.WHILE_BORROWING
    return Candidate(holder=holder, node=node, meeting=meeting, cause=cause, not_borrowing=is_spared)


def _search(attempt: Attempt, ordered: list[Candidate], is_borrowing: bool) -> list[Victim]:
    """Remove candidates until the request fits, then put back all that may stay; the ledger ends up unchanged."""
    removed: list[Victim] = []
    for candidate in ordered:
        if candidate.meeting is not None and not _may_go(attempt, candidate, candidate.meeting, is_borrowing):
            continue
        discharge(candidate.holder.usage)
        removed.append(Victim(candidate.holder, candidate.cause))
        if attempt.fits(is_borrowing):
            kept = spared(attempt, removed, is_borrowing)
            for victim in kept:
                charge(victim.holder.usage)
            return kept
    for victim in removed:
        charge(victim.holder.usage)
    return []


def _may_go(attempt: Attempt, candidate: Candidate, meeting: LedgerNode, is_borrowing: bool) -> bool:
    """Return whether a candidate of another queue still counts: removals may leave its side within quota."""
    if is_borrowing and candidate.not_borrowing:
        return False
    for node in candidate.node.path:
        if node is meeting:
            return True
        if node.is_within_nominal(attempt.keys):
            return False
    return True
