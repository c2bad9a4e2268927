"""kube-scheduler's decision for a workload's pods on the nodes of an otherwise idle cluster.

Source: its filters NodeName, NodeAffinity, TaintToleration, NodePorts, PodTopologySpread and NodeResourcesFit. The pods
of a gang are packed together, exactly.
"""

from __future__ import annotations

from qcheck.cluster.problems import NODES
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.resources import BASIC
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.question import DoesNotFit, Fits
from qcheck.packing.shared_devices import are_comparable, common_part, slots_requested
from qcheck.packing.solve import solved
from qcheck.packing.workload_question import WantedPods, question
from qcheck.supply.eligibility import hosts
from qcheck.supply.node_demand import demand_of, runtime_class
from qcheck.supply.pod_requests import scheduled
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import PodSet
    from qcheck.packing.question import Placement, Question
    from qcheck.packing.spread import Spreading
    from qcheck.supply.groups import NodeGroup
    from qcheck.supply.pod_requests import LimitRangeBounds


class Wanted(Value):
    """Pods to be placed: their pod set, the template from which they are created, and their number."""

    pod_set: PodSet
    template: PodTemplate
    count: int


class Placed(Value):
    """`nodes` equal nodes of a group, each with `pods` (number by pod set).

    `names` is set if the individual nodes are known.
    """

    group: str
    nodes: int
    pods: dict[str, int]
    names: tuple[str, ...] = ()


class Schedule(Value):
    """The answer whether all pods can run at once; `runs` None: unknown. `witness` places them if they can."""

    runs: bool | None
    witness: tuple[Placed, ...] = ()
    reasons: tuple[Reason, ...] = ()


def schedule(
    cluster: Cluster, limits: LimitRangeBounds, wanted: Iterable[Wanted], groups: tuple[NodeGroup, ...] | None = None
) -> Schedule:
    """Place the pods on groups of nodes (default: all), prove that this is impossible, or explain the uncertainty.

    `limits` are those of their namespace.
    """
    pods = [w for w in wanted if w.count > 0]
    if not cluster.has_nodes:
        place = next((w.template.place for w in pods), None)
        message = "no node pool and no Node was read, so it is unknown where the pods can run"
        return Schedule(None, reasons=(Reason(ReasonCode.NODES_UNKNOWN, "no-nodes", message, place),) if place else ())
    refused = tuple(r for each in pods for r in _never_created(cluster, each))
    if refused:
        return Schedule(False if cluster.has_all(NODES) else None, reasons=refused)
    groups = supply_of(cluster).groups if groups is None else groups
    shapes, comparable = [], are_comparable(each.template for each in pods)
    for each in pods:
        request = scheduled(cluster, each.template, limits)
        found = hosts(cluster, groups, each.template, request)
        request = request | slots_requested(each.template) if comparable else request
        shapes.append(
            WantedPods(name=each.pod_set.name, template=each.template, request=request, count=each.count, hosts=found)
        )
    unknown = tuple(_not_judged(pods))
    if not comparable and all(p.template.device_part is None or not p.template.device_part.memory for p in pods):
        apart = _decide(cluster, pods, tuple(map(_with_own_devices, shapes)), groups, unknown)
        if apart.runs:
            return apart
    sharing = tuple(_sharing_unknown(pods))
    return _decide(cluster, pods, tuple(shapes), groups, (*sharing, *unknown))


def _with_own_devices(shape: WantedPods) -> WantedPods:
    """Return pods that take whole devices instead of parts of them, so that they share no device with others."""
    part = shape.template.device_part
    return shape if part is None else replace(shape, request={**shape.request, part.resource: part.devices})


def _never_created(cluster: Cluster, pods: Wanted) -> Iterator[Reason]:
    """Yield a reason if a RuntimeClass's node selector contradicts the pods': its admission plugin rejects them."""
    runtime = runtime_class(cluster, pods.template)
    for key, value in runtime.node_selector.items() if runtime else ():
        own = pods.template.selection.selector.get(key, value)
        if runtime is not None and own != value:
            name, place = pods.pod_set.name, pods.template.place.at("runtimeClassName")
            message = (
                f"the pods of pod set {name} select {key}={own}, but their RuntimeClass {runtime.name} selects "
                f"{key}={value}: they cannot be created"
            )
            near = (runtime.place.at("scheduling", "nodeSelector", key),)
            yield Reason(
                code=ReasonCode.UNSCHEDULABLE,
                cause="runtime-class",
                message=message,
                place=place,
                near=near,
                change=f"use another RuntimeClass for {key}={own}",
            )


