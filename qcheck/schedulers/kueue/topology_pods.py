"""Placement of a workload's pods inside the domains that Kueue has chosen.

If a leaf of the topology is a node, nothing is left to choose; otherwise the pods of a domain are packed onto its
nodes.

Source: Kueue 0.19 `pkg/controller/tas/topology_ungater.go`, which writes the labels of the chosen domain into the
node selector of each pod.
"""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.packing.kube_scheduler import Placed, Schedule, Wanted, schedule
from qcheck.schedulers.kueue.flavor_assignment import has_topology
from qcheck.schedulers.kueue.pod_injection import created_pods
from qcheck.schedulers.kueue.topology_nodes import topology_nodes
from qcheck.supply.pod_requests import bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import TopologyRequest
    from qcheck.schedulers.kueue.assignment import Assigned
    from qcheck.schedulers.kueue.decision import Decision
    from qcheck.schedulers.kueue.topology_nodes import LeafNode, TopologyNodes
    from qcheck.supply.groups import NodeGroup

    Contents = tuple[tuple[str, int], ...]

GATE = "kueue.x-k8s.io/topology"
"""The scheduling gate of pods until Kueue chooses their domain."""


def in_domains(cluster: Cluster, decision: Decision) -> Schedule:
    """Place the pods of each domain on its nodes; pods of pod sets without a domain go anywhere."""
    limits = bounds(cluster, decision.workload.namespace)
    wanted = {w.pod_set.name: w for w in created_pods(cluster, decision)}
    domains: dict[tuple[str, str], dict[str, int]] = {}
    for each in decision.placed:
        inside = domains.setdefault((each.flavor, each.key), {})
        inside[each.pod_set] = inside.get(each.pod_set, 0) + each.count
    known: dict[tuple[object, Contents], Schedule] = {}
    found: list[Placed] = []
    replaced: list[Reason] = []
    for (flavor, key), inside in domains.items():
        nodes = topology_nodes(cluster, flavor)
        members = nodes.members[key] if nodes is not None else ()
        labels = _labels(nodes, key) if nodes is not None else {}
        replaced += [r for name in inside for r in _replaced(wanted[name], labels)]
        contents = tuple(sorted(inside.items()))
        alike = (members[0].group.name if len(members) == 1 else key, contents)
        if alike not in known:
            pods = [_ungated(wanted[name], count, labels) for name, count in contents]
            known[alike] = schedule(cluster, limits, pods, _groups(members))
        placed = known[alike]
        if not placed.runs:
            return _not_there(placed, key)
        found += _on(members, placed)
    if replaced:
        return Schedule(None, reasons=tuple(dict.fromkeys(replaced)))
    return _with_the_rest(cluster, decision, list(wanted.values()), found)


def remainders(cluster: Cluster, decision: Decision) -> Schedule | None:
    """Return why not all pods run if a pod set does not consist of whole slices; None if all pod sets do.

    Kueue chooses domains for whole slices only. The remaining pods keep their scheduling gate until one of the others
    ends and leaves its domain to them: never if there is no whole slice, or if the pods wait for each other.
    """
    broken = list(_broken(cluster, decision))
    if not broken:
        return None
    has_no_slice = any(each.demand.count < asked.slices[0].size for each, asked in broken)
    return Schedule(False if has_no_slice else None, reasons=tuple(_gated(*each) for each in broken))


def _broken(cluster: Cluster, decision: Decision) -> Iterator[tuple[Assigned, TopologyRequest]]:
    """Yield the pod sets that do not consist of whole slices, with their topology requests."""
    for each in decision.assigned:
        asked = each.pod_set.topology
        if asked is None or not asked.slices or each.demand.count % asked.slices[0].size == 0:
            continue
        if any(has_topology(cluster, f) for f in each.flavor_names):
            yield each, asked


