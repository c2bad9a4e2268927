"""Causes for pods that cannot run: the first that applies, with both places and the smallest change."""

from __future__ import annotations

from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.units import IN_PROSE, scale_of, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.proof_text import explain
from qcheck.packing.shared_devices import SLOTS
from qcheck.packing.workload_question import rejected_resource
from qcheck.supply.node_demand import demand_of, runtime_class
from qcheck.supply.pod_requests import PODS
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import PodSet
    from qcheck.packing.question import Certificate, Question
    from qcheck.packing.workload_question import WantedPods
    from qcheck.supply.eligibility import Host

_PARTS = 10**6


def obstacle(
    cluster: Cluster,
    pod_sets: list[PodSet],
    shapes: tuple[WantedPods, ...],
    usable: tuple[WantedPods, ...],
    posed: Question,
    proof: Certificate,
) -> Reason:
    """Return the cause of a proven `does not fit`: selector, taint, size of one pod, missing nodes, packing.

    The hosts of `usable` are the nodes of the question, those of `shapes` all nodes.
    """
    for index, (pod_set, shape, hosted) in enumerate(zip(pod_sets, shapes, usable, strict=True)):
        reason = (
            _labels(cluster, pod_set, shape)
            or _taints(cluster, pod_set, shape)
            or _rejected(pod_set, hosted)
            or _size(pod_set, hosted, posed, index)
        )
        if reason is not None:
            return reason
    return _packing(pod_sets, usable, posed, proof)


def _labels(cluster: Cluster, pod_set: PodSet, shape: WantedPods) -> Reason | None:
    if any(h.labels_match for h in shape.hosts):
        return None
    place = pod_set.template.place
    near = tuple(g.place for g in supply_of(cluster).groups[:1])
    culprit = _culprit(cluster, shape)
    if culprit is None:
        message = f"no node matches what pod set {pod_set.name} requires of its node"
        where = place.at("affinity", "nodeAffinity") if shape.template.selection.terms else place.at("nodeSelector")
        return Reason(code=ReasonCode.UNSCHEDULABLE, cause="selector", message=message, place=where, near=near)
    key, value = culprit, demand_of(cluster, shape.template).selection.selector[culprit]
    if key in pod_set.template.selection.selector:
        return _own_label(cluster, pod_set, shape, key, near)
    runtime = runtime_class(cluster, pod_set.template)
    if runtime is not None and key in runtime.node_selector:
        message = f"RuntimeClass {runtime.name} of pod set {pod_set.name} selects {key}={value}: {_seen(cluster, key)}"
        near = (runtime.place.at("scheduling", "nodeSelector", key), *near)
        return Reason(
            code=ReasonCode.UNSCHEDULABLE,
            cause="runtime-class",
            message=message,
            place=place.at("runtimeClassName"),
            near=near,
        )
    pool = next((p for p in cluster.quota_pools.values() if p.node_labels.get(key) == value), None)
    word = pool.word if pool else "flavor"
    message = f"the {word} of pod set {pod_set.name} selects {key}={value}: {_seen(cluster, key)}"
    where = pool.labels_place.at(key) if pool else place
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="flavor-matches-no-nodes",
        message=message,
        place=where,
        near=near,
    )


def _own_label(cluster: Cluster, pod_set: PodSet, shape: WantedPods, key: str, near: tuple[Place, ...]) -> Reason:
    """Return the reason for a selected label that no node has, or no node that the flavor's labels also select."""
    selector = shape.template.selection.selector
    wanted, values = f"{key}={selector[key]}", _values(cluster, key)
    where = pod_set.template.place.at("nodeSelector", key)
    if selector[key] not in values:
        why, change = f": {_seen(cluster, key)}", _select(key, values)
    else:
        others = ", ".join(f"{k}={v}" for k, v in selector.items() if k != key)
        why, change = f", and its nodes must have {others}: no node has both", f"remove the selector {key}"
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="selector",
        message=f"pod set {pod_set.name} selects {wanted}{why}",
        place=where,
        near=near,
        change=change,
    )


def _values(cluster: Cluster, key: str) -> list[str]:
    """Return the values of a label on nodes."""
    classes = [c for g in supply_of(cluster).groups for c in g.classes]
    fixed = {c.labels[key] for c in classes if key in c.labels}
    return sorted(fixed | {v for c in classes for v in c.varying.get(key, ())})


def _seen(cluster: Cluster, key: str) -> str:
    values = _values(cluster, key)
    return f"the nodes have {', '.join(values)}" if values else "no node carries that label"


def _select(key: str, has: list[str]) -> str:
    return f"select {key}={has[0]}" if len(has) == 1 else f"remove the selector {key}" if not has else ""


def _culprit(cluster: Cluster, shape: WantedPods) -> str | None:
    """Return the selected label that most nodes lack; on ties, one that the pods select themselves."""
    classes = [c for g in supply_of(cluster).groups for c in g.classes]
    missing = {
        key: sum(c.labels.get(key) != value and key not in c.varying for c in classes)
        for key, value in demand_of(cluster, shape.template).selection.selector.items()
    }
    key = max(missing, key=lambda k: missing[k], default=None)
    return key if key is not None and missing[key] else None


