"""QC409 to QC412: quota that no queue can use, borrow or lend as configured."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount, named, show_amount, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.loans import counted, loans_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Quota, QuotaHolder, ResourceGroup
    from qcheck.schedulers.kueue.cohort_tree import TreeNode


@rule("QC409")
def quota_dead(cluster: Cluster) -> Iterator[Finding]:
    """Report covered resources of which a queue can never hold any amount.

    QC107 reports shortages beside accelerators.
    """
    for queue in cluster.queues:
        if cohort_tree(cluster).is_below_cycle(queue.parent):
            continue
        dead = [r for g in queue.groups for r in g.covered if _is_dead(cluster, queue, g, r)]
        cells = [q for q in queue.quotas() if q.resource in dead]
        if cells:
            why = f"none of it can be borrowed in cohort {queue.parent}" if queue.parent else "it is in no cohort"
            found = finding(
                cells[0].nominal_place,
                f"{queue.name} covers {names(dead)} with nominalQuota 0, and {why}: pods that ask for it are never admitted",
            ).about(queue.id)
            for cell in cells[1:]:
                found = found.near(cell.nominal_place, f"{cell.resource} in {cell.flavor} too")
            yield found.with_data(queue=queue.name, resources=[*dead])


def _is_dead(cluster: Cluster, queue: ClusterQueue, group: ResourceGroup, resource: str) -> bool:
    """Return whether a resource is unusable; beside accelerators, zeros only complete Kueue's mandatory list."""
    if not is_compute(resource) and any(q.nominal and is_compute(q.resource) for q in queue.quotas()):
        return False
    cells = [q for f in group.flavors for q in f.quotas if q.resource == resource]
    return bool(cells) and all(cohort_tree(cluster).queue_potential(queue.name, c.key) == 0 for c in cells)


@rule("QC410")
def borrowing_out_of_reach(cluster: Cluster) -> Iterator[Finding]:
    """Report borrowing limits above what the others could ever lend."""
    for holder in (*cluster.queues, *cluster.cohorts):
        node = _node(cluster, holder)
        if cohort_tree(cluster).is_below_cycle(node.parent):
            continue
        beyond = [
            (q, cohort_tree(cluster).lent_to(node, q.key)) for q in holder.quotas() if q.borrowing_limit is not None
        ]
        beyond = [(q, most) for q, most in beyond if (q.borrowing_limit or 0) > most and (q.nominal or most)]
        if beyond:
            yield _out_of_reach(holder, sorted(beyond, key=lambda b: not is_compute(b[0].resource)))


def _node(cluster: Cluster, holder: QuotaHolder) -> TreeNode:
    nodes = cohort_tree(cluster).queues if holder.id.kind == "ClusterQueue" else cohort_tree(cluster).cohorts
    return nodes[holder.name]


def _out_of_reach(holder: QuotaHolder, beyond: list[tuple[Quota, int]]) -> Finding:
    (first, most), *others = beyond
    limit, lent_at_most = show_amounts(first.resource, first.borrowing_limit or 0, most)
    found = finding(
        first.place.at("borrowingLimit"),
        f"{holder.name} may borrow {named(first.resource, limit)} of flavor {first.flavor}, but all others together lend "
        f"{lent_at_most}" + (f" (and {plural(len(others), 'more limit')})" if others else ""),
    ).about(holder.id)
    for quota, lent in others:
        found = found.near(quota.place.at("borrowingLimit"), f"others lend {show_amount(quota.resource, lent)}")
    limits = [(q.place.at("borrowingLimit"), written_amount(q.resource, lent)) for q, lent in beyond]
    cuts = ", ".join(
        f"from {show_amount(q.resource, q.borrowing_limit or 0)} to {name_amount(q.resource, lent)}"
        for q, lent in beyond
    )
    found = found.offering_all(limits, f"Lower the borrowingLimit of {holder.name} {cuts}, which is what others lend.")
    return found.with_data(queue=holder.name, resource=first.resource, limit=first.borrowing_limit, lent=most)


@rule("QC411")
def lending_blocked(cluster: Cluster) -> Iterator[Finding]:
    """Report idle quota that others need but must not borrow."""
    for queue in cluster.queues:
        kept = [(q, keen) for q in _blocks(queue) if (keen := loans_of(cluster).wanting(queue, q.key))]
        if kept:
            quota, keen = min(kept, key=lambda k: not is_compute(k[0].resource))
            found = finding(
                quota.place.at("lendingLimit"),
                f"{queue.name} keeps {name_amount(quota.resource, quota.nominal)} of flavor "
                f"{quota.flavor} to itself even when idle; {names(keen)} could borrow it",
            ).about(queue.id)
            yield found.with_data(queue=queue.name, resource=quota.resource, nominal=quota.nominal)


def _blocks(queue: ClusterQueue) -> list[Quota]:
    return [q for q in queue.quotas() if q.lending_limit == 0 and q.nominal > 0]


@rule("QC412")
def reserved_queue_borrows(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that contradict the settings: reserved queues that borrow, shared queues that cannot."""
    for queue in cluster.queues:
        cells = counted(queue)
        if loans_of(cluster).is_reserved(queue) and queue.parent:
            open_cells = [q for q in cells if q.borrowing_limit != 0]
            if open_cells:
                yield _borrows(queue, open_cells)
        if loans_of(cluster).is_shared(queue) and cells and not _can_borrow(cluster, queue, cells):
            place = cells[0].place.at("borrowingLimit") if queue.parent else queue.parent_place
            why = "none of it can be borrowed in its cohort" if queue.parent else "it is in no cohort"
            yield (
                finding(
                    place.key(),
                    f"{queue.name} is a shared queue and cannot borrow {cells[0].resource}: {why}",
                )
                .about(queue.id)
                .with_data(queue=queue.name)
            )


def _can_borrow(cluster: Cluster, queue: ClusterQueue, cells: list[Quota]) -> bool:
    return any(cohort_tree(cluster).borrowable(queue.name, q.key) > 0 for q in cells)


def _borrows(queue: ClusterQueue, cells: list[Quota]) -> Finding:
    first, *others = cells
    limit = first.borrowing_limit
    has = "no borrowingLimit" if limit is None else f"borrowingLimit {written_amount(first.resource, limit)}"
    found = finding(
        first.place.at("borrowingLimit") if limit is not None else first.place,
        f"{queue.name} is a reserved queue and may borrow {first.resource}: it has {has}",
    ).about(queue.id)
    for other in others:
        found = found.near(other.place, f"{other.resource} in {other.flavor} too")
    return found.with_data(queue=queue.name, resource=first.resource, limit=limit)
