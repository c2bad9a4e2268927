"""QC419: requests that a LimitRange adds to pods."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.gates import QUOTA_CHECK, is_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, LocalQueue
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import LimitRange

_MOST_ITEMS = 16
"""The number of entries of `limits` to search."""


@rule("QC419")
def limit_range_adds_resource(cluster: Cluster) -> Iterator[Finding]:
    """Report a namespace's defaults for resources that its queues do not cover: pods that get them are not admitted."""
    manager = cluster.configuration
    if manager is not None and manager.ignore_undeclared and is_on(cluster, QUOTA_CHECK):
        return
    excluded = manager.exclude_prefixes if manager else ()
    replaced = {t.input for t in manager.transformations if t.is_replaced} if manager else set()
    for limits in cluster.limit_ranges:
        added = sorted(
            r
            for r, q in limits.default_requests.items()
            if q.nanos > 0 and r not in replaced and not r.startswith(excluded or ("\0",))
        )
        for local in cluster.local_queues:
            queue = cluster.queue.get(local.cluster_queue or "")
            if local.namespace == limits.namespace and queue is not None:
                yield from _uncovered(limits, local, queue, added)


def _uncovered(limits: LimitRange, local: LocalQueue, queue: ClusterQueue, added: list[str]) -> Iterator[Finding]:
    covered = {r for g in queue.groups for r in g.covered}
    missing = [r for r in added if r not in covered]
    if not missing or not covered:
        return
    message = (
        f"LimitRange {limits.id.full_name} gives every container {names(missing)}, which {queue.name} does not cover: "
        f"workloads of local queue {local.name} that use the default are never admitted"
    )
    yield (
        finding(_written(limits, missing[0]), message)
        .about(limits.id)
        .near(queue.groups[0].place.at("coveredResources"), f"{queue.name} covers {names(sorted(covered))}")
        .near(local.place.at("spec", "clusterQueue"), f"{local.name} refers to it")
        .with_data(queue=queue.name, resources=[*missing])
    )


def _written(limits: LimitRange, resource: str) -> Place:
    """Return the place of the default: a default request, a default limit, or the maximum that replaces them."""
    for field in ("defaultRequest", "default", "max", "min"):
        for index in range(_MOST_ITEMS):
            place = limits.place.at("spec", "limits", index, field, resource)
            if place.exists:
                return place
    return limits.place.at("spec", "limits")