def _taints(cluster: Cluster, pod_set: PodSet, shape: WantedPods) -> Reason | None:
    if any(h.possible for h in shape.hosts):
        return None
    repelling = [h for h in shape.hosts if h.labels_match and h.repels is not None]
    host = repelling[0]
    by_taint: dict[str, list[str]] = {}
    for each in repelling:
        by_taint.setdefault(str(each.repels), []).append(each.group.name)
    taint = host.repels
    if len(by_taint) == 1:
        names = ", ".join(h.group.name for h in repelling)
        fact = f"every node for pod set {pod_set.name} ({names}) has the taint {taint}"
    else:
        listed = "; ".join(f"{each} on {', '.join(names)}" for each, names in by_taint.items())
        fact = f"every node for pod set {pod_set.name} has a taint ({listed})"
    message = f"{fact}, which nothing tolerates"
    change = f"tolerate {taint} in {'the flavor or in ' if cluster.flavors else ''}the pod template"
    place = pod_set.template.place.at("tolerations")
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="taint",
        message=message,
        place=place,
        near=(host.group.place,),
        change=change,
        taint=taint,
    )


def _rejected(pod_set: PodSet, shape: WantedPods) -> Reason | None:
    """Return the reason if the device plugins of all usable nodes reject the pods after kube-scheduler has placed them."""
    able = [h for h in shape.hosts if h.possible]
    resource = rejected_resource(shape, able[0].group) if able else None
    if resource is None or any(rejected_resource(shape, h.group) is None for h in able):
        return None
    message = (
        f"a pod of pod set {pod_set.name} asks for {shape.request[resource]} {resource}, but the device plugin of "
        f"{', '.join(h.group.name for h in able)} shares GPUs and rejects pods that ask for more than one "
        "(failRequestsGreaterThanOne)"
    )
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="larger-than-node",
        message=message,
        place=_asked_at(pod_set, resource),
        near=tuple(h.group.place for h in able),
        change=f"ask for 1 {resource} per pod",
        resource=resource,
    )


def _size(pod_set: PodSet, shape: WantedPods, posed: Question, index: int) -> Reason | None:
    """Return the reason if a pod is larger than every node, or if its groups have no nodes."""
    able = [i for i, h in enumerate(shape.hosts) if h.possible]
    if any(posed.rooms[i].limits[index] > 0 and posed.nodes[i].count > 0 for i in able):
        return None
    if all(posed.nodes[i].count == 0 for i in able):
        names = ", ".join(posed.nodes[i].label for i in able)
        message = f"the nodes for pod set {pod_set.name} do not exist: {names} has none and cannot add any"
        near = tuple(shape.hosts[i].group.count_place for i in able)
        return Reason(
            code=ReasonCode.UNSCHEDULABLE,
            cause="capacity-gone",
            message=message,
            place=pod_set.template.place,
            near=near,
        )
    largest = max(able, key=lambda i: (posed.nodes[i].count > 0, _share(posed, i, shape)))
    resource = _binding(posed, largest, shape)
    free, asked = posed.nodes[largest].free.get(resource, 0), shape.request[resource]
    scale = scale_of(resource, (free, asked), IN_PROSE)
    shown = scale.name(asked)
    message = (
        f"a pod of pod set {pod_set.name} asks for {shown}, more than any node has free: "
        f"{posed.nodes[largest].label} has {scale(free)}{_taken(shape.hosts[largest], resource)}"
    )
    change = f"ask for at most {scale.name(free)} per pod" if free else ""
    places = (shape.hosts[largest].group.place, *_takers(shape.hosts[largest], resource))
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="larger-than-node",
        message=message,
        place=_asked_at(pod_set, resource),
        near=places,
        change=change,
        resource=resource,
    )


def _share(posed: Question, index: int, shape: WantedPods) -> int:
    """Return how much of a request's scarcest resource a node has, in parts per million of the request."""
    resource = _binding(posed, index, shape)
    return _PARTS * posed.nodes[index].free.get(resource, 0) // shape.request[resource]


def _binding(posed: Question, index: int, shape: WantedPods) -> str:
    """Return the scarcest resource of a node, relative to the request."""
    free = posed.nodes[index].free
    return min(shape.request, key=lambda r: (_PARTS * free.get(r, 0) // shape.request[r], r))


def _taken(host: Host, resource: str) -> str:
    classes = host.group.classes
    taken = classes[0].taken(resource) + classes[0].reserved(resource) if classes else 0
    whole = classes[0].machine.allocatable.get(resource, 0) if classes else 0
    shown = show_amounts(resource, whole, taken)
    return f" ({' - '.join(shown)} taken)" if taken else ""


def _takers(host: Host, resource: str) -> tuple[Place, ...]:
    takings = host.group.classes[0].takings if host.group.classes else ()
    return tuple(t.daemon_set.template.place_of(resource) for t in takings if t.amounts.get(resource, 0))


def _asked_at(pod_set: PodSet, resource: str) -> Place:
    part = pod_set.template.device_part
    if resource == SLOTS and part is not None:
        return part.place
    return pod_set.template.place if resource == PODS else pod_set.template.place_of(resource)


def _packing(pod_sets: list[PodSet], shapes: tuple[WantedPods, ...], posed: Question, proof: Certificate) -> Reason:
    largest = max(zip(pod_sets, shapes, strict=True), key=lambda p: p[1].count)
    message = f"the pods do not fit at once: {explain(posed, proof)}"
    near = tuple(h.group.count_place for h in largest[1].hosts if h.possible)
    change = ""
    if len(shapes) == 1:
        room = sum(r.limits[0] * n.count for r, n in zip(posed.rooms, posed.nodes, strict=True))
        change = f"run at most {room} pods at once" if room else ""
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="does-not-pack",
        message=message,
        place=largest[0].count_place,
        near=near,
        change=change,
    )
