"""QC507 and QC508: gangs that need a whole domain, and quota in units of domains."""

from __future__ import annotations

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.registry import rule
from qcheck.checks.topology.levels import PREFIX, topology_flavors
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.packing.flavor_domains import CLIQUE, HOSTNAME
from qcheck.packing.question import Pods
from qcheck.packing.required_domain import GangRequest, domain_size, misfit
from qcheck.schedulers.kueue.routing import destination
from qcheck.schedulers.kueue.topology_bounds import misfit_together, party_of
from qcheck.schedulers.shapes import declared_shapes
from qcheck.schedulers.table import promises_of, workload_shapes
from qcheck.supply.pod_requests import bounds, scheduled
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ResourceFlavor, Topology
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.packing.pod_shape import PodShape
    from qcheck.packing.required_domain import DomainSize, GangRequest, Misfit
    from qcheck.quota.tree import Cell, CellKey
    from qcheck.schedulers.kueue.topology_bounds import Members

    Tried = list[tuple[str, Misfit]]


@rule("QC507")
def gang_exceeds_domain(cluster: Cluster) -> Iterator[Finding]:
    """Gangs for which no domain of the level they require is large enough, whatever else runs."""
    for verdict in verdicts_of(cluster):
        for pod_sets in _bound_together(verdict.workload) if not verdict.admitted else ():
            yield from _of_workload(cluster, verdict.workload, pod_sets)
    for shape in cluster.policy.shapes:
        if shape.level and shape.pods:
            yield from _of_shape(cluster, shape.name)


def _bound_together(workload: Workload) -> list[list[PodSet]]:
    """Pod sets that require a topology level; those of one podset group together."""
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
        why = misfit_together(cluster, flavor.name, topology, members) if known else None
        if why is None:
            return []
        tried.append((flavor.name, why))
    return tried


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
    """The cells of a declared shape's accelerator, in flavors that it concerns and that have nodes."""
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        for shape in declared_shapes(cluster, flavor) if supply_of(cluster).matches(flavor) else ():
            if shape.name == name and shape.accelerator == resource:
                yield (flavor, resource), quotas, shape


@rule("QC508")
def quota_not_domain_multiple(cluster: Cluster) -> Iterator[Finding]:
    """Accelerator quota that leaves a rest smaller than the domains in which its workloads run."""
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        if not is_compute(resource) or not supply_of(cluster).matches(flavor):
            continue
        for level in _levels_that_matter(cluster, flavor):
            size = domain_size(cluster, flavor, level, resource)
            short = [q for q in quotas if size is not None and _leaves_rest(q, size)]
            if size is not None and short:
                yield _no_multiple(cluster, flavor, level, size, short)
                break


def _levels_that_matter(cluster: Cluster, flavor: str) -> list[str]:
    """Return what workloads and shapes require; else the finest level above the node, and the NVLink domain."""
    asked = [s.level for s in cluster.policy.shapes if s.level and (not s.flavors or flavor in s.flavors)]
    asked += [s.level for s in workload_shapes(cluster).get(flavor, ()) if s.level and s.accelerator]
    topology = cluster.topology.get(cluster.flavor[flavor].topology or "") if flavor in cluster.flavor else None
    above = [level for level in (topology.levels if topology else ()) if level != HOSTNAME]
    return list(dict.fromkeys(asked or [*above[-1:], CLIQUE]))


def _leaves_rest(quota: Cell, size: DomainSize) -> bool:
    """Return whether a quota is not a multiple of a domain, in full or after DaemonSets. Single nodes belong to QC504."""
    if size.nodes < 2 or not quota.promised or not size.free:
        return False
    return bool(quota.promised % size.free) and bool(quota.promised % size.whole)


def _no_multiple(cluster: Cluster, flavor: str, level: str, size: DomainSize, short: list[Cell]) -> Finding:
    def tell(quota: Cell) -> str:
        full, rest = divmod(quota.promised, size.free)
        return f"{name_amount(quota.resource, quota.promised)} is {full} x {size.free} + {rest}"

    first = max(short, key=lambda q: q.promised)
    full, rest = divmod(first.promised, size.free)
    message = (
        f"{tell(first)}: a domain of {level} in flavor {flavor} has {size.nodes} nodes with {size.free}, "
        f"so {rest} remain that never fill a domain"
    )
    found = finding(first.place, message)
    for quota in short:
        found = found if quota is first else found.near(quota.place, tell(quota))
    place = _size_place(cluster, flavor, level)
    return found.near(place, f"{size.nodes} nodes per domain of {level}").with_data(
        flavor=flavor, resource=first.resource, level=level, domain=size.free, whole=full, rest=rest
    )


def _size_place(cluster: Cluster, flavor: str, level: str) -> Place | None:
    """Return where a pool says how large its domains are."""
    stated = [
        t for m in supply_of(cluster).matches(flavor) if m.group.pool for t in m.group.pool.topology if t.level == level
    ]
    if stated:
        return stated[0].place
    return next((m.group.place for m in supply_of(cluster).matches(flavor)), None)
