"""Topology-aware placement: whether the nodes of a workload's flavors have room in the requested domains.

Kueue then checks nodes before it admits: a workload without room is not admitted (TopologyPlacementFailed), and the
next flavors are tried. If the nodes are known exactly, Kueue's own search decides, in its own order. Otherwise only a
proof that no order fits counts, and uncertain cases are left open by kube-scheduler's packing.

Source: Kueue 0.19 `pkg/scheduler/flavorassigner/tas_flavorassigner.go`, `pkg/cache/scheduler/tas_*.go`.
"""

from __future__ import annotations

from qcheck.cluster.pods import in_base_units
from qcheck.cluster.problems import NODES
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.schedulers.kueue.decision import Looked, PlacedPodSets
from qcheck.schedulers.kueue.flavor_assignment import has_topology
from qcheck.schedulers.kueue.flavor_eligibility import uses_topology
from qcheck.schedulers.kueue.gates import LEAST_FREE, MIXED_PROFILE, is_on
from qcheck.schedulers.kueue.topology_bounds import misfits
from qcheck.schedulers.kueue.topology_nodes import topology_nodes
from qcheck.schedulers.kueue.topology_reasons import asked_at, not_found
from qcheck.schedulers.kueue.topology_search import NotFound, search
from qcheck.schedulers.kueue.topology_tree import Ask
from qcheck.supply.node_demand import NodeDemand
from qcheck.supply.pod_requests import PODS, completed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.workloads import TopologyRequest
    from qcheck.schedulers.kueue.assignment import Assigned, AssignmentTerms
    from qcheck.schedulers.kueue.topology_nodes import TopologyNodes
    from qcheck.schedulers.kueue.topology_tree import Leaf, Usage
    from qcheck.supply.pod_requests import LimitRangeBounds


def look(cluster: Cluster, queue: ClusterQueue, terms: AssignmentTerms, assigned: tuple[Assigned, ...]) -> Looked:
    """Find domains for the pod sets that use a topology."""
    asking = [a for a in assigned if a.demand.count and uses_topology(cluster, queue, a.pod_set)]
    errors = tuple(r for a in asking for r in _one_flavor(cluster, queue, a))
    if errors or not asking:
        return Looked(errors)
    asking = [a for a in asking if not _is_delayed(cluster, queue, _flavor(cluster, a))]
    empty = next((a for a in asking if not _own_requests(cluster, a, terms)), None)
    if empty is not None:
        return Looked((_never_fits(empty),))
    if asking and not cluster.has_nodes:
        message = "it asks for a topology, but no node pool or Node was read that may have it"
        return Looked((Reason(ReasonCode.NODES_UNKNOWN, "no-nodes", message, asked_at(asking[0])),), certain=False)
    by_flavor: dict[str, list[Assigned]] = {}
    for each in asking:
        by_flavor.setdefault(_flavor(cluster, each), []).append(each)
    requests = {a.pod_set.name: _request(cluster, a, terms) for a in asking}
    nodes = {f: topology_nodes(cluster, f) for f in by_flavor}
    if any(
        of is None or not of.unsure.isdisjoint(requests[a.pod_set.name])
        for f, of in nodes.items()
        for a in by_flavor[f]
    ):
        return misfits(cluster, asking, requests, terms.limits)
    return _search_all(cluster, by_flavor, requests, terms.limits)


def _one_flavor(cluster: Cluster, queue: ClusterQueue, assigned: Assigned) -> Iterator[Reason]:
    """Yield a reason if a pod set does not have exactly one flavor with a topology."""
    flavors = [f for f in assigned.flavor_names if has_topology(cluster, f)]
    if len(flavors) == 1:
        return
    if flavors:
        message = f"pod set {assigned.pod_set.name} would get two flavors with a topology ({', '.join(flavors)})"
    else:
        message = f"pod set {assigned.pod_set.name} asks for a topology, but gets no flavor that has one"
    near = (queue.place.at("spec", "resourceGroups"),)
    yield Reason(
        code=ReasonCode.NO_MATCHING_FLAVOR,
        cause="topology",
        message=message,
        place=asked_at(assigned),
        near=near,
    )


def _flavor(cluster: Cluster, assigned: Assigned) -> str:
    return next(f for f in assigned.flavor_names if has_topology(cluster, f))


def _is_delayed(cluster: Cluster, queue: ClusterQueue, flavor: str) -> bool:
    """Return whether domains are chosen later: by a MultiKueue worker, or once nodes are provisioned."""
    for use in queue.checks:
        check = cluster.admission_check.get(use.name)
        if check is not None and check.is_multikueue:
            return True
        if check is not None and check.is_provisioning and (not use.flavors or flavor in use.flavors):
            return True
    return False


def _request(cluster: Cluster, assigned: Assigned, terms: AssignmentTerms) -> Amounts:
    """Return what Kueue reserves on a node for one pod: its own requests and a pod slot, whatever its charge is."""
    own = _own_requests(cluster, assigned, terms)
    return {**{r: amount for r, amount in own.items() if amount > 0}, PODS: 1}


def _own_requests(cluster: Cluster, assigned: Assigned, terms: AssignmentTerms) -> Amounts:
    return in_base_units(completed(cluster, assigned.pod_set.template, terms.limits, terms.as_pod))