def _may_use_unread_nodes(cluster: Cluster, shape: WantedPods) -> bool:
    """Return whether pods may run on the nodes for system pods, none of which was read.

    Such pods have no node selector and request no devices, and every node that was read repels them.
    """
    demand = demand_of(cluster, shape.template)
    if demand.selection.keys or not BASIC.issuperset(shape.request):
        return False
    return supply_of(cluster).is_repelled_everywhere(demand.tolerations)


def _plain_nodes_unread(pods: Wanted) -> Reason:
    message = (
        "every node that was read has a taint that neither these pods nor system pods tolerate, so the nodes for "
        "system pods were not read, and it is unknown whether these pods can run there"
    )
    return Reason(ReasonCode.NODES_UNKNOWN, "no-nodes", message, pods.template.place)


def _with_unread_nodes(
    cluster: Cluster, pods: list[Wanted], shapes: tuple[WantedPods, ...], groups: tuple[NodeGroup, ...]
) -> Schedule | None:
    """Return what is known about pods that do not fit if some may run on unread nodes: the others may not fit either."""
    elsewhere = [_may_use_unread_nodes(cluster, shape) for shape in shapes]
    if not any(elsewhere):
        return None
    kept = [at for at, is_elsewhere in enumerate(elsewhere) if not is_elsewhere]
    if kept:
        rest = _decide(cluster, [pods[at] for at in kept], tuple(shapes[at] for at in kept), groups, ())
        if rest.runs is False:
            return rest
    return Schedule(None, reasons=(_plain_nodes_unread(pods[elsewhere.index(True)]),))


def _decide(
    cluster: Cluster,
    pods: list[Wanted],
    shapes: tuple[WantedPods, ...],
    groups: tuple[NodeGroup, ...],
    unknown: tuple[Reason, ...],
) -> Schedule:
    groups, usable = _usable(groups, shapes)
    at_best = question(cluster, groups, usable, at_best=True)
    best = solved(cluster, at_best)
    if isinstance(best, DoesNotFit):
        from qcheck.packing.unschedulable import obstacle  # 0.3 ms

        open_ended = _with_unread_nodes(cluster, pods, shapes, groups)
        if open_ended is not None:
            return open_ended
        reason = obstacle(cluster, [p.pod_set for p in pods], shapes, usable, at_best, best.certificate)
        return Schedule(False if cluster.has_all(NODES) else None, reasons=(reason,))
    even = _spreading(at_best, usable)
    if even is not None and even.most < usable[0].count:
        return Schedule(False if cluster.has_all(NODES) else None, reasons=(_uneven(pods[0], even.most),))
    unknown = (*unknown, *(_spread_unknown(pods) if even is None else ()))
    if unknown:
        return Schedule(None, reasons=unknown)
    sure = question(cluster, groups, usable, at_best=False)
    answer = _spread_out(sure, usable) if even is not None else solved(cluster, sure)
    if isinstance(answer, Fits):
        return Schedule(True, tuple(_named(groups, usable, answer.witness)))
    return Schedule(None, reasons=(_doubt(pods, shapes),))


def _usable(
    groups: tuple[NodeGroup, ...], shapes: tuple[WantedPods, ...]
) -> tuple[tuple[NodeGroup, ...], tuple[WantedPods, ...]]:
    """Return the groups that some of the pods may use, and the shapes with only these as hosts.

    Pods that spread keep all groups: nodes that they cannot use may still be domains.
    """
    kept = [i for i in range(len(groups)) if any(s.template.spreads or s.hosts[i].possible for s in shapes)]
    if len(kept) == len(groups):
        return groups, shapes
    return tuple(groups[i] for i in kept), tuple(replace(s, hosts=tuple(s.hosts[i] for i in kept)) for s in shapes)


def _spreading(posed: Question, shapes: tuple[WantedPods, ...]) -> Spreading | None:
    """Return what the spread constraint of the only pod set allows; None if it has none, or its effect is unknown."""
    if not any(s.template.spreads for s in shapes):
        return None
    from qcheck.packing.spread import spreading  # 0.6 ms

    return spreading(posed, shapes)


def _spread_out(sure: Question, shapes: tuple[WantedPods, ...]) -> Fits | None:
    """Return a placement of the only pod set that satisfies its spread constraint; None if it may not fit."""
    even = _spreading(sure, shapes)
    if even is None or even.most < shapes[0].count:
        return None
    from qcheck.packing.spread import placed_evenly  # imported with the constraint

    return Fits(placed_evenly(sure, even))


