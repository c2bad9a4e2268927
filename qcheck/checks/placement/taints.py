"""QC202, QC203, QC204: taints of flavors and of nodes."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.checks.repelling_taints import (
    has_open_taints,
    standing_taints,
    untolerated_by,
    workloads_with,
)
from qcheck.cluster.labels import Taint, tolerated
from qcheck.cluster.problems import NODES
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import is_compute, looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.workloads import Workload
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup


@rule("QC202")
def flavor_taint_untolerated(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors all of whose nodes have taints that keep their pods off."""
    for flavor, quotas in promises_of(cluster).used_pools:
        if flavor.scheduler is not SchedulerName.KUEUE:  # only flavors add tolerations to pods
            continue
        blocking = _blocking_taints(cluster, flavor, quotas)
        workloads = workloads_with(cluster, quotas)
        if not blocking or any(_gets_in(cluster, w, blocking) for w in workloads):
            continue
        taint = blocking[0][1][0]
        by_plugin = looks_like_accelerator(taint.key)
        found = finding(
            flavor.place.at("spec", "tolerations").key(),
            f"every node that {flavor.title} selects has {_listed(blocking)}, which the {flavor.word} does not tolerate"
            + _nor(len(workloads)),
        )
        for each, taints in blocking:
            found = found.near(_taint_place(each), f"{each.name} carries {taints[0]}")
        yield (
            found.likely(
                not workloads
                or by_plugin
                or not cluster.has_all(NODES)
                or supply_of(cluster).lacks_plain_nodes(flavor.key)
            )
            .fixed_by(_toleration_fix(taint, by_plugin))
            .with_data(flavor=flavor.name, taint=str(taint))
        )


def is_repelled(cluster: Cluster, flavor: str) -> bool:
    """Return whether QC202 reports that a flavor's nodes repel all of its pods."""
    return bool(repelling_taints(cluster, flavor))


def repelling_taints(cluster: Cluster, flavor: str) -> list[Taint]:
    """Return the taints by which a flavor's nodes repel all of its pods, according to QC202."""
    quotas = next((q for f, q in promises_of(cluster).used_pools if f.key == flavor), [])
    blocking = _blocking_taints(cluster, cluster.quota_pools[flavor], quotas) if quotas else []
    if any(_gets_in(cluster, w, blocking) for w in workloads_with(cluster, quotas)):
        return []
    return [t for _, taints in blocking for t in taints]


def _gets_in(cluster: Cluster, workload: Workload, blocking: list[tuple[NodeGroup, list[Taint]]]) -> bool:
    """Return whether a workload tolerates all taints of some group."""
    return any(not untolerated_by(cluster, workload, tuple(taints)) for _, taints in blocking)


def _listed(blocking: list[tuple[NodeGroup, list[Taint]]]) -> str:
    """Return `the taint a=x:NoSchedule`, or one of several with the groups that have them."""
    groups: dict[str, list[str]] = {}
    for group, taints in blocking:
        groups.setdefault(str(taints[0]), []).append(group.name)
    if len(groups) == 1:
        return f"the taint {next(iter(groups))}"
    return "one of the taints " + names([f"{taint} ({names(of)})" for taint, of in groups.items()])


def _nor(workloads: int) -> str:
    if not workloads:
        return ""
    return ", nor does its only workload" if workloads == 1 else f", nor does any of its {workloads} workloads"


def _toleration_fix(taint: Taint, by_plugin: bool) -> str:
    value = f', value: "{taint.value}"' if taint.value else ""
    operator = "Equal" if taint.value else "Exists"
    text = f"Add {{key: {taint.key}, operator: {operator}{value}, effect: {taint.effect}}} to spec.tolerations of the flavor."
    if by_plugin:
        text += " The ExtendedResourceToleration admission plugin, if enabled, adds it to pods that request the device."
    return text


def _blocking_taints(cluster: Cluster, flavor: QuotaPool, quotas: list[Cell]) -> list[tuple[NodeGroup, list[Taint]]]:
    """Return, by group, the hard taints that neither the flavor nor its nodeTaints account for.

    The result is empty if some group has no such taint. A flavor without labels also selects the nodes for system pods,
    which have no such taints. If none of these nodes was read, the result is also empty for quota of cpu and memory,
    because only accelerators are known to be on other nodes.
    """
    if supply_of(cluster).lacks_plain_nodes(flavor.key) and not any(
        q.promised and is_compute(q.resource) for q in quotas
    ):
        return []
    groups = [match.group for match in supply_of(cluster).matches(flavor.key)]
    declared = frozenset(flavor.node_taints)
    found = [(g, [t for t in standing_taints(g, flavor) if t not in declared]) for g in groups]
    return found if all(taints for _, taints in found) else []


def _taint_place(group: NodeGroup) -> Place:
    root = group.nodes[0].place if group.nodes else group.place
    for steps in (("spec", "taints"), ("spec", "template", "spec", "taints")):
        if root.at(*steps).exists:
            return root.at(*steps).key()
    return group.place


@rule("QC203")
def flavor_taint_not_on_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report taints that a flavor declares but its nodes do not have."""
    for flavor, _ in promises_of(cluster).used_pools:
        groups = [m.group for m in supply_of(cluster).matches(flavor.key)]
        if not groups or not all(g.is_known and not has_open_taints(g) for g in groups):
            continue
        carried = {(t.key, t.value, t.effect) for g in groups for c in g.classes for t in c.taints}
        for at, taint in enumerate(flavor.node_taints):
            if taint.is_hard and (taint.key, taint.value, taint.effect) not in carried:
                yield (
                    finding(
                        flavor.place.at("spec", "nodeTaints", at),
                        f"{flavor.title} declares the taint {taint}, which no node of "
                        f"{names(sorted({g.name for g in groups}))} carries",
                    ).near(_taint_place(groups[0]), f"{groups[0].name} carries {_taints(groups[0])}")
                )


def _taints(group: NodeGroup) -> str:
    taints = sorted({str(t) for c in group.classes for t in c.taints})
    return names(taints) if taints else "no taint"


@rule("QC204")
def flavor_taint_self_cancelled(cluster: Cluster) -> Iterator[Finding]:
    """Report taints that a flavor both declares and tolerates."""
    for flavor in cluster.flavors:
        first = dict(tolerated(flavor.node_taints, flavor.tolerations))
        for at, taint in enumerate(flavor.node_taints):
            by = first.get(taint)
            if by is not None:
                yield (
                    finding(
                        flavor.place.at("spec", "nodeTaints", at),
                        f"flavor {flavor.name} tolerates its own taint {taint}, so the taint excludes no workload",
                    )
                    .about(flavor.id)
                    .near(flavor.place.at("spec", "tolerations", by), "tolerated here")
                )
