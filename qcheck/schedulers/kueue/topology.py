"""Topology-aware placement: whether the nodes of a workload's flavors have room in the domains that it asks for.

Kueue then looks at nodes before it admits: what finds no room is not admitted (TopologyPlacementFailed), and the next
flavor is tried. Source: Kueue 0.19 `pkg/scheduler/flavorassigner/tas_flavorassigner.go`, `pkg/cache/scheduler/tas_*.go`.
"""

from __future__ import annotations

from qcheck.cluster.reasons import NO_MATCHING_FLAVOR, TOPOLOGY_FAILED, Reason
from qcheck.cluster.unread import NODES
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.kube_scheduler import schedule
from qcheck.schedulers.kueue.admission import Decision, decide
from qcheck.schedulers.kueue.flavor_eligibility import uses_topology
from qcheck.schedulers.kueue.pod_injection import created_pods
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Topology
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import TopologyRequest, Workload
    from qcheck.schedulers.kueue.flavor_assignment import Assigned


class Failure(Value):
    """Why a flavor's nodes do not serve. `flavor` None: no flavor would, whatever the nodes. `certain`: a proof."""

    reason: Reason
    flavor: str | None
    certain: bool = True


def decide_on_nodes(cluster: Cluster, workload: Workload) -> Decision:
    """Kueue's decision with the nodes in view, where topology-aware scheduling makes it look at them."""
    skipped: frozenset[str] = frozenset()
    failures: list[Failure] = []
    while True:
        decision = decide(cluster, workload, skipped)
        if decision.admitted is not True:
            break
        failure = next(_failures(cluster, decision), None)
        if failure is None:
            return decision
        failures.append(failure)
        if failure.flavor is None or failure.flavor in skipped:
            break
        skipped |= {failure.flavor}
    if not failures:
        return decision
    first = decide(cluster, workload)
    certain = all(f.certain for f in failures) and decision.admitted is not None
    reasons = tuple(f.reason for f in failures)
    admitted = False if certain else None
    return replace(first, admitted=admitted, code=reasons[0].code if certain else None, reasons=reasons)


def _failures(cluster: Cluster, decision: Decision) -> Iterator[Failure]:
    queue = cluster.queue[decision.cluster_queue or ""]
    asking = [a for a in decision.assigned if a.demand.count and uses_topology(cluster, queue, a.pod_set)]
    for assigned in asking:
        yield from _one_flavor(cluster, queue, assigned)
    if not asking:
        return
    if not cluster.has_nodes:
        message = "it asks for a topology, and no node pool and no Node was read that could have it"
        yield Failure(Reason("NodesUnknown", "no-nodes", message, _place(asking[0])), None, certain=False)
        return
    for together in _bound_together(asking):
        yield from _level(cluster, decision, together)
    yield from _anywhere(cluster, decision, asking)


def _one_flavor(cluster: Cluster, queue: ClusterQueue, assigned: Assigned) -> Iterator[Failure]:
    """A pod set needs exactly one flavor with a topology."""
    flavors = _topology_flavors(cluster, assigned)
    if len(flavors) == 1:
        return
    if flavors:
        message = f"pod set {assigned.pod_set.name} would get two flavors with a topology ({', '.join(flavors)})"
    else:
        message = f"pod set {assigned.pod_set.name} asks for a topology and gets no flavor that has one"
    near = (queue.place.at("spec", "resourceGroups"),)
    yield Failure(Reason(NO_MATCHING_FLAVOR, "topology", message, _place(assigned), near), None)


def _topology_flavors(cluster: Cluster, assigned: Assigned) -> list[str]:
    return [f for f in assigned.flavor_names if f in cluster.flavor and cluster.flavor[f].topology]


def _bound_together(asking: list[Assigned]) -> list[list[Assigned]]:
    """Pod sets that must share a domain with each other or within themselves."""
    found: dict[str, list[Assigned]] = {}
    for assigned in asking:
        asked = assigned.pod_set.topology
        if asked is not None and (asked.required or (asked.slice_level and asked.slice_size)):
            key = f"group {asked.group}" if asked.group else f"alone {assigned.pod_set.name}"
            found.setdefault(key, []).append(assigned)
    return list(found.values())


def _level(cluster: Cluster, decision: Decision, together: list[Assigned]) -> Iterator[Failure]:
    from qcheck.packing.domains import Slice
    from qcheck.packing.pod_shape import pod_request
    from qcheck.packing.question import Pods
    from qcheck.packing.required_domain import Party, misfit

    asked, flavor = together[0].pod_set.topology, _topology_flavors(cluster, together[0])[0]
    topology = cluster.topology.get(cluster.flavor[flavor].topology or "")
    if asked is None or topology is None or not _has_levels(topology, asked):
        return
    members = tuple(
        Pods(a.pod_set.name, pod_request(cluster, decision.workload, a.pod_set), a.demand.count) for a in together
    )
    slices = (Slice(asked.slice_level, asked.slice_size),) if asked.slice_level and asked.slice_size else ()
    found = misfit(cluster, flavor, topology.levels, Party(decision.workload.name, members, asked.required, slices))
    if found is not None:
        level = asked.required or asked.slice_level
        message = f"in flavor {flavor} no domain of {level} has room for {_pods(together)}: {found.why}"
        near = tuple(m.group.count_place for m in supply_of(cluster).matches(flavor))
        change = f"run at most {found.most} pods in one domain" if found.most else ""
        reason = Reason(TOPOLOGY_FAILED, "domain", message, asked.place, near, change, flavor)
        yield Failure(reason, flavor, found.certain and cluster.has_all(NODES))


def _has_levels(topology: Topology, asked: TopologyRequest) -> bool:
    return all(level in topology.levels for level in (asked.required, asked.slice_level) if level)


def _pods(together: list[Assigned]) -> str:
    return " and ".join(f"{a.demand.count} {a.pod_set.name}" for a in together)


def _anywhere(cluster: Cluster, decision: Decision, asking: list[Assigned]) -> Iterator[Failure]:
    """With nodes as the lowest level Kueue places each pod on a node, as kube-scheduler would."""
    flavor = _topology_flavors(cluster, asking[0])[0]
    topology = cluster.topology.get(cluster.flavor[flavor].topology or "")
    if topology is None or not topology.has_hostname:
        return
    placed = schedule(cluster, decision.workload.namespace, created_pods(cluster, decision))
    if placed.runs is False:
        reason = replace(placed.reasons[0], code=TOPOLOGY_FAILED, flavor=flavor)
        yield Failure(reason, flavor)


def _place(assigned: Assigned) -> Place:
    asked = assigned.pod_set.topology
    return asked.place if asked is not None else assigned.pod_set.template.place
