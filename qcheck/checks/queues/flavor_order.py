"""QC417: the order of flavors."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.kueue import FungibilityPolicy
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import show_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kueue.cohort_tree import cohort_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Quota, ResourceGroup


@rule("QC417")
def flavor_unreachable(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors that are borrowed although the queue owns quota of a later one."""
    for queue in cluster.queues:
        if queue.fungibility.when_can_borrow is FungibilityPolicy.TRY_NEXT_FLAVOR or not queue.parent:
            continue
        for group in queue.groups:
            pair = _borrowed_before_own(cluster, queue, group)
            if pair is not None:
                yield _before_own(cluster, queue, *pair)


def _borrowed_before_own(cluster: Cluster, queue: ClusterQueue, group: ResourceGroup) -> tuple[Quota, Quota] | None:
    """Return a cell that is borrowed first, and the queue's own cell of a later flavor; accelerators if it has any."""
    resources = [r for r in group.covered if is_compute(r)] or list(group.covered)
    for resource in resources:
        cells = [q for f in group.flavors for q in f.quotas if q.resource == resource]
        for at, cell in enumerate(cells):
            own = next((later for later in cells[at + 1 :] if later.nominal), None)
            if own is not None and cohort_tree(cluster).borrowable(queue.name, cell.key) > 0:
                return cell, own
    return None


def _before_own(cluster: Cluster, queue: ClusterQueue, borrowed: Quota, own: Quota) -> Finding:
    policy = FungibilityPolicy.MAY_STOP_SEARCH if cluster.policy.kueue.at_least(15) else "Borrow"
    has = f"its own {show_amount(borrowed.resource, borrowed.nominal)}" if borrowed.nominal else "it owns none"
    found = finding(
        queue.fungibility.place.at("whenCanBorrow"),
        f"{queue.name} borrows {borrowed.resource} of flavor {borrowed.flavor} ({has}) before it uses the "
        f"{show_amount(own.resource, own.nominal)} of flavor {own.flavor} that it owns: whenCanBorrow is {policy}",
    ).about(queue.id)
    found = found.near(borrowed.place, "tried first, and borrowed").near(own.nominal_place, "its own, tried later")
    if borrowed.nominal:
        found = found.at_most(Severity.NOTE)
    return found.with_data(queue=queue.name, borrowed=borrowed.flavor, own=own.flavor, resource=own.resource)
