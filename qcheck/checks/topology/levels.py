"""QC501 to QC503, QC513: topologies, their levels, and the requests of workloads."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.problems import NODES
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.packing.flavor_domains import ABSENT, HOSTNAME, UNKNOWN, label_state
from qcheck.schedulers.kueue.routing import destination
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ResourceFlavor, Topology
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import PodSet, TopologyRequest, Workload
    from qcheck.supply.groups import NodeGroup

PREFIX = "kueue.x-k8s.io/podset-"


@rule("QC501")
def topology_missing(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors whose topologyName does not exist: queues that use them stay inactive."""
    for name in dict.fromkeys(f.topology for f in cluster.flavors if f.topology):
        if name not in cluster.topology:
            yield _no_topology(cluster, name)


def _no_topology(cluster: Cluster, name: str) -> Finding:
    naming = [f for f in cluster.flavors if f.topology == name]
    places = [f.place.at("spec", "topologyName") for f in naming]
    message = f"no Topology is named {name}; flavor {names(f.name for f in naming)} cannot be used without it"
    found = finding(places[0], message).about(naming[0].id).likely(not cluster.has_all("Topology"))
    for place in places[1:]:
        found = found.near(place, "named here too")
    near = nearest(name, cluster.topology)
    if near is not None:
        found = found.near(cluster.topology[near].name_place, f"the nearest is {near}")
        found = found.fixed_by(f"Write {near} instead of {name}, or add a Topology named {name}.")
    return found.with_data(topology=name, flavors=[f.name for f in naming], nearest=near)


def topology_flavors(cluster: Cluster) -> list[tuple[ResourceFlavor, Topology]]:
    """Return flavors whose Topology exists."""
    return [(f, cluster.topology[f.topology]) for f in cluster.flavors if f.topology and f.topology in cluster.topology]


@rule("QC502")
def topology_level_not_on_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report levels whose label the flavor's nodes lack: such nodes are not counted at all."""
    reported: set[tuple[str, str, tuple[str, ...]]] = set()
    for flavor, topology in topology_flavors(cluster):
        groups = [m.group for m in supply_of(cluster).matches(flavor.name)]
        for level in topology.levels:
            states = [(g, label_state(g, level)) for g in groups]
            lacking = [g for g, state in states if state == ABSENT]
            key = (topology.name, level, tuple(g.name for g in lacking))
            if not lacking or key in reported:
                continue
            reported.add(key)
            some = len(lacking) < len(groups) or any(_has_some(g, level) for g in lacking)
            found = _not_on_nodes(flavor, topology, level, lacking, some or any(s == UNKNOWN for _, s in states))
            elsewhere = not cluster.has_all(NODES) and any(not g.nodes for g in lacking)
            yield found.likely(elsewhere or any(not g.is_known for g in lacking))


def _has_some(group: NodeGroup, level: str) -> bool:
    return any(level in n.node_labels for n in group.nodes)


def _not_on_nodes(
    flavor: ResourceFlavor, topology: Topology, level: str, lacking: list[NodeGroup], only_some: bool
) -> Finding:
    place = topology.place.at("spec", "levels", topology.levels.index(level), "nodeLabel")
    missing = sum(_without(g, level) for g in lacking)
    shown = names(who for g in lacking for who in _who(g, level))
    what = "some nodes" if only_some else "the nodes"
    message = (
        f"{what} of flavor {flavor.name} have no label {level}, a level of topology {topology.name}: "
        f"{shown} {'is' if missing == 1 else 'are'} not counted for any workload that uses the topology"
    )
    found = finding(place, message).about(topology.id).near(flavor.place.at("spec", "topologyName"), "used here")
    for group in lacking:
        found = found.near(_first_without(group, level), f"{names(_who(group, level))} without {level}")
    return found.at_most(Severity.WARNING if only_some else Severity.ERROR).with_data(
        flavor=flavor.name, topology=topology.name, level=level, pools=[g.name for g in lacking], nodes=missing
    )


def _without(group: NodeGroup, level: str) -> int:
    """Return how many nodes lack the label, as far as known."""
    if group.nodes:
        return sum(level not in n.node_labels for n in group.nodes)
    return group.ceiling or group.static


def _who(group: NodeGroup, level: str) -> list[str]:
    """Return the dumped nodes without the label, or the pool."""
    if group.nodes:
        return [n.name for n in group.nodes if level not in n.node_labels]
    missing = _without(group, level)
    return [f"the {plural(missing, 'node')} of {group.name}" if missing else f"pool {group.name}"]


def _first_without(group: NodeGroup, level: str) -> Place:
    return next((n.name_place for n in group.nodes if level not in n.node_labels), group.place)


