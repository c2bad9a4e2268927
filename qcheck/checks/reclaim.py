"""QC3, continued: does lent quota come back, and in time."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.findings.finding import Finding, finding
from qcheck.model.quantity import show_amount
from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.model.cluster import Cluster
    from qcheck.model.loans import Loan


@rule("QC308")
def owner_cannot_reclaim(cluster: Cluster) -> Iterator[Finding]:
    """A queue that lends but may not preempt borrowers gets its quota back only when they finish."""
    for owner in cluster.queues:
        loan = None if cluster.policy.is_shared(owner.name) else cluster.loans.main(owner)
        if loan is not None and not loan.is_reclaimable:
            others = [found.borrower.name for found in cluster.loans.of(owner, loan.quota)]
            yield (
                finding(
                    owner.preemption.place.at("reclaimWithinCohort"),
                    f"{owner.name} lends up to {lent(loan)} and can never take it back: reclaimWithinCohort is Never",
                )
                .about(owner.id)
                .near(loan.quota.nominal_place, f"nominalQuota {show_amount(loan.quota.resource, loan.quota.nominal)}")
                .near(loan.borrowed.place, f"{loan.borrower.name} may borrow it")
                .with_data(queue=owner.name, resource=loan.quota.resource, borrowers=[*others])
            )


def lent(loan: Loan) -> str:
    """`8 nvidia.com/gpu of flavor h100`."""
    return f"{show_amount(loan.quota.resource, loan.amount)} {loan.quota.resource} of flavor {loan.quota.flavor}"
