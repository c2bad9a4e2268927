"""QC407, QC408, QC421, QC422: admission checks and their requirements."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.missing_references import Reference, by_name, missing
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kueue.inactive_queues import InactivityReason, inactive
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import AdmissionCheck, CheckUse, ClusterQueue, FlavorQuotas, MultiKueueConfig, Quota
    from qcheck.supply.groups import NodeGroup

GROUP = "kueue.x-k8s.io"


@rule("QC407")
def admission_check_missing(cluster: Cluster) -> Iterator[Finding]:
    """Report missing checks, parameters and clusters behind them: the queue stays inactive."""
    uses = by_name(Reference(c.name, c.place, q.id) for q in cluster.queues for c in q.checks)
    for name, each in uses.items():
        if name not in cluster.admission_check:
            by = names(sorted({u.by.name for u in each}))
            yield missing(cluster, "AdmissionCheck", each, cluster.admission_check, f"{by} stays inactive")
    queues: dict[str, list[str]] = {}
    for queue in cluster.queues:
        for name in dict.fromkeys(check.name for check in queue.checks):
            queues.setdefault(name, []).append(queue.name)
    known = {
        "ProvisioningRequestConfig": frozenset(c.name for c in cluster.provisioning_configs),
        "MultiKueueConfig": frozenset(c.name for c in cluster.multikueue_configs),
    }
    for check in cluster.admission_checks:
        if check.is_provisioning or check.is_multikueue:
            kind = "ProvisioningRequestConfig" if check.is_provisioning else "MultiKueueConfig"
            yield from _parameters(cluster, check, kind, known[kind], queues.get(check.name, []))
    for config in cluster.multikueue_configs:
        yield from _clusters(cluster, config)
    yield from _flavors(cluster)


def _parameters(
    cluster: Cluster, check: AdmissionCheck, kind: str, known: Set[str], used: list[str]
) -> Iterator[Finding]:
    """Report a missing object that configures one of Kueue's own checks. Other controllers' objects are unknown."""
    place = check.place.at("spec", "parameters")
    consequence = f"check {check.name} is never active" + (f", and neither is {names(used)}" if used else "")
    if check.parameters_kind != kind or check.parameters_group != GROUP:
        has = f"{check.parameters_group}/{check.parameters_kind}" if check.parameters_kind else "none"
        message = f"check {check.name} needs parameters of kind {GROUP}/{kind} but has {has}: it is never active"
        yield finding(place, message).about(check.id)
    elif check.parameters_name not in known:
        use = Reference(check.parameters_name or "", place.at("name"), check.id)
        yield missing(cluster, kind, [use], known, consequence)


def _clusters(cluster: Cluster, config: MultiKueueConfig) -> Iterator[Finding]:
    known = [c.name for c in cluster.multikueue_clusters]
    lost = [name for name in config.clusters if name not in known]
    if not lost:
        return
    place = config.place.at("spec", "clusters")
    index = config.clusters.index(lost[0])
    all_lost = len(lost) == len(config.clusters)
    consequence = "no cluster is left, so the check is never active" if all_lost else "the others are still used"
    found = finding(
        place.at(index),
        f"MultiKueueCluster {names(lost)} of {config.name} {'does' if len(lost) == 1 else 'do'} not exist: {consequence}",
    ).about(config.id)
    for name in lost[1:]:
        found = found.near(place.at(config.clusters.index(name)), f"{name} does not exist either")
    near = nearest(lost[0], known)
    if near is not None:
        found = found.fixed_by(f"Write {near} instead of {lost[0]}, or create the MultiKueueCluster {lost[0]}.")
    yield found.at_most(Severity.ERROR if all_lost else Severity.WARNING).with_data(missing=[*lost])


def _flavors(cluster: Cluster) -> Iterator[Finding]:
    """Report `onFlavors` entries without a ResourceFlavor.

    Existing flavors of other queues are left to Kueue's webhook.
    """
    for queue in cluster.queues:
        own = {f.name for f in queue.flavors()}
        for use in queue.checks:
            for at, flavor in enumerate(use.flavors):
                if flavor not in own and flavor not in cluster.flavor:
                    has = f"its flavors are {names(sorted(own))}" if own else "it has no flavor"
                    message = f"{queue.name} applies check {use.name} on flavor {flavor}, which does not exist: {has}"
                    yield finding(use.flavors_place.at(at), message).about(queue.id).with_data(missing=flavor)


CONFLICTS = (
    InactivityReason.MULTIPLE_MULTIKUEUE_ADMISSION_CHECKS,
    InactivityReason.MULTIKUEUE_ADMISSION_CHECK_APPLIED_PER_FLAVOR,
    InactivityReason.MULTIKUEUE_WITH_PROVISIONING_REQUEST,
)
"""Kueue's reasons why existing checks together make a queue inactive."""