@rule("QC503")
def topology_without_hostname(cluster: Cluster) -> Iterator[Finding]:
    """Report topologies whose domains are not nodes: Kueue sums their free capacity and checks no individual node."""
    for topology in cluster.topologies:
        if not topology.levels or topology.has_hostname:
            continue
        flavors = [f for f, t in topology_flavors(cluster) if t is topology]
        last = topology.levels[-1]
        message = (
            f"the lowest level of topology {topology.name} is {last}, not {HOSTNAME}: Kueue sums the free "
            f"capacity of a domain and admits pods that no single node can hold"
        )
        found = finding(topology.place.at("spec", "levels", len(topology.levels) - 1, "nodeLabel"), message)
        for flavor in flavors:
            found = found.near(flavor.place.at("spec", "topologyName"), f"flavor {flavor.name} uses it")
        yield found.about(topology.id).with_data(topology=topology.name, lowest=last, flavors=[f.name for f in flavors])


@rule("QC513")
def topology_request_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Report topology annotations that name a level that no flavor of the queue has, or that contradict each other."""
    for workload in cluster.workloads:
        for pod_set in workload.pod_sets:
            if pod_set.topology is not None:
                yield from _contradictions(workload, pod_set, pod_set.topology)
                yield from _unknown_levels(cluster, workload, pod_set.topology)


def _contradictions(workload: Workload, pod_set: PodSet, asked: TopologyRequest) -> Iterator[Finding]:
    bases = [
        kind
        for kind, is_set in (
            ("required", asked.required),
            ("preferred", asked.preferred),
            ("unconstrained", asked.unconstrained),
        )
        if is_set
    ]
    if len(bases) > 1:
        message = f"{workload.id.kind} {workload.name} asks for {names(bases)} topology; only one of them may be set"
        yield _at(workload, asked, f"{bases[1]}-topology", message).near(
            annotation_place(asked, f"{bases[0]}-topology"), "also set here"
        )
    alone, count = asked.slice_size, pod_set.count
    if (asked.slice_level is None) != (alone is None):
        have, lack = ("slice-size", "slice-required-topology") if alone else ("slice-required-topology", "slice-size")
        message = (
            f"{workload.id.kind} {workload.name} has podset-{have} without podset-{lack}; they must be set together"
        )
        yield _at(workload, asked, have, message)
    elif asked.slices and count % (size := asked.slices[0].size):
        message = (
            f"{count} pods of {workload.id.kind} {workload.name} are {plural(count // size, 'slice')} of {size}; "
            f"the remaining {count % size} are not placed"
        )
        kind = "slice-size" if alone else "slice-required-topology-constraints"
        found = _at(workload, asked, kind, message).near(pod_set.count_place, f"{count} pods")
        yield found.at_most(Severity.WARNING)


def _unknown_levels(cluster: Cluster, workload: Workload, asked: TopologyRequest) -> Iterator[Finding]:
    queue = destination(cluster, workload).queue
    used = {f.name for f in queue.flavors()} if queue is not None else set()
    flavors = [cluster.flavor[name] for name in used if name in cluster.flavor]
    topologies = {f.topology: cluster.topology[f.topology] for f in flavors if f.topology in cluster.topology}
    missing = any(f.topology and f.topology not in cluster.topology for f in flavors)
    if queue is None or missing or not topologies:
        return
    for kind, level in _levels(asked):
        if not any(level in t.levels for t in topologies.values()):
            yield _no_level(workload, asked, kind, level, [topologies[name] for name in sorted(topologies)])


def _levels(asked: TopologyRequest) -> Iterator[tuple[str, str]]:
    for kind, level in (
        ("required-topology", asked.required),
        ("preferred-topology", asked.preferred),
        ("slice-required-topology", asked.slice_level),
    ):
        if level:
            yield kind, level


def _no_level(workload: Workload, asked: TopologyRequest, kind: str, level: str, topologies: list[Topology]) -> Finding:
    offered = list(dict.fromkeys(lv for t in topologies for lv in t.levels))
    message = (
        f"{workload.id.kind} {workload.name} asks for a domain of {level}; topology "
        f"{names(t.name for t in topologies)} has the levels {names(offered)}"
    )
    found = _at(workload, asked, kind, message)
    for topology in topologies:
        found = found.near(topology.place.at("spec", "levels"), f"levels of {topology.name}")
    near = nearest(level, offered)
    if near is not None:
        words = f"Write {near} instead of {level}."
        found = found.fixed_by(words).offering(annotation_place(asked, kind), near, words)
    return found.with_data(level=level, levels=list(offered))


def _at(workload: Workload, asked: TopologyRequest, kind: str, message: str) -> Finding:
    return finding(annotation_place(asked, kind), message).about(workload.id)


def annotation_place(asked: TopologyRequest, kind: str) -> Place:
    return asked.place.at(PREFIX + kind)
