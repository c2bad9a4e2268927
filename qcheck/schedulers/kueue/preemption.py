"""The preemption matrix: who may preempt whom, by which setting, and whether lent quota is reclaimed.

Source: Kueue 0.19 `pkg/scheduler/preemption` (classical and fair sharing). It compares policies and priorities, not
running workloads; amounts are the most that could be lent.
"""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.kueue import ClusterQueue, Preemption, PreemptionPolicy, Quota
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.preemption_cost import DEFAULT_GRACE, preemption_cost
from qcheck.schedulers.kueue.priorities import global_default

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kueue.loans import Loan

Slowest = dict[str, tuple[int, str]]
"""The seconds and the workload that needs them, by the name of its ClusterQueue."""


class ComesBack(StrEnum):
    """From whom an owner can reclaim: from any workload, from strictly lower priorities, or from none."""

    ALWAYS = "always"
    FROM_LOWER = "lower priorities only"
    NEVER = "never"


class LendingClaim(Value):
    """The means of one owner to reclaim quota of one cell from its holders.

    `holders` are queues with the same outcome; together they can hold at most `amount` base units. `seconds` is the
    longest time until the nodes are free, `slowest` the workload that needs it; None if nothing is preempted.
    `is_assumed`: no workload of the holders is known, so the default grace period applies.
    """

    owner: ClusterQueue
    quota: Quota
    holders: tuple[str, ...]
    amount: int
    outcome: ComesBack
    why: str
    seconds: int | None
    slowest: str | None
    is_assumed: bool


class Stance(Value):
    """The preemption policy of one queue, and in `effects` the actual effect of the combination."""

    queue: ClusterQueue
    effects: tuple[str, ...]


class Matrix(Value):
    """The preemption report of one cluster. `profile` is the profile in the settings, or None."""

    cluster: str
    fair_sharing: bool
    profile: str | None
    stances: tuple[Stance, ...]
    claims: tuple[LendingClaim, ...]


def preemption_matrix(cluster: Cluster) -> Matrix:
    """Return the matrix of a cluster: every queue's stance, and a claim for every cell that it lends."""
    fair = cluster.configuration is not None and cluster.configuration.fair_sharing
    known = _known(cluster)
    stances = tuple(Stance(q, tuple(_effects(cluster, q, fair, known.differ))) for q in cluster.queues)
    claims = tuple(c for q in cluster.queues for c in _claims(cluster, q))
    return Matrix(
        cluster=cluster.name, fair_sharing=fair, profile=cluster.policy.profile, stances=stances, claims=claims
    )


def _claims(cluster: Cluster, owner: ClusterQueue) -> Iterator[LendingClaim]:
    """Yield the claims of one owner, only for accelerators if it has any."""
    cells = list(owner.quotas())
    for quota in [q for q in cells if is_compute(q.resource)] or cells:
        yield from claims_on(cluster, owner, quota)


def claims_on(cluster: Cluster, owner: ClusterQueue, quota: Quota) -> Iterator[LendingClaim]:
    """Yield the claims of an owner on its quota of one cell, one for holders with the same outcome."""
    known = _known(cluster)
    outcomes: dict[tuple[ComesBack, str], list[Loan]] = {}
    for loan in loans_of(cluster).of(owner, quota):
        outcomes.setdefault(_outcome(known, loan), []).append(loan)
    for (outcome, why), loans in outcomes.items():
        yield _claim(cluster, outcome, why, loans, known)


def _claim(cluster: Cluster, outcome: ComesBack, why: str, loans: list[Loan], known: Known) -> LendingClaim:
    owner, quota = loans[0].owner, loans[0].quota
    names = tuple(sorted(loan.borrower.name for loan in loans))
    amount = min(cohort_tree(cluster).lent(owner.name, quota.key), sum(loan.amount for loan in loans))
    slowest = max((known.slowest[n] for n in names if n in known.slowest), default=None)
    seconds, workload = (None, None) if outcome is ComesBack.NEVER else slowest or (DEFAULT_GRACE, None)
    return LendingClaim(
        owner=owner,
        quota=quota,
        holders=names,
        amount=amount,
        outcome=outcome,
        why=why,
        seconds=seconds,
        slowest=workload,
        is_assumed=outcome is not ComesBack.NEVER and slowest is None,
    )


def _teardowns(cluster: Cluster) -> Slowest:
    """Return the slowest teardown among the known workloads of each queue."""
    slowest: Slowest = {}
    for workload, queue in contention_of(cluster).queued:
        took = preemption_cost(workload, {}).seconds
        if took > slowest.get(queue.name, (-1, ""))[0]:
            slowest[queue.name] = took, str(workload.id)
    return slowest


class Known(Value):
    """Known facts about the workloads of a cluster.

    These are Kueue's lowest and highest priority in each queue, the slowest teardown, and whether priorities differ at
    all.
    """

    ranks: dict[str, tuple[int, int]]
    slowest: Slowest
    differ: bool


