"""QC4, continued: admission checks and what they need."""

from __future__ import annotations

from qcheck.checks.missing import Use, by_name, missing, nearest
from qcheck.checks.registry import rule
from qcheck.checks.sums import names
from qcheck.findings.finding import Finding, finding
from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.model.cluster import Cluster
    from qcheck.model.queues import AdmissionCheck, MultiKueueConfig

GROUP = "kueue.x-k8s.io"


@rule("QC407")
def admission_check_missing(cluster: Cluster) -> Iterator[Finding]:
    """Checks, their parameters and the clusters behind them that do not exist: the queue stays inactive."""
    uses = by_name(Use(c.name, c.place, q.id) for q in cluster.queues for c in q.checks)
    for name, each in uses.items():
        if name not in cluster.admission_check:
            by = names(sorted({u.by.name for u in each}))
            yield missing("AdmissionCheck", each, cluster.admission_check, f"{by} stays inactive")
    for check in cluster.admission_checks:
        yield from _parameters(cluster, check)
    for config in cluster.multikueue_configs:
        yield from _clusters(cluster, config)
    yield from _flavors(cluster)


def _parameters(cluster: Cluster, check: AdmissionCheck) -> Iterator[Finding]:
    """The object that configures one of Kueue's own checks. What other controllers want is not known."""
    if not (check.is_provisioning or check.is_multikueue):
        return
    kind = "ProvisioningRequestConfig" if check.is_provisioning else "MultiKueueConfig"
    place = check.place.at("spec", "parameters")
    known = cluster.provisioning_configs if check.is_provisioning else cluster.multikueue_configs
    used = [q.name for q in cluster.queues if any(c.name == check.name for c in q.checks)]
    consequence = f"check {check.name} is never active" + (f", and neither is {names(used)}" if used else "")
    if check.parameters_kind != kind or check.parameters_group != GROUP:
        has = f"{check.parameters_group}/{check.parameters_kind}" if check.parameters_kind else "none"
        message = f"check {check.name} needs parameters of kind {GROUP}/{kind} and has {has}: it is never active"
        yield finding(place, message).about(check.id)
    elif check.parameters_name not in {c.name for c in known}:
        use = Use(check.parameters_name or "", place.at("name"), check.id)
        yield missing(kind, [use], (c.name for c in known), consequence)


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
        place.at(index), f"MultiKueueCluster {names(lost)} of {config.name} does not exist: {consequence}"
    ).about(config.id)
    for name in lost[1:]:
        found = found.near(place.at(config.clusters.index(name)), f"{name} does not exist either")
    near = nearest(lost[0], known)
    if near is not None:
        found = found.fixed_by(f"Write {near} instead of {lost[0]}, or create the MultiKueueCluster {lost[0]}.")
    yield found.at_most("error" if all_lost else "warning").with_data(missing=[*lost])


def _flavors(cluster: Cluster) -> Iterator[Finding]:
    """`onFlavors` entries that the queue does not have."""
    for queue in cluster.queues:
        own = {f.name for f in queue.flavors()}
        for use in queue.checks:
            for at, flavor in enumerate(use.flavors):
                if flavor not in own:
                    has = f"its flavors are {names(sorted(own))}" if own else "it has no flavor"
                    message = f"{queue.name} applies check {use.name} on flavor {flavor}, which it does not have: {has}"
                    yield finding(use.flavors_place.at(at), message).about(queue.id).with_data(missing=flavor)
