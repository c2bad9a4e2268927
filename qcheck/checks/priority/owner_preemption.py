"""QC318: owners whose pods kube-scheduler does not preempt for."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.loans import loans_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kueue.competitors import Contender
    from qcheck.schedulers.kueue.loans import Loan
    from qcheck.schedulers.kueue.priorities import Rank


@rule("QC318")
def owner_never_preempts(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that lend and whose pods never preempt; one finding for each priority class."""
    by_rank: dict[str | None, tuple[Loan, Rank, list[Contender], Contender | None]] = {}
    for queue in cluster.queues:
        owners = contention_of(cluster).of_queue.get(queue.name, ())
        waiting = [(owner, rank) for owner in owners if (rank := _never_preempting(owner)) is not None]
        loan = loans_of(cluster).main(queue) if waiting and not loans_of(cluster).is_shared(queue) else None
        if loan is None:
            continue
        for owner, rank in waiting:
            below = _below(cluster, owner, rank)
            if below is not None or _borrowers_are_unknown(cluster, loan, rank):
                by_rank.setdefault(rank.name, (loan, rank, [], below))[2].append(owner)
    for loan, rank, owners, below in by_rank.values():
        yield _finding(cluster, loan, rank, owners, below)


def _never_preempting(owner: Contender) -> Rank | None:
    """Return the lowest priority of the owner's pods that never preempts; None if no class sets it."""
    rank = next((r for r in owner.pods if not r.preempts), None)
    return None if rank is None or rank.name is None else rank


def _below(cluster: Cluster, owner: Contender, rank: Rank) -> Contender | None:
    """Return a borrower on the same nodes whose pods preemption would evict."""
    for borrower in contention_of(cluster).contenders:
        meets = not borrower.grounds.isdisjoint(owner.grounds) and borrower.lowest.value < rank.value
        if meets and loans_of(cluster).between(owner.queue, borrower.queue) is not None:
            return borrower
    return None


def _borrowers_are_unknown(cluster: Cluster, loan: Loan, rank: Rank) -> bool:
    """Return whether a queue that lives on loans has no workloads here; its pods then count as pods without a class."""
    has_workloads = bool(contention_of(cluster).workloads_of.get(loan.borrower.name))
    return not has_workloads and loans_of(cluster).is_by_nature(loan.borrower, loan.quota.key) and rank.value > 0


def _finding(cluster: Cluster, loan: Loan, rank: Rank, owners: list[Contender], below: Contender | None) -> Finding:
    queue = loan.owner.name
    known = cluster.priority_class.get(rank.name or "")
    place = known.place.at("preemptionPolicy") if known is not None else rank.place
    found = finding(
        place,
        f"{queue} lends quota, and its pods have priority {rank}, which never preempts: "
        f"kube-scheduler makes no room for them when {loan.borrower.name} gives the quota back",
    )
    for owner in owners:
        named = next(r for r in owner.pods if r.name == rank.name)
        found = found.near(named.place, f"{owner.workload.id} of {owner.queue.name}")
    if below is not None:
        found = found.near(below.lowest.place, f"{below.workload.id} has priority {below.lowest}")
    found = found.near(loan.borrowed.place, f"{loan.borrower.name} may borrow it")
    if known is not None:
        found = found.about(known.id)
    if loans_of(cluster).is_reserved(loan.owner):
        found = found.at_least(Severity.ERROR)
    return found.likely(below is None).with_data(owner=queue, borrower=loan.borrower.name, priority=rank.value)