def _never_fits(assigned: Assigned) -> Reason:
    """Return the reason that a pod set without requests is never admitted: Kueue's last check finds room for 0 pods."""
    name = assigned.pod_set.name
    message = (
        f"the pods of pod set {name} have no resource requests: Kueue's last check counts how many of them fit into "
        "the chosen domain, and for pods without requests the result is 0"
    )
    change = f"give the pods of pod set {name} a request, for example cpu: 1m"
    return Reason(
        code=ReasonCode.TOPOLOGY_FAILED,
        cause="topology",
        message=message,
        place=assigned.pod_set.template.place,
        near=(asked_at(assigned),),
        change=change,
    )


def _search_all(
    cluster: Cluster, by_flavor: dict[str, list[Assigned]], requests: dict[str, Amounts], limits: LimitRangeBounds
) -> Looked:
    """Search each flavor in the order of their names; nodes that two flavors share are shared."""
    shared: Usage = {}
    placed: list[PlacedPodSets] = []
    for flavor in sorted(by_flavor):
        nodes = topology_nodes(cluster, flavor)
        assert nodes is not None
        usage: Usage = shared if nodes.tree.is_by_node else {}
        for together in _grouped(by_flavor[flavor]):
            found = _search_one(cluster, flavor, nodes, together, requests, usage)
            if isinstance(found, Reason):
                proof = misfits(cluster, by_flavor[flavor], requests, limits)
                return Looked(proof.reasons or (found,), certain=cluster.has_all(NODES))
            placed += found
    return Looked(placed=tuple(placed))


def _grouped(asking: list[Assigned]) -> list[list[Assigned]]:
    """Return pod sets grouped by podset group, in the order of their first member."""
    groups: dict[str, list[Assigned]] = {}
    for index, each in enumerate(asking):
        group = each.pod_set.topology.group if each.pod_set.topology else None
        groups.setdefault(f"group {group}" if group else str(index), []).append(each)
    return list(groups.values())


def _search_one(
    cluster: Cluster,
    flavor: str,
    nodes: TopologyNodes,
    together: list[Assigned],
    requests: dict[str, Amounts],
    usage: Usage,
) -> list[PlacedPodSets] | Reason:
    """Search domains for a pod set, or for a leader and its workers, whose selectors and tolerations count for both."""
    workers, leader = together[0], together[1] if len(together) > 1 else None
    if leader is not None and leader.demand.count > workers.demand.count:
        workers, leader = leader, workers
    template = workers.pod_set.template
    tolerations = (*template.tolerations, *cluster.flavor[flavor].tolerations)
    on = nodes.admitted_by(NodeDemand(template.selection, tolerations, compares=True))
    asked = _ask(nodes.tree.levels, workers, requests, leader)
    if isinstance(asked, str):
        return Reason(ReasonCode.TOPOLOGY_FAILED, "domain", asked, asked_at(workers), flavor=flavor)
    least_free = is_on(cluster, LEAST_FREE) or (asked.unconstrained and is_on(cluster, MIXED_PROFILE))
    asked = replace(asked, on=on, least_free=least_free)
    found = search(nodes.tree, asked, usage)
    if isinstance(found, NotFound):
        return not_found(cluster, flavor, nodes, asked, workers, found, usage)
    placed = _placed(flavor, workers, found.pods)
    if leader is not None:
        placed += _placed(flavor, leader, found.leader)
    for each in placed:
        taken = usage.setdefault(each.key, {})
        for resource, amount in requests[each.pod_set].items():
            taken[resource] = taken.get(resource, 0) + amount * each.count
    return placed


def _placed(flavor: str, assigned: Assigned, found: tuple[tuple[Leaf, int], ...]) -> list[PlacedPodSets]:
    return [PlacedPodSets(assigned.pod_set.name, flavor, leaf.key, count) for leaf, count in found]


def _ask(
    levels: tuple[str, ...], workers: Assigned, requests: dict[str, Amounts], leader: Assigned | None
) -> Ask | str:
    """Return the question for the search, or in words why the search would reject it at once."""
    asked = workers.pod_set.topology
    slices = asked.slices if asked is not None else ()
    if not levels:
        return "the topology has no levels"
    base = _base(levels, asked)
    unconstrained = asked is None or not (asked.required or asked.preferred)
    level, slice_level = levels.index(base), levels.index(slices[0].level) if slices else len(levels) - 1
    if level > slice_level:
        return f"slices of pod set {workers.pod_set.name} share a {levels[slice_level]}, which is above its {base}"
    inner: dict[int, int] = {}
    at, size = slice_level, slices[0].size if slices else 1
    for each in slices[1:]:
        deeper = levels.index(each.level)
        if deeper <= at or size % each.size:
            return f"slices of {each.size} per {each.level} do not nest in slices of {size} per {levels[at]}"
        inner.update(dict.fromkeys(range(at + 1, deeper + 1), each.size))
        at, size = deeper, each.size
    return Ask(
        request=requests[workers.pod_set.name],
        count=workers.demand.count,
        level=level,
        slice_level=slice_level,
        slice_size=slices[0].size if slices else 1,
        inner=inner,
        required=bool(asked is not None and asked.required),
        unconstrained=unconstrained,
        leader=None if leader is None else requests[leader.pod_set.name],
    )


def _base(levels: tuple[str, ...], asked: TopologyRequest | None) -> str:
    """Return the level at which the search begins: the named one; the top for slices alone; else the bottom."""
    if asked is not None and (asked.required or asked.preferred):
        return asked.required or asked.preferred or ""
    return levels[0] if asked is not None and asked.slices else levels[-1]
