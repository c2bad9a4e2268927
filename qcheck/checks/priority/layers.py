"""QC305 to QC307, QC314, QC315: Kueue's and kube-scheduler's priorities for workloads on the same nodes."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kueue.competitors import Contender, contention_of, daemon_grounds
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.priorities import POD_CLASS, WORKLOAD_CLASS, Rank, pod_rank, unnamed_rank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import DaemonSet
    from qcheck.schedulers.kueue.loans import Loan


def class_place(cluster: Cluster, rank: Rank) -> Place:
    """Return the place that decides a pod priority: the class's value if it is in the repository, else the template."""
    known = cluster.priority_class.get(rank.name or "")
    return known.place.at("value") if known else rank.place


@rule("QC305")
def borrower_not_below_owner(cluster: Cluster) -> Iterator[Finding]:
    """Report borrowers that kube-scheduler does not evict for owners."""
    reported: set[str] = set()
    for borrower in _strongest(cluster):
        key = borrower.highest.name or f"the default in {borrower.queue.name}"
        for loan in loans_of(cluster).to(borrower.queue) if key not in reported and _reaches(cluster, borrower) else ():
            against = _owner_rank(cluster, loan, borrower)
            if against is not None:
                reported.add(key)
                yield _not_below(cluster, loan, borrower, *against)
                break


def _reaches(cluster: Cluster, borrower: Contender) -> bool:
    """Return whether some owner's priority may be at or below the borrower's, before loans are examined."""
    lives_on_loans = any(loans_of(cluster).is_by_nature(borrower.queue, quota.key) for quota in borrower.queue.quotas())
    return lives_on_loans or borrower.highest.value > contention_of(cluster).lowest


def _strongest(cluster: Cluster) -> Iterator[Contender]:
    """Yield one contender per standing, the highest pod priorities first."""
    yield from sorted(contention_of(cluster).standings, key=lambda c: -c.highest.value)


def _owner_rank(cluster: Cluster, loan: Loan, borrower: Contender) -> tuple[Rank, Contender | None] | None:
    """Return the owner's pod priority if the borrower's reaches it on shared nodes although it should not.

    Between peers that lend to each other, equal priorities are correct, but a higher one is not. If the owner's
    workloads are unknown, they count as pods without a class, unless some class ranks above the borrower's.
    """
    by_nature = loans_of(cluster).is_by_nature(borrower.queue, loan.borrowed.key)
    owners = contention_of(cluster).of_queue.get(loan.owner.name, [])
    for owner in owners:
        over = borrower.highest.value - owner.lowest.value
        if owner.grounds & borrower.grounds and (over > 0 or (over == 0 and by_nature)):
            return owner.lowest, owner
    if owners or not by_nature or loans_of(cluster).is_shared(loan.owner):
        return None
    if any(c.value > borrower.highest.value for c in cluster.priority_classes):
        return None
    default = unnamed_rank(cluster, loan.owner.place)
    return (default, None) if borrower.highest.value >= default.value else None


def _not_below(cluster: Cluster, loan: Loan, borrower: Contender, rank: Rank, owner: Contender | None) -> Finding:
    members = contention_of(cluster).of_queue[borrower.queue.name]
    more = sum(c.highest.name == borrower.highest.name for c in members)
    is_above = borrower.highest.value > rank.value
    effect = (
        "evicts the owner's pods for them"
        if is_above and borrower.highest.preempts
        else "does not evict them for the owner"
    )
    found = finding(
        class_place(cluster, borrower.highest),
        f"{borrower.queue.name} borrows from {loan.owner.name} with pods of priority {borrower.highest}, "
        f"{'above' if is_above else 'not below'} the owner's {rank}: kube-scheduler {effect}"
        + (f" ({plural(more, 'workload')})" if more > 1 else ""),
    )
    if borrower.highest.name:
        found = found.near(borrower.highest.place, f"{borrower.workload.id} of {borrower.queue.name}")
    if owner is not None:
        found = found.near(class_place(cluster, rank), f"{owner.workload.id} of {owner.queue.name} has {rank}")
    else:
        found = found.near(loan.quota.nominal_place, f"quota of {loan.owner.name}")
    certain = owner is not None and rank.certain and borrower.highest.certain
    return (
        found.about(borrower.workload.id)
        .likely(not certain)
        .with_data(
            borrower=borrower.queue.name,
            owner=loan.owner.name,
            priority=borrower.highest.value,
            ownerPriority=rank.value,
        )
    )


@rule("QC306")
def priority_layers_inverted(cluster: Cluster) -> Iterator[Finding]:
    """Report two workloads that Kueue and kube-scheduler rank in opposite order."""
    for first, second in contention_of(cluster).inversions:
        strong, weak = first.workload, second.workload
        found = finding(
            first.highest.place,
            f"Kueue ranks {strong.id} over {weak.id} ({first.rank} > {second.rank}), but kube-scheduler ranks them the "
            f"other way round ({first.highest} < {second.lowest})"
            + (f" and evicts the pods of {strong.name}" if second.lowest.preempts else ""),
        ).about(strong.id)
        for at, caption in (
            (first.rank, f"{first.rank.value} in Kueue"),
            (second.rank, f"{weak.name}: {second.rank.value} in Kueue"),
            (second.lowest, f"{weak.name}: {second.lowest.value} in kube-scheduler"),
        ):
            if at.name is not None and at.place != first.highest.place:
                found = found.near(at.place, caption)
        certain = all(r.certain for r in (first.rank, second.rank, first.highest, second.lowest))
        yield (
            found.likely(not certain)
            .at_most(Severity.ERROR if second.lowest.preempts else Severity.WARNING)
            .with_data(kueue=[first.rank.value, second.rank.value], pods=[first.highest.value, second.lowest.value])
        )


