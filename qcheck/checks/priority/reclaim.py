"""QC308 to QC312: whether owners can reclaim lent quota, and in time."""

from __future__ import annotations

from qcheck.checks.problems import is_refused
from qcheck.checks.queues.unused import holds_quota_for_others
from qcheck.checks.registry import rule
from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.preemption_cost import fails_on_eviction, is_lost, preemption_cost, seconds
from qcheck.schedulers.kueue.priorities import global_default, pod_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Preemption
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.kueue.loans import Loan
    from qcheck.schedulers.kueue.preemption_cost import PreemptionCost

MOST_URGENT = 2**31
"""Above every priority."""


@rule("QC308")
def owner_cannot_reclaim(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that lend but may not preempt borrowers: they get quota back only when the borrowers finish.

    With a profile, reserved queues must be able to preempt borrowers of any priority.
    """
    for owner in cluster.queues:
        limit = None if loans_of(cluster).is_shared(owner) else _reclaim_limit(cluster, owner)
        loan = None if limit is None else loans_of(cluster).main(owner)
        if loan is not None and not _has_nothing_to_reclaim_for(cluster, owner):
            others = [found.borrower.name for found in loans_of(cluster).of(owner, loan.quota)]
            yield (
                finding(
                    _reclaim_place(owner),
                    f"{owner.name} lends up to {lent(loan)} and {limit}",
                )
                .about(owner.id)
                .near(
                    loan.quota.nominal_place, f"nominalQuota {written_amount(loan.quota.resource, loan.quota.nominal)}"
                )
                .near(loan.borrowed.place, f"{loan.borrower.name} may borrow it")
                .with_data(queue=owner.name, resource=loan.quota.resource, lent=loan.amount, borrowers=[*others])
            )


def _has_nothing_to_reclaim_for(cluster: Cluster, owner: ClusterQueue) -> bool:
    """Return whether nobody can submit to the owner, or the API server rejects its policy."""
    return holds_quota_for_others(cluster, owner) or is_refused(cluster, _reclaim_place(owner))


def _reclaim_place(owner: ClusterQueue) -> Place:
    return owner.preemption.place.at("reclaimWithinCohort")


def _reclaim_limit(cluster: Cluster, owner: ClusterQueue) -> str | None:
    """Return what keeps an owner from reclaiming its quota, in words."""
    reclaim = owner.preemption.reclaim
    if reclaim is PreemptionPolicy.NEVER:
        return "can never reclaim it: reclaimWithinCohort is Never"
    if cluster.policy.profile and reclaim is not PreemptionPolicy.ANY and loans_of(cluster).is_reserved(owner):
        return f"reclaims it only from lower priorities: reclaimWithinCohort is {reclaim}"
    return None


def lent(loan: Loan) -> str:
    """Return `8 nvidia.com/gpu of flavor h100`."""
    return f"{name_amount(loan.quota.resource, loan.amount)} of flavor {loan.quota.flavor}"


@rule("QC309")
def borrow_threshold_ineffective(cluster: Cluster) -> Iterator[Finding]:
    """Report thresholds of borrowWithinCohort that let everything or nothing through, and policies without effect."""
    for queue in cluster.queues:
        policy = queue.preemption
        threshold = policy.borrow_threshold
        if threshold is None:
            yield from _borrow_policy_without_effect(cluster, queue)
            continue
        reason, near = _why_ineffective(cluster, policy, threshold)
        if reason:
            found = finding(
                policy.place.at("borrowWithinCohort", "maxPriorityThreshold"),
                f"maxPriorityThreshold {threshold} of {queue.name} has no effect: {reason}",
            ).about(queue.id)
            for place, caption in near:
                found = found.near(place, caption)
            yield found.with_data(queue=queue.name, threshold=threshold)


def _borrow_policy_without_effect(cluster: Cluster, queue: ClusterQueue) -> Iterator[Finding]:
    """Report borrowWithinCohort under fair sharing, which ignores it."""
    manager = cluster.configuration
    policy = queue.preemption
    if policy.borrow is PreemptionPolicy.NEVER or manager is None or not manager.fair_sharing:
        return
    place = policy.place.at("borrowWithinCohort")
    message = f"borrowWithinCohort of {queue.name} has no effect: fair sharing ignores it"
    found = finding(place.key(), message).about(queue.id)
    yield found.near(manager.place.at("fairSharing").key(), "fair sharing is on").with_data(queue=queue.name)


def _why_ineffective(
    cluster: Cluster, policy: Preemption, threshold: int
) -> tuple[str | None, list[tuple[Place, str]]]:
    if policy.borrow is PreemptionPolicy.NEVER:
        return "borrowWithinCohort.policy is Never", [(policy.place.at("borrowWithinCohort", "policy"), "policy Never")]
    manager = cluster.configuration
    if manager is not None and manager.fair_sharing:
        return "fair sharing ignores it", [(manager.place.at("fairSharing").key(), "fair sharing is on")]
    values = _in_use(cluster)
    if not values:
        return None, []
    lowest, highest = min(values), max(values)
    if threshold < lowest:
        reason = f"every priority in use is above it (the lowest is {lowest}), so nothing may be preempted"
        return reason, [(values[lowest], f"the lowest: {lowest}")]
    if threshold >= highest:
        reason = f"no priority in use is above it (the highest is {highest}), so it protects no workload"
        return reason, [(values[highest], f"the highest: {highest}")]
    return None, []


def _in_use(cluster: Cluster) -> dict[int, Place]:
    """Return the priorities that workloads have or may have in Kueue.

    If classes are named, workloads without a label have the default.
    """
    classes = {c.value: c.place.at("value") for c in reversed(cluster.workload_priority_classes)}
    chosen = {c.rank.value: c.rank.place for c in contention_of(cluster).contenders}
    if not classes and len(chosen) < 2:
        return {}
    default = global_default(cluster)
    unlabelled = {default.value: default.place.at("value")} if default else {}
    if not default and classes:
        unlabelled = {0: next(iter(classes.values()))}
    return {**unlabelled, **chosen, **classes}


@rule("QC310")
def priorities_without_preemption(cluster: Cluster) -> Iterator[Finding]:
    """Report several priority classes if nothing may ever be preempted: they only order the queue."""
    classes = sorted(cluster.workload_priority_classes, key=lambda c: c.value)
    if (
        not cluster.queues
        or len({c.value for c in classes}) < 2
        or not all(q.preemption.is_off for q in cluster.queues)
    ):
        return
    first = cluster.queues[0]
    found = finding(
        first.preemption.place.key(),
        f"{len(classes)} WorkloadPriorityClasses range from {classes[0].value} to {classes[-1].value}, but no queue "
        "preempts: they only order admission",
    ).about(first.id)
    for each in (classes[-1], classes[0]):
        found = found.near(each.place.at("value"), f"{each.name}: {each.value}")
    yield found.with_data(queues=len(cluster.queues))


@rule("QC311")
def slow_reclaim(cluster: Cluster, budget: str | int, operators: list[str]) -> Iterator[Finding]:
    """Report workloads on borrowed quota that keep their nodes long after the owner reclaims them."""
    allowed = _duration(budget)
    known = {kind: _duration(text) for kind, _, text in (o.partition("=") for o in operators)}
    for queue in cluster.queues:
        taken = [(w, preemption_cost(w, known)) for w in contention_of(cluster).workloads_of.get(queue.name, ())]
        slow = [(workload, took) for workload, took in taken if took.seconds > allowed]
        loan = _taken_back(cluster, queue) if slow else None
        if loan is not None:
            for workload, took in slow:
                yield _slow(queue, workload, took, loan, allowed)


def _slow(queue: ClusterQueue, workload: Workload, took: PreemptionCost, loan: Loan, allowed: int) -> Finding:
    return (
        finding(
            took.place,
            f"{workload.id} may hold what {queue.name} borrows from {loan.owner.name} for {took.seconds} s after it is "
            f"preempted ({took.reason}); the budget is {allowed} s",
        )
        .about(workload.id)
        .near(loan.owner.preemption.place.at("reclaimWithinCohort"), f"{loan.owner.name} reclaims it")
        .with_data(seconds=took.seconds, budget=allowed, owner=loan.owner.name)
    )


def _duration(text: str | int) -> int:
    """Return the seconds of a parameter; a plain number is in seconds. Raises `ValueError` with the fault."""
    found = text if isinstance(text, int) else seconds(text)
    if found is None or found < 0:
        raise ValueError(f"{text!r} is not a duration; write 90s, 5m or 1h30m")
    return found


def _taken_back(cluster: Cluster, queue: ClusterQueue) -> Loan | None:
    """Return what a queue borrows from an owner that may preempt it."""
    return next((loan for loan in loans_of(cluster).to(queue) if loan.is_reclaimable), None)


@rule("QC312")
def not_preemption_tolerant(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads on borrowed quota that do not survive its loss."""
    for queue in cluster.queues:
        lost = [
            (w, why)
            for w in contention_of(cluster).workloads_of.get(queue.name, ())
            if (why := _why_lost(w)) is not None
        ]
        loan = _taken_back(cluster, queue) if lost else None
        if loan is None:
            continue
        strongest = _strongest_owner(cluster, queue)
        for workload, (place, text) in lost:
            if is_lost(workload) or _may_be_evicted(cluster, workload, strongest):
                yield _not_tolerant(queue, workload, place, text, loan)


def _not_tolerant(queue: ClusterQueue, workload: Workload, place: Place, text: str, loan: Loan) -> Finding:
    owner = loan.owner
    return (
        finding(place, f"{workload.id} uses quota that {queue.name} borrows from {owner.name}, and {text}")
        .about(workload.id)
        .near(owner.preemption.place.at("reclaimWithinCohort"), f"{owner.name} reclaims it")
        .with_data(owner=owner.name)
    )


def _why_lost(workload: Workload) -> tuple[Place, str] | None:
    if is_lost(workload):
        return workload.place.at("kind"), "no controller recreates a bare Pod after preemption"
    if not fails_on_eviction(workload):
        return None
    if workload.on_disruption == "FailJob":
        return workload.place.at(
            "spec", "podFailurePolicy"
        ).key(), "its podFailurePolicy fails it on the first eviction"
    place = workload.retries_place or workload.place
    return place, "the first pod that kube-scheduler evicts fails it: backoffLimit is 0 and eviction is not ignored"


def _strongest_owner(cluster: Cluster, queue: ClusterQueue) -> int | None:
    """Return the highest priority with which owners' pods may evict a queue's pods; None if no such pod is known.

    For a queue that is meant to borrow, it is the highest possible.
    """
    loans = loans_of(cluster)
    if any(loans.is_by_nature(queue, cell) for cell in loans.cells_to(queue)):
        return MOST_URGENT
    owners = (c for c in contention_of(cluster).most_urgent if loans.between(c.queue, queue) is not None)
    return next((c.highest.value for c in owners), None)


def _may_be_evicted(cluster: Cluster, workload: Workload, strongest: int | None) -> bool:
    """Return whether kube-scheduler may evict single pods. Kueue suspends the whole workload, which costs no retry."""
    ranks = pod_ranks(cluster, workload)
    return strongest is not None and ranks is not None and ranks[0].value < strongest