@view
def _known(cluster: Cluster) -> Known:
    values = {name: [c.rank.value for c in members] for name, members in contention_of(cluster).of_queue.items()}
    ranks = {name: (min(v), max(v)) for name, v in values.items()}
    return Known(ranks, _teardowns(cluster), differs(cluster))


def _outcome(known: Known, loan: Loan) -> tuple[ComesBack, str]:
    """Return the effect of the owner's reclaimWithinCohort on one borrower, and the reason."""
    reclaim = loan.owner.preemption.reclaim
    if reclaim is PreemptionPolicy.NEVER:
        return ComesBack.NEVER, "reclaimWithinCohort is Never: the quota returns only when the borrowers finish"
    if reclaim is PreemptionPolicy.ANY:
        return ComesBack.ALWAYS, "reclaimWithinCohort is Any: borrowers of every priority are preempted"
    mine, theirs = known.ranks.get(loan.owner.name), known.ranks.get(loan.borrower.name)
    if mine and theirs and mine[1] <= theirs[0]:
        return ComesBack.NEVER, f"reclaimWithinCohort is LowerPriority, and no borrower is below the owner's {mine[1]}"
    if mine and theirs and mine[0] > theirs[1]:
        return (
            ComesBack.ALWAYS,
            f"reclaimWithinCohort is LowerPriority, and all borrowers are below the owner's {mine[0]}",
        )
    if not known.differ:
        return ComesBack.NEVER, "reclaimWithinCohort is LowerPriority, and all workloads have one priority"
    return (
        ComesBack.FROM_LOWER,
        "reclaimWithinCohort is LowerPriority: borrowers of strictly lower priority are preempted",
    )


def differs(cluster: Cluster) -> bool:
    """Return whether two workloads can have different priorities in Kueue: some class differs from the default."""
    default = global_default(cluster)
    base = default.value if default else 0
    values = [c.value for c in cluster.workload_priority_classes]
    values += [c.value for c in cluster.priority_classes]
    values += [c.rank.value for c in contention_of(cluster).contenders]
    return not cluster.has_all("WorkloadPriorityClass", "PriorityClass") or any(v != base for v in values)


def _effects(cluster: Cluster, queue: ClusterQueue, fair: bool, differ: bool) -> Iterator[str]:
    """Yield the effects of a combination of policies, in the order of its fields."""
    policy = queue.preemption
    if policy.within_queue is PreemptionPolicy.NEVER:
        yield "its workloads do not preempt each other"
    elif _never_simulated(cluster, queue, fair):
        yield f"withinClusterQueue {policy.within_queue} has no effect: nominalQuota is 0, so every workload borrows"
    else:
        newer = " or of the same and newer" if policy.within_queue is not PreemptionPolicy.LOWER_PRIORITY else ""
        yield f"its workloads preempt its own of lower priority{newer}"
    if cohort_tree(cluster).root(queue.name) is None:
        yield "it is in no cohort: only withinClusterQueue applies"
        return
    if loans_of(cluster).main(queue) is None:
        yield "it lends no quota that others can use"
    else:
        yield _reclaim_effect(policy, differ)
    yield from _borrow_effects(policy, fair)
    owners = [loan.owner.name for loan in loans_of(cluster).to(queue) if loan.is_reclaimable]
    if owners:
        yield f"borrowed quota can be reclaimed by {', '.join(owners) if len(owners) < 4 else f'{len(owners)} owners'}"


def _reclaim_effect(policy: Preemption, differ: bool) -> str:
    if policy.reclaim is PreemptionPolicy.NEVER:
        return "it gets lent quota back only when borrowers finish"
    if policy.reclaim is PreemptionPolicy.ANY:
        return "it reclaims its quota from any borrower"
    if not differ:
        return "reclaimWithinCohort LowerPriority is the same as Never, as all workloads have one priority"
    return "it reclaims its quota from borrowers of strictly lower priority"


def _borrow_effects(policy: Preemption, fair: bool) -> Iterator[str]:
    if policy.borrow is PreemptionPolicy.NEVER:
        return
    if fair:
        yield "borrowWithinCohort has no effect under fair sharing"
        return
    limit = f" of at most {policy.borrow_threshold}" if policy.borrow_threshold is not None else ""
    yield f"while borrowing it preempts other borrowers of lower priority{limit}"


def _never_simulated(cluster: Cluster, queue: ClusterQueue, fair: bool) -> bool:
    """Return whether Kueue never searches for candidates: in a flat cohort without quota, except to borrow."""
    if (
        fair
        or queue.preemption.borrow is not PreemptionPolicy.NEVER
        or not queue.parent
        or any(q.nominal for q in queue.quotas())
    ):
        return False
    return len(list(cohort_tree(cluster).ancestors(queue.parent))) == 1