@rule("QC307")
def priority_in_one_layer_only(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads whose priority differs from the default in only one system.

    Without a WorkloadPriorityClass both use the pods' class.
    """
    inverted = {id(c.workload) for pair in contention_of(cluster).inversions for c in pair}
    alone: dict[tuple[str | None, str | None], list[Contender]] = {}
    for each in contention_of(cluster).contenders:
        pods = {r.source == POD_CLASS for r in each.pods}
        differs = all(r.value != each.rank.value for r in each.pods)
        chosen = each.workload.priority_class is not None
        if (
            each.rank.source == WORKLOAD_CLASS
            and differs
            and pods == {not chosen}
            and id(each.workload) not in inverted
        ):
            alone.setdefault((each.rank.name, None if chosen else each.highest.name), []).append(each)
    for (name, pod_class), members in alone.items():
        yield _one_layer(name or "", pod_class, members)


def _one_layer(name: str, pod_class: str | None, members: list[Contender]) -> Finding:
    first, *others = members
    who = names(str(c.workload.id) for c in members)
    if pod_class is None:
        place = first.rank.place
        message = (
            f"{who}: Kueue ranks by {name} ({first.rank.value}), but kube-scheduler gives the pods the default priority "
            f"{first.highest.value}"
        )
    else:
        place = first.highest.place
        message = (
            f"{who}: kube-scheduler ranks by {pod_class} ({first.highest.value}), but Kueue by the WorkloadPriorityClass "
            f"{name} ({first.rank.value}), which applies because the label is missing"
        )
    found = finding(place, message).about(first.workload.id)
    for other in others:
        found = found.near(other.rank.place if pod_class is None else other.highest.place, "the same applies here")
    return found.with_data(workloads=len(members), kueue=first.rank.value, pods=first.highest.value)


@rule("QC314")
def both_layers_preempt(cluster: Cluster) -> Iterator[Finding]:
    """Report classes by which kube-scheduler evicts what Kueue admitted, other than owners that evict borrowers."""
    weaker: dict[str | None, list[tuple[Contender, Contender]]] = {}
    for first, second in contention_of(cluster).evictions:
        weaker.setdefault(first.highest.name, []).append((first, second))
    for pairs in weaker.values():
        first, second = pairs[0]
        decided = first.highest if first.highest.name else second.lowest
        found = finding(
            class_place(cluster, decided),
            f"pods of {first.workload.id} (priority {first.highest}) evict pods of "
            f"{names(str(weak.workload.id) for _, weak in pairs)} (priority {second.lowest}) that Kueue has admitted to "
            f"the same nodes: the evicted workload keeps its quota but cannot run",
        ).about(first.workload.id)
        found = found.near(first.highest.place, f"named by {first.workload.name}") if first.highest.name else found
        for _, weak in pairs:
            found = found.near(class_place(cluster, weak.lowest), f"{weak.workload.name} has {weak.lowest}")
        yield found.with_data(priority=first.highest.value, evicts=[w.lowest.value for _, w in pairs])


@rule("QC315")
def daemonset_evictable(cluster: Cluster) -> Iterator[Finding]:
    """Report DaemonSets on accelerator nodes that a workload there may evict."""
    for daemon_set in cluster.daemon_sets:
        rank = pod_rank(cluster, daemon_set.template)
        places = daemon_grounds(cluster, daemon_set) if rank is not None else frozenset()
        strong = [
            c
            for c in contention_of(cluster).contenders
            if rank is not None and c.grounds & places and c.highest.preempts and c.highest.value > rank.value
        ]
        strong = [c for c in strong if _wants_the_same(c, daemon_set)]
        if rank is not None and strong:
            yield _evictable(cluster, daemon_set, rank, max(strong, key=lambda c: c.highest.value))


def _wants_the_same(contender: Contender, daemon_set: DaemonSet) -> bool:
    """Return whether evicting the DaemonSet's pod would free anything that the workload requests."""
    held = {r for r, n in daemon_set.template.amounts().items() if n}
    return any(n and r in held for p in contender.workload.pod_sets for r, n in p.template.amounts().items())


def _evictable(cluster: Cluster, daemon_set: DaemonSet, rank: Rank, strong: Contender) -> Finding:
    where = names(sorted(daemon_grounds(cluster, daemon_set) & strong.grounds))
    found = finding(
        daemon_set.template.place.at("priorityClassName").key(),
        f"DaemonSet {daemon_set.name} has pod priority {rank}, below the {strong.highest} of {strong.workload.id} on "
        f"{where}: kube-scheduler evicts it when their pods need room",
    ).about(daemon_set.id)
    found = found.near(strong.highest.place.key(), f"{strong.workload.name}: {strong.highest}")
    certain = rank.certain and strong.highest.certain
    return found.likely(not certain).with_data(priority=rank.value, workloads=strong.highest.value)