def _uneven(pods: Wanted, most: int) -> Reason:
    spread = pods.template.spreads[0]
    message = (
        f"pod set {pods.pod_set.name} spreads over the domains of {spread.key} with a maxSkew of {spread.max_skew}: "
        f"then {most} of its {pods.count} pods fit"
    )
    change = f"run at most {most} pods" if most else "raise maxSkew"
    return Reason(
        code=ReasonCode.UNSCHEDULABLE,
        cause="spread",
        message=message,
        place=spread.place,
        near=(pods.pod_set.count_place,),
        change=change,
    )


def _spread_unknown(pods: list[Wanted]) -> Iterator[Reason]:
    for each in pods:
        open_spreads = [s for s in each.template.spreads if s.counts_own or not s.is_plain]
        if open_spreads:
            key = open_spreads[0].key
            message = f"pod set {each.pod_set.name} spreads over domains of {key}, which depends on other pods too"
            yield Reason(ReasonCode.UNSCHEDULABLE, "spread", message, open_spreads[0].place)


def _sharing_unknown(pods: list[Wanted]) -> Iterator[Reason]:
    part = common_part(each.template for each in pods)
    if part is not None and not are_comparable(each.template for each in pods):
        message = "the pods request different fractions of GPUs, or whole GPUs as well: how they share GPUs is unknown"
        yield Reason(ReasonCode.NODES_UNKNOWN, "uncertain", message, part.place)


def _not_judged(pods: list[Wanted]) -> Iterator[Reason]:
    for each in pods:
        if each.template.has_pod_affinity:
            message = f"pod set {each.pod_set.name} has required pod (anti-)affinity, which depends on other pods"
            place = each.template.place.at("affinity")
            yield Reason(ReasonCode.UNSCHEDULABLE, "pod-affinity", message, place)
        if each.template.scheduling_gates:
            gates = ", ".join(each.template.scheduling_gates)
            message = (
                f"pod set {each.pod_set.name} waits for the scheduling gate {gates}, which a controller must remove"
            )
            yield Reason(
                ReasonCode.UNSCHEDULABLE,
                "scheduling-gate",
                message,
                each.template.place.at("schedulingGates"),
            )


def _doubt(pods: list[Wanted], shapes: tuple[WantedPods, ...]) -> Reason:
    """Return why there is neither a placement nor a proof: estimates, unknown figures, or differing nodes."""
    first = max(zip(pods, shapes, strict=True), key=lambda p: sum(not h.sure for h in p[1].hosts))
    groups = [h.group for h in first[1].hosts if h.possible]
    why = _uncertainty(groups, first[1]) or "the search ended before the packing was decided"
    message = f"pod set {first[0].pod_set.name} may or may not fit: {why}"
    return Reason(
        code=ReasonCode.NODES_UNKNOWN,
        cause="uncertain",
        message=message,
        place=first[0].template.place,
        near=tuple(g.place for g in groups[:3]),
    )


def _uncertainty(groups: list[NodeGroup], shape: WantedPods) -> str:
    unknown = [g.name for g in groups if not g.is_known]
    if unknown:
        return f"the machines or the count of {', '.join(unknown)} are unknown"
    tainted = next((h for h in shape.hosts if h.possible and h.repels is not None), None)
    if tainted is not None:
        return f"only an admission plugin can add a toleration of the taint {tainted.repels} of {tainted.group.name}"
    partly = [h.group.name for h in shape.hosts if h.possible and not h.sure]
    if partly:
        return f"only some nodes of {', '.join(partly)} may match"
    estimated = sorted({r for g in groups for c in g.classes for r in shape.request if c.is_estimated(r)})
    return f"{', '.join(estimated)} of {', '.join(g.name for g in groups)} are estimates" if estimated else ""


def _named(
    groups: tuple[NodeGroup, ...], shapes: tuple[WantedPods, ...], witness: tuple[Placement, ...]
) -> Iterator[Placed]:
    """Yield the witness in names; dumped nodes are named individually."""
    unused = [_ready(g) for g in groups]
    for put in witness:
        pods = {s.name: n for s, n in zip(shapes, put.filling, strict=True) if n}
        if pods:
            names, unused[put.node] = unused[put.node][: put.times], unused[put.node][put.times :]
            yield Placed(groups[put.node].name, put.times, pods, tuple(names))


def _ready(group: NodeGroup) -> list[str]:
    """Return the names of ready nodes, cordoned ones last."""
    return [n.name for n in sorted(group.nodes, key=lambda n: n.unschedulable) if n.ready]
