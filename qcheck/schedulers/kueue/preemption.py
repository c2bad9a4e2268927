"""The preemption matrix: who may preempt whom, by which setting, and whether lent quota is reclaimed.

Source: Kueue 0.19 `pkg/scheduler/preemption` (classical and fair sharing). It compares policies and priorities, not
running workloads; amounts are the most that could be lent.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import chain

from qcheck.cluster.kueue import ClusterQueue, Preemption, PreemptionPolicy, Quota
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.schedulers.kueue.borrower_groups import borrower_groups
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.preemption_cost import DEFAULT_GRACE
from qcheck.schedulers.kueue.priorities import global_default

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kueue.borrower_groups import BorrowerGroup
    from qcheck.schedulers.kueue.competitors import Ranks


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
    stances = tuple(Stance(q, tuple(_effects(cluster, q, fair))) for q in cluster.queues)
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
    if min(quota.nominal, cohort_tree(cluster).lent(owner.name, quota.key)) <= 0:
        return
    outcomes: dict[tuple[ComesBack, str], list[BorrowerGroup]] = {}
    for group in borrower_groups(cluster, owner, quota.key):
        outcomes.setdefault(_outcome(cluster, owner, group.ranks), []).append(group)
    for (outcome, why), groups in outcomes.items():
        yield _claim(cluster, owner, quota, outcome, why, groups)


def _claim(
    cluster: Cluster,
    owner: ClusterQueue,
    quota: Quota,
    outcome: ComesBack,
    why: str,
    groups: list[BorrowerGroup],
) -> LendingClaim:
    lent = cohort_tree(cluster).lent(owner.name, quota.key)
    total = sum(group.borrowed(min(quota.nominal, lent), owner.name) for group in groups)
    slowest = max((found for group in groups if (found := group.slowest(owner.name)) is not None), default=None)
    seconds, workload = (None, None) if outcome is ComesBack.NEVER else slowest or (DEFAULT_GRACE, None)
    return LendingClaim(
        owner=owner,
        quota=quota,
        holders=_holders(groups, owner.name),
        amount=min(lent, total),
        outcome=outcome,
        why=why,
        seconds=seconds,
        slowest=workload,
        is_assumed=outcome is not ComesBack.NEVER and slowest is None,
    )


def _holders(groups: list[BorrowerGroup], owner: str) -> tuple[str, ...]:
    names = sorted(chain.from_iterable(group.names for group in groups))
    return tuple([name for name in names if name != owner])


def _outcome(cluster: Cluster, owner: ClusterQueue, theirs: Ranks | None) -> tuple[ComesBack, str]:
    """Return the effect of the owner's reclaimWithinCohort on borrowers of some priorities, and the reason."""
    reclaim = owner.preemption.reclaim
    if reclaim is PreemptionPolicy.NEVER:
        return ComesBack.NEVER, "reclaimWithinCohort is Never: the quota returns only when the borrowers finish"
    if reclaim is PreemptionPolicy.ANY:
        return ComesBack.ALWAYS, "reclaimWithinCohort is Any: borrowers of every priority are preempted"
    mine = contention_of(cluster).ranks.get(owner.name)
    if mine and theirs and mine[1] <= theirs[0]:
        return ComesBack.NEVER, f"reclaimWithinCohort is LowerPriority, and no borrower is below the owner's {mine[1]}"
    if mine and theirs and mine[0] > theirs[1]:
        return (
            ComesBack.ALWAYS,
            f"reclaimWithinCohort is LowerPriority, and all borrowers are below the owner's {mine[0]}",
        )
    if not differs(cluster):
        return ComesBack.NEVER, "reclaimWithinCohort is LowerPriority, and all workloads have one priority"
    return (
        ComesBack.FROM_LOWER,
        "reclaimWithinCohort is LowerPriority: borrowers of strictly lower priority are preempted",
    )


@view
def differs(cluster: Cluster) -> bool:
    """Return whether two workloads can have different priorities in Kueue: some class differs from the default."""
    default = global_default(cluster)
    base = default.value if default else 0
    values = [c.value for c in cluster.workload_priority_classes]
    values += [c.value for c in cluster.priority_classes]
    values += [c.rank.value for c in contention_of(cluster).contenders]
    return not cluster.has_all("WorkloadPriorityClass", "PriorityClass") or any(v != base for v in values)


def _effects(cluster: Cluster, queue: ClusterQueue, fair: bool) -> Iterator[str]:
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
        yield _reclaim_effect(policy, differs(cluster))
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
