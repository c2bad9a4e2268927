"""QC507: gangs that need a whole domain."""

from __future__ import annotations

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.placement.taints import repelling_taints
from qcheck.checks.registry import rule
from qcheck.checks.topology.levels import PREFIX, topology_flavors
from qcheck.cluster.labels import Toleration
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding
from qcheck.packing.question import Pods
from qcheck.packing.required_domain import GangRequest, misfit
from qcheck.schedulers.kueue.routing import destination
from qcheck.schedulers.kueue.topology_bounds import misfit_together, party_of
from qcheck.schedulers.table import declared_shapes, promises_of
from qcheck.supply.pod_requests import bounds, scheduled
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ResourceFlavor, Topology
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.packing.pod_shape import PodShape
    from qcheck.packing.required_domain import Misfit
    from qcheck.quota.tree import Cell, CellKey
    from qcheck.schedulers.kueue.topology_bounds import Members

    Tried = list[tuple[str, Misfit]]


@rule("QC507")
def gang_exceeds_domain(cluster: Cluster) -> Iterator[Finding]:
    """Report gangs for which no domain of their required level is large enough, even if empty."""
    for verdict in verdicts_of(cluster):
        for pod_sets in _bound_together(verdict.workload) if not verdict.admitted else ():
            yield from _of_workload(cluster, verdict.workload, pod_sets)
        if verdict.is_start_decision and verdict.admitted and verdict.runs is False:
            yield from _started_elsewhere(verdict)
    for shape in cluster.policy.shapes:
        if shape.level and shape.pods:
            yield from _of_shape(cluster, shape.name)


def _started_elsewhere(verdict: Verdict) -> Iterator[Finding]:
    """Report a workload that a scheduler other than Kueue would have to start in one domain."""
    workload, reason = verdict.workload, verdict.reasons[-1]
    if reason.cause == "domain":
        found = finding(reason.place, f"{workload.id.kind} {workload.name} {reason.message}").about(workload.id)
        for pod_set in workload.pod_sets:
            found = found.near(pod_set.count_place, f"{pod_set.count} pods")
        yield found.with_data(queue=verdict.decision.queue)


def _bound_together(workload: Workload) -> list[list[PodSet]]:
    """Return pod sets that require a topology level; those of one podset group together."""
    found: dict[str, list[PodSet]] = {}
    for pod_set in workload.unit:
        asked = pod_set.topology
        if asked is not None and (asked.required or asked.slices) and pod_set.count > 0:
            found.setdefault(f"group {asked.group}" if asked.group else f"alone {pod_set.name}", []).append(pod_set)
    return list(found.values())


def _of_workload(cluster: Cluster, workload: Workload, pod_sets: list[PodSet]) -> Iterator[Finding]:
    queue, asked = destination(cluster, workload).queue, pod_sets[0].topology
    used = {f.name for f in queue.flavors()} if queue is not None else set()
    assert asked is not None
    offered = [(f, t) for f, t in topology_flavors(cluster) if f.name in used and set(asked.levels) <= set(t.levels)]
    limits = bounds(cluster, workload.namespace)
    members = tuple(
        (p, scheduled(cluster, p.template, limits), p.count if p.minimum is None else p.minimum) for p in pod_sets
    )
    tried = _tried(cluster, offered, members)
    if not tried:
        return
    party = party_of(members, offered[0][1])
    level = "required-topology" if asked.required else "slice-required-topology"
    found = finding(asked.place.at(PREFIX + level), _message(f"{workload.id.kind} {workload.name}", party, tried))
    for pod_set in pod_sets:
        found = found.near(pod_set.count_place, f"{pod_set.count} pods")
    yield _settled(cluster, found.about(workload.id), party, tried)


def _tried(cluster: Cluster, offered: list[tuple[ResourceFlavor, Topology]], members: Members) -> Tried:
    """Return why the pod sets fit in none of the flavors; empty if they may fit in one."""
    tried: Tried = []
    for flavor, topology in offered:
        known = supply_of(cluster).matches(flavor.name)
        let_in = _tolerating(cluster, flavor.name, members) if known else members
        why = misfit_together(cluster, flavor.name, topology, let_in) if known else None
        if why is None:
            return []
        tried.append((flavor.name, why))
    return tried


def _tolerating(cluster: Cluster, flavor: str, members: Members) -> Members:
    """Return pod sets with tolerations for the taints that QC202 reports, so that only other obstacles count."""
    added = tuple(Toleration(t.key, "Exists", "", t.effect) for t in repelling_taints(cluster, flavor))
    if not added:
        return members
    return tuple(
        (replace(p, template=replace(p.template, tolerations=(*p.template.tolerations, *added))), request, count)
        for p, request, count in members
    )


def _message(who: str, party: GangRequest, tried: Tried) -> str:
    many = (
        f"{party.size} pods" if len(party.members) == 1 else " and ".join(f"{m.count} {m.label}" for m in party.members)
    )
    if party.level is None:
        need = (
            f"needs its {many} in slices of {party.slices[0].size} that each share a domain of {party.slices[0].level}"
        )
    else:
        need = f"needs its {many} in one domain of {party.level}"
    reasons = "; ".join(f"in flavor {flavor} {miss.why}" for flavor, miss in tried)
    return f"{who} {need}, but {reasons}"


def _settled(cluster: Cluster, found: Finding, party: GangRequest, tried: Tried) -> Finding:
    for group in {m.group.name: m.group for flavor, _ in tried for m in supply_of(cluster).matches(flavor)}.values():
        found = found.near(group.count_place, f"nodes of {group.name}")
    most = [miss.most for _, miss in tried if miss.most is not None]
    return found.likely(not all(miss.certain for _, miss in tried)).with_data(
        flavors=[flavor for flavor, _ in tried], level=party.level, pods=party.size, largest=max(most, default=None)
    )


def _of_shape(cluster: Cluster, name: str) -> Iterator[Finding]:
    tried: Tried = []
    places: list[Cell] = []
    for (flavor, _), quotas, shape in _cells_of(cluster, name):
        party = GangRequest(shape.name, (Pods(shape.name, shape.request, shape.pods or 0),), shape.level)
        why = misfit(cluster, flavor, (shape.level or "",), party)
        if why is None:
            return
        tried.append((flavor, why))
        places += quotas
    if tried:
        largest = max(places, key=lambda q: q.promised)
        found = finding(largest.place, _message(f"shape {name}", party, tried))
        yield _settled(cluster, found, party, tried)


def _cells_of(cluster: Cluster, name: str) -> Iterator[tuple[CellKey, tuple[Cell, ...], PodShape]]:
    """Yield the cells of a declared shape's accelerator, in its flavors that have nodes."""
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        for shape in declared_shapes(cluster, flavor) if supply_of(cluster).matches(flavor) else ():
            if shape.name == name and shape.accelerator == resource:
                yield (flavor, resource), quotas, shape