@rule("QC408")
def admission_check_conflict(cluster: Cluster) -> Iterator[Finding]:
    """Report checks that together make their queue inactive."""
    for queue in cluster.queues:
        for each in inactive(cluster, queue):
            if each.reason in CONFLICTS:
                found = finding(each.place, f"{each.message}: {queue.name} is inactive ({each.reason})").about(queue.id)
                for use in queue.checks:
                    if each.place not in (use.place, use.flavors_place):
                        found = found.near(use.place, f"check {use.name}")
                yield found.with_data(queue=queue.name, reason=each.reason)


def _provisioned(cluster: Cluster) -> Iterator[tuple[ClusterQueue, CheckUse, AdmissionCheck, list[FlavorQuotas]]]:
    """Yield each use of a ProvisioningRequest check with its flavors."""
    for queue in cluster.queues:
        for use in queue.checks:
            check = cluster.admission_check.get(use.name)
            if check is not None and check.is_provisioning:
                yield queue, use, check, [f for f in queue.flavors() if not use.flavors or f.name in use.flavors]


@rule("QC421")
def provisioning_skips_resource(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerators behind a ProvisioningRequest check whose configuration does not manage them."""
    skipped: dict[str, list[Quota]] = {}
    configs = {c.name: c for c in cluster.provisioning_configs}
    for _, _, check, flavors in _provisioned(cluster):
        config = configs.get(check.parameters_name or "")
        if config is not None and config.managed_resources:
            cells = [q for f in flavors for q in f.quotas if is_compute(q.resource) and q.nominal]
            skipped.setdefault(config.name, []).extend(q for q in cells if q.resource not in config.managed_resources)
    for name, quotas in skipped.items():
        if quotas:
            config, lost = configs[name], names(sorted({q.resource for q in quotas}))
            found = finding(
                config.place.at("spec", "managedResources").key(),
                f"{name} provisions nodes only for {names(config.managed_resources)}: for a workload that asks for {lost}, "
                f"the check passes and no node is added, unless it also asks for a managed resource",
            ).about(config.id)
            for quota in quotas:
                found = found.near(quota.place, f"quota of {quota.resource} behind the check")
            yield found.with_data(resources=sorted({q.resource for q in quotas}))


@rule("QC422")
def provisioning_unsupported(cluster: Cluster) -> Iterator[Finding]:
    """Report ProvisioningRequest checks on nodes of Karpenter, which does not support such requests."""
    for queue, use, check, flavors in _provisioned(cluster):
        for flavor in flavors:
            groups = [m.group for m in supply_of(cluster).matches(flavor.name)]
            if groups and all(_is_karpenters(g) for g in groups):
                yield (
                    finding(
                        use.place,
                        f"check {check.name} of {queue.name} requests nodes with ProvisioningRequests, but the nodes of "
                        f"flavor {flavor.name} come from Karpenter ({names(sorted({g.name for g in groups}))}), which does "
                        f"not support them: its workloads wait permanently",
                    )
                    .about(queue.id)
                    .near(flavor.name_place, f"flavor {flavor.name}")
                    .near(groups[0].place, f"{groups[0].name} comes from Karpenter")
                    .with_data(queue=queue.name, check=check.name, flavor=flavor.name)
                )
                break


def _is_karpenters(group: NodeGroup) -> bool:
    if group.pool is not None:
        return (group.pool.autoscaler or "").lower().startswith("karpenter")
    return bool(group.nodes) and all("karpenter.sh/nodepool" in n.node_labels for n in group.nodes)
