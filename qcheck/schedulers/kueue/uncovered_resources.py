"""Requests for resources that a ClusterQueue does not cover: ignored, or an obstacle to admission.

Source: Kueue 0.19 `pkg/scheduler/flavorassigner/flavorassigner.go`.
"""

from __future__ import annotations

from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.assignment import grouped
from qcheck.schedulers.kueue.gates import QUOTA_CHECK, is_on

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.assignment import PodSetDemand

_ZERO_SKIPPED_SINCE = 15
"""The release before which a request of 0 of a resource that the queue does not cover blocked a workload (Kueue #8079).
"""


def lets_through(cluster: Cluster, amount: int) -> bool:
    """Return whether an amount of a resource that the queue does not cover is ignored."""
    manager = cluster.configuration
    ignores = manager is not None and manager.ignore_undeclared and is_on(cluster, QUOTA_CHECK)
    return ignores or (amount == 0 and cluster.policy.kueue.at_least(_ZERO_SKIPPED_SINCE))


def uncharged(queue: ClusterQueue, together: list[PodSetDemand]) -> PodSetDemand | None:
    """Return a pod set that requests only resources that the queue does not cover; None if there is none.

    Kueue assigns flavors to no pod set after it, and the API server rejects an admission without all pod sets.
    """
    covered = {r for g in queue.groups for r in g.covered}
    return next((d for d in together if d.amounts and covered.isdisjoint(d.amounts)), None)


def stops(queue: ClusterQueue, demand: PodSetDemand) -> Reason:
    """Return the reason that a pod set of which nothing is charged ends the assignment."""
    name, asked = demand.pod_set.name, sorted(demand.amounts)
    message = (
        f"pod set {name} requests only {', '.join(asked)}, which {queue.name} does not cover: Kueue assigns no flavors "
        "to the pod sets after it, and the API server rejects the admission"
    )
    return Reason(
        code=ReasonCode.NO_MATCHING_FLAVOR,
        cause="no-flavor",
        message=message,
        place=demand.place_of(asked[0]),
        near=(queue.place.at("spec", "resourceGroups"),),
        change=f"request a resource that {queue.name} covers in pod set {name}, or no resource",
        resource=asked[0],
    )


def uncovered(cluster: Cluster, queue: ClusterQueue, wanted: tuple[PodSetDemand, ...]) -> tuple[Reason, ...]:
    """Return why each requested resource that the queue does not cover prevents admission, in the assigner's order."""
    covered = {r for g in queue.groups for r in g.covered}
    found: dict[str, Reason] = {}
    for together in grouped(wanted):
        for resource in sorted({r for d in together for r in d.amounts} - covered - found.keys()):
            if not lets_through(cluster, sum(d.amounts.get(resource, 0) for d in together)):
                found[resource] = not_covered(queue, together, resource)
    return tuple(found.values())


def not_covered(queue: ClusterQueue, together: list[PodSetDemand], resource: str) -> Reason:
    """Return the reason that a resource of pod sets assigned as one prevents admission."""
    asking = next(d for d in together if resource in d.amounts)
    covered = ", ".join(r for g in queue.groups for r in g.covered) or "nothing"
    return Reason(
        code=ReasonCode.NO_MATCHING_FLAVOR,
        cause="resource-not-covered",
        message=f"pod set {asking.pod_set.name} asks for {name_amount(resource, asking.amounts[resource])}, "
        f"which {queue.name} does not cover (it covers {covered})",
        place=asking.place_of(resource),
        near=(queue.place.at("spec", "resourceGroups"),),
        change=f"add {resource} to coveredResources of {queue.name}, or remove the request",
        resource=resource,
    )
