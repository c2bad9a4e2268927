"""Inactive ClusterQueues, with Kueue's reasons.

Source: Kueue 0.19 `pkg/cache/scheduler/clusterqueue.go` and the controllers of the admission checks.
"""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import answered_once
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.gates import TOPOLOGY, is_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import AdmissionCheck, CheckUse, ClusterQueue

_EXCLUSIVE_SINCE = 16


class InactivityReason(StrEnum):
    """Kueue's reason codes of the condition `Active`."""

    STOPPED = "Stopped"
    HAS_CYCLE = "HasCycle"
    FLAVOR_NOT_FOUND = "FlavorNotFound"
    TOPOLOGY_NOT_FOUND = "TopologyNotFound"
    ADMISSION_CHECK_NOT_FOUND = "AdmissionCheckNotFound"
    ADMISSION_CHECK_INACTIVE = "AdmissionCheckInactive"
    MULTIPLE_MULTIKUEUE_ADMISSION_CHECKS = "MultipleMultiKueueAdmissionChecks"
    MULTIKUEUE_ADMISSION_CHECK_APPLIED_PER_FLAVOR = "MultiKueueAdmissionCheckAppliedPerFlavor"
    MULTIKUEUE_WITH_PROVISIONING_REQUEST = "MultiKueueWithProvisioningRequest"


class Inactivity(Value):
    """The reason why a queue is inactive, in Kueue's order. `certain` is False if a missing object may be elsewhere."""

    reason: InactivityReason
    message: str
    place: Place
    certain: bool = True
    change: str = ""


@answered_once
def inactive(cluster: Cluster, queue: ClusterQueue) -> tuple[Inactivity, ...]:
    """Return every reason why a queue admits nothing; empty for an active queue. Cached by queue."""
    return tuple(_reasons(cluster, queue))


def _reasons(cluster: Cluster, queue: ClusterQueue) -> Iterator[Inactivity]:
    if queue.is_stopped:
        place = queue.place.at("spec", "stopPolicy")
        message = f"{queue.name} is stopped (stopPolicy {queue.stop_policy})"
        yield Inactivity(InactivityReason.STOPPED, message, place, change=f"set stopPolicy of {queue.name} to None")
    yield from _missing_flavors(cluster, queue)
    for use in queue.checks:
        yield from _check(cluster, use)
    yield from _conflicts(cluster, queue)
    yield from _missing_topologies(cluster, queue)
    if queue.parent and cohort_tree(cluster).is_below_cycle(queue.parent):
        message = f"the parents of cohort {queue.parent} form a cycle, so Kueue does not schedule {queue.name}"
        yield Inactivity(InactivityReason.HAS_CYCLE, message, queue.parent_place)


def _missing_flavors(cluster: Cluster, queue: ClusterQueue) -> Iterator[Inactivity]:
    for flavor in queue.flavors():
        if flavor.name not in cluster.flavor:
            message = f"{queue.name} names the flavor {flavor.name}, which does not exist"
            change = f"create the ResourceFlavor {flavor.name}, or remove it from {queue.name}"
            yield Inactivity(
                reason=InactivityReason.FLAVOR_NOT_FOUND,
                message=message,
                place=flavor.name_place,
                certain=cluster.has_all("ResourceFlavor"),
                change=change,
            )


def _missing_topologies(cluster: Cluster, queue: ClusterQueue) -> Iterator[Inactivity]:
    if not is_on(cluster, TOPOLOGY):
        return
    for quotas in queue.flavors():
        flavor = cluster.flavor.get(quotas.name)
        if flavor is not None and flavor.topology and flavor.topology not in cluster.topology:
            message = f"flavor {flavor.name} names the topology {flavor.topology}, which does not exist"
            place = flavor.place.at("spec", "topologyName")
            yield Inactivity(InactivityReason.TOPOLOGY_NOT_FOUND, message, place, cluster.has_all("Topology"))


def _check(cluster: Cluster, use: CheckUse) -> Iterator[Inactivity]:
    check = cluster.admission_check.get(use.name)
    if check is None:
        message = f"the admission check {use.name} does not exist"
        yield Inactivity(
            InactivityReason.ADMISSION_CHECK_NOT_FOUND, message, use.place, cluster.has_all("AdmissionCheck")
        )
    elif check.is_provisioning or check.is_multikueue:
        wanted = "ProvisioningRequestConfig" if check.is_provisioning else "MultiKueueConfig"
        yield from _parameters(cluster, check, wanted)
    else:
        message = f"the admission check {check.name} belongs to {check.controller}, which is not part of Kueue"
        yield Inactivity(
            InactivityReason.ADMISSION_CHECK_INACTIVE, message, check.place.at("spec", "controllerName"), certain=False
        )


def _parameters(cluster: Cluster, check: AdmissionCheck, wanted: str) -> Iterator[Inactivity]:
    place = check.place.at("spec", "parameters")
    if check.parameters_kind != wanted or check.parameters_group != "kueue.x-k8s.io":
        message = f"the admission check {check.name} has no parameters of kind {wanted}"
        yield Inactivity(InactivityReason.ADMISSION_CHECK_INACTIVE, message, place)
        return
    known = cluster.provisioning_configs if check.is_provisioning else cluster.multikueue_configs
    config = next((c for c in known if c.name == check.parameters_name), None)
    if config is None:
        message = f"the {wanted} {check.parameters_name} of admission check {check.name} does not exist"
        yield Inactivity(InactivityReason.ADMISSION_CHECK_INACTIVE, message, place.at("name"), cluster.has_all(wanted))
    elif check.is_multikueue:
        names = {c.name for c in cluster.multikueue_clusters}
        clusters = next(c.clusters for c in cluster.multikueue_configs if c.name == config.name)
        if names.isdisjoint(clusters):
            message = f"none of the clusters of the MultiKueueConfig {config.name} exists"
            certain = cluster.has_all("MultiKueueCluster")
            yield Inactivity(
                InactivityReason.ADMISSION_CHECK_INACTIVE, message, config.place.at("spec", "clusters"), certain
            )


def _conflicts(cluster: Cluster, queue: ClusterQueue) -> Iterator[Inactivity]:
    known = [(u, c) for u in queue.checks if (c := cluster.admission_check.get(u.name)) is not None]
    remote = [u for u, c in known if c.is_multikueue]
    if len(remote) > 1:
        message = f"{queue.name} has more than one MultiKueue admission check"
        yield Inactivity(InactivityReason.MULTIPLE_MULTIKUEUE_ADMISSION_CHECKS, message, remote[1].place)
    flavors = {f.name for f in queue.flavors()}
    for use in remote:
        if use.flavors and set(use.flavors) != flavors:
            message = f"the MultiKueue admission check {use.name} is not on all flavors of {queue.name}"
            yield Inactivity(InactivityReason.MULTIKUEUE_ADMISSION_CHECK_APPLIED_PER_FLAVOR, message, use.flavors_place)
    provisions = [u for u, c in known if c.is_provisioning]
    if remote and provisions and cluster.policy.kueue.at_least(_EXCLUSIVE_SINCE):
        message = f"{queue.name} has a MultiKueue and a ProvisioningRequest admission check"
        yield Inactivity(InactivityReason.MULTIKUEUE_WITH_PROVISIONING_REQUEST, message, provisions[0].place)
