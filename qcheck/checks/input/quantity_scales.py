"""QC007: one resource written in different scales by the queues of a cohort."""

from __future__ import annotations

from qcheck.cluster.units import show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.cohort_tree import cohort_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota

FAR = 10**4
MEBIBYTE = 2**20


def scales_apart(cluster: Cluster) -> Iterator[Finding]:
    """Report the smallest and the largest nominal quota of a cohort tree for a resource, if far apart."""
    for (root, resource), quotas in sorted(_by_cohort(cluster).items()):
        least, most = min(quotas, key=lambda q: q.nominal), max(quotas, key=lambda q: q.nominal)
        if least.nominal * FAR < most.nominal:
            times = most.nominal // least.nominal
            here, elsewhere = show_amounts(resource, least.nominal, most.nominal)
            message = (
                f"cohort {root} has quotas for {resource} on two scales: {here} here and "
                f"{elsewhere} elsewhere, {times:,} times as much"
            )
            yield finding(least.nominal_place, message).near(most.nominal_place, "the largest quota of the cohort")


def _by_cohort(cluster: Cluster) -> dict[tuple[str, str], list[Quota]]:
    """Return nonzero quotas by root cohort and resource, without memory below 1Mi, which is reported on its own."""
    found: dict[tuple[str, str], list[Quota]] = {}
    for queue in cluster.queues:
        root = cohort_tree(cluster).root(queue.name)
        for quota in queue.quotas() if root else ():
            is_tiny = quota.resource == "memory" and quota.nominal < MEBIBYTE
            if root and quota.nominal > 0 and not is_tiny:
                found.setdefault((root, quota.resource), []).append(quota)
    return found