def _gated(assigned: Assigned, asked: TopologyRequest) -> Reason:
    name, count, size = assigned.pod_set.name, assigned.demand.count, asked.slices[0].size
    kept = f"chooses no domains, and all pods keep the scheduling gate {GATE}"
    if count >= size:
        whole = count // size * size
        kept = f"chooses domains for {whole}, and the others keep the scheduling gate {GATE} until some of those end"
    message = f"the number of pods in pod set {name} is {count}, not a multiple of the slice size {size}: Kueue {kept}"
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="slices",
        message=message,
        place=asked.place,
        near=(assigned.pod_set.count_place,),
        change=f"run a multiple of {size} pods in pod set {name}, or choose a size that divides {count}",
    )


def _labels(nodes: TopologyNodes, key: str) -> dict[str, str]:
    """Return the labels of a domain that Kueue writes into the node selectors of the domain's pods."""
    levels = nodes.tree.levels
    if nodes.tree.is_by_node:
        return {levels[-1]: key}
    leaf = next(d.leaf for d in nodes.tree.by_level[-1] if d.leaf is not None and d.leaf.key == key)
    return dict(zip(levels, leaf.values, strict=True))


def _ungated(wanted: Wanted, count: int, labels: dict[str, str]) -> Wanted:
    """Return pods without the selectors that a domain's labels replace. The domain's nodes have these labels."""
    selection = wanted.template.selection
    selector = {k: v for k, v in selection.selector.items() if k not in labels}
    template = replace(wanted.template, selection=NodeSelection(selector, selection.terms))
    return replace(wanted, template=template, count=count)


def _replaced(wanted: Wanted, labels: dict[str, str]) -> Iterable[Reason]:
    """Yield a reason for each node selector of the pods whose value Kueue replaces."""
    template = wanted.pod_set.template
    for key, value in template.selection.selector.items():
        if labels.get(key, value) != value:
            message = (
                f"pod set {wanted.pod_set.name} selects {key}={value}, but Kueue ignores this when it chooses a domain: "
                f"it chooses one with {key}={labels[key]} and replaces the selector"
            )
            yield Reason(ReasonCode.UNSCHEDULABLE, "selector", message, template.place.at("nodeSelector", key))


def _groups(members: Iterable[LeafNode]) -> tuple[NodeGroup, ...]:
    """Return the groups of some nodes, with only these nodes."""
    together: dict[str, list[LeafNode]] = {}
    for member in members:
        together.setdefault(member.group.name, []).append(member)
    parts = []
    for of in together.values():
        group, names = of[0].group, {m.name for m in of}
        nodes = tuple(n for n in group.nodes if n.name in names)
        parts.append(replace(group, static=len(of), ceiling=len(of), nodes=nodes))
    return tuple(parts)


def _not_there(placed: Schedule, key: str) -> Schedule:
    where = f"in the domain {key}, which Kueue chooses on an idle cluster"
    reasons = tuple(replace(r, message=f"{where}, {r.message}") for r in placed.reasons)
    return Schedule(placed.runs, reasons=reasons)


def _on(members: tuple[LeafNode, ...], placed: Schedule) -> Iterable[Placed]:
    """Return the placement of one domain; that of a single node also applies to equal nodes, under their own names."""
    if len(members) != 1:
        return placed.witness
    name = members[0].name
    return [replace(p, names=(name,) if name else ()) for p in placed.witness]


def _with_the_rest(cluster: Cluster, decision: Decision, wanted: list[Wanted], found: list[Placed]) -> Schedule:
    """Place pod sets without a domain (another cluster chooses it, or the count is 0) beside the others."""
    inside = {p.pod_set for p in decision.placed}
    rest = [w for w in wanted if w.pod_set.name not in inside and w.count]
    if not rest:
        return Schedule(True, tuple(_joined(found)))
    everything = schedule(cluster, bounds(cluster, decision.workload.namespace), wanted)
    return everything if everything.runs is False else Schedule(None, reasons=everything.reasons)


def _joined(found: list[Placed]) -> list[Placed]:
    """Combine equal placements on equal nodes."""
    alike: dict[tuple[str, Contents], Placed] = {}
    for each in found:
        key = (each.group, tuple(sorted(each.pods.items())))
        known = alike.get(key)
        nodes, names = (known.nodes, known.names) if known is not None else (0, ())
        alike[key] = replace(each, nodes=nodes + each.nodes, names=(*names, *each.names))
    return list(alike.values())
