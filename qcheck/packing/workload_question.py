"""The free capacity of nodes, and whether all pods of a workload fit at once.

There are two questions. Best case: every node that may be added, no DaemonSets that may be evicted, and no bounds from
estimated or unknown figures; what does not fit then can never run. For sure: only nodes that are sure to match, minus
everything that may take from them; what fits then has a witness.
"""

from __future__ import annotations

from qcheck.cluster.nodes import PLENTY
from qcheck.cluster.pods import Amounts
from qcheck.cluster.policy import matches_any
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import answered_once
from qcheck.packing.question import Nodes, Pods, Question
from qcheck.packing.shared_devices import SLOTS, common_part, slots
from qcheck.supply.eligibility import Host
from qcheck.supply.evictable_daemon_sets import may_evict
from qcheck.supply.pod_requests import PODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.pods import DevicePart, PodTemplate
    from qcheck.cluster.workloads import DaemonSet
    from qcheck.supply.groups import NodeClass, NodeGroup

_USUAL_PODS = 110


class WantedPods(Value):
    """`count` equal pods of a pod set: the template from which they are created, and what each needs on a node."""

    name: str
    template: PodTemplate
    request: Amounts
    count: int
    hosts: tuple[Host, ...]


def question(
    cluster: Cluster, groups: tuple[NodeGroup, ...], shapes: tuple[WantedPods, ...], at_best: bool
) -> Question:
    """Return the packing question for all shapes together.

    Nodes follow the order of the groups, as do the shapes' hosts.
    """
    templates = [s.template for s in shapes]
    asked = tuple(sorted({r for s in shapes for r in s.request}))
    evicted = frozenset(d.id for d in cluster.daemon_sets if not _stays(cluster, d, templates))
    part = common_part(templates)
    single = {name: 1 for s in shapes for name in _slots(s, shapes)}
    nodes = tuple(
        Nodes(
            g.name,
            (_at_best(cluster, g, asked, part, evicted) if at_best else _for_sure(cluster, g, asked, part)) | single,
            _count(cluster, g, shapes, asked, at_best),
        )
        for g in groups
    )
    return Question(nodes, tuple(_pods(cluster, s, shapes, at_best) for s in shapes))


def _slots(shape: WantedPods, shapes: tuple[WantedPods, ...]) -> list[str]:
    """Return pseudo-resources of which every node has one, for pods that must be on separate nodes and for host ports.

    Pods that use a port on all addresses use it on each address that others name.
    """
    apart = [f"one {shape.name} per node"] if shape.template.one_per_node else []
    all_ports = [p for s in shapes for p in s.template.host_ports]
    taken = {
        str(p) for own in shape.template.host_ports for p in all_ports if p == own or (not own.ip and p.clashes(own))
    }
    return apart + [f"host port {port}" for port in sorted(taken)]


def _pods(cluster: Cluster, shape: WantedPods, shapes: tuple[WantedPods, ...], at_best: bool) -> Pods:
    templates = [s.template for s in shapes]
    on = frozenset(
        i
        for i, h in enumerate(shape.hosts)
        if (h.possible if at_best else h.sure)
        and not _ports_taken(cluster, shape, h.group, templates, at_best)
        and rejected_resource(shape, h.group) is None
    )
    return Pods(shape.name, shape.request | dict.fromkeys(_slots(shape, shapes), 1), shape.count, on)


def rejected_resource(shape: WantedPods, group: NodeGroup) -> str | None:
    """Return a shared device if the pods request more than one and the group's device plugins reject such requests."""
    several = [r for r, n in shape.request.items() if n > 1]
    return next((r for r in several if group.classes and all(r in c.machine.one_per_pod for c in group.classes)), None)


def _ports_taken(
    cluster: Cluster, shape: WantedPods, group: NodeGroup, templates: list[PodTemplate], at_best: bool
) -> bool:
    """Return whether DaemonSets hold a port that the pods need; in the best case, only if they stay on all machines."""
    if not shape.template.host_ports or not group.classes:
        return False
    taken = [
        any(
            port.clashes(own)
            for t in c.takings
            if not at_best or (t.certain and _stays(cluster, t.daemon_set, templates))
            for port in t.daemon_set.template.host_ports
            for own in shape.template.host_ports
        )
        for c in group.classes
    ]
    return all(taken) if at_best else any(taken)


@answered_once
def _at_best(
    _: Cluster, group: NodeGroup, asked: tuple[str, ...], part: DevicePart | None, evicted: frozenset[ObjectId]
) -> Amounts:
    """Return the most that each node of a group may offer the pods; of several machine types, the maximum per resource."""
    if not group.classes:
        return dict.fromkeys(asked, PLENTY)
    return {r: max(_best_of(c, r, part, evicted) for c in group.classes) for r in asked}


def _best_of(node: NodeClass, resource: str, part: DevicePart | None, evicted: frozenset[ObjectId]) -> int:
    if resource == SLOTS:
        return _slots_of(node, part, lambda r: _best_of(node, r, part, evicted), at_best=True)
    if not node.knows(resource):
        return PLENTY
    if node.is_estimated(resource):
        published = node.published(resource, evicted)
        return PLENTY if published is None else published
    if resource not in node.machine.allocatable:
        return PLENTY if resource == PODS else 0
    return node.left(resource, evicted)


def _stays(cluster: Cluster, daemon_set: DaemonSet, templates: list[PodTemplate]) -> bool:
    """Return whether a DaemonSet's pod stays: none of the pods may evict it."""
    return not any(may_evict(cluster, t, daemon_set) for t in templates)


def _slots_of(node: NodeClass, part: DevicePart | None, free: Callable[[str], int], at_best: bool) -> int:
    """Return the number of slots on a node with `free` shared devices."""
    devices = 0 if part is None else free(part.resource)
    return devices if part is None or devices >= PLENTY else slots(part, devices, node.labels, at_best)


@answered_once
def _for_sure(_: Cluster, group: NodeGroup, asked: tuple[str, ...], part: DevicePart | None) -> Amounts:
    """Return the least that each node of a group offers; of several machine types, the minimum per resource."""
    return {r: min((_worst_of(c, r, part) for c in group.classes), default=0) for r in asked}


def _worst_of(node: NodeClass, resource: str, part: DevicePart | None) -> int:
    if resource == SLOTS:
        return _slots_of(node, part, lambda r: _worst_of(node, r, part), at_best=False)
    if resource == PODS and PODS not in node.machine.allocatable:
        return max(0, _USUAL_PODS - sum(t.amounts.get(PODS, 0) for t in node.takings))
    return node.free.get(resource, 0)


def _count(
    cluster: Cluster, group: NodeGroup, shapes: tuple[WantedPods, ...], asked: tuple[str, ...], at_best: bool
) -> int:
    """Return the number of usable nodes: the ready nodes of a dump, or those that a pool can grow to."""
    count, wanted = group.ceiling, sum(s.count for s in shapes)
    if not at_best and group.pool is None:
        cordons = not all(h.enters_cordoned for s in shapes for h in s.hosts)
        count = sum(n.ready and not (n.unschedulable and cordons) for n in group.nodes)
    if group.pool is not None and group.pool.count_unknown:
        count = None if at_best else 0
    most = wanted if count is None else count
    limits = group.pool.limits if group.pool is not None else {}
    for resource, limit in limits.items():
        sizes = [c.machine.allocatable.get(resource, 0) for c in group.classes if not c.is_estimated(resource)]
        if sizes and all(sizes):
            most = min(most, limit // (min(sizes) if at_best else max(sizes)))
    return max(0, most if at_best else most - _set_aside(cluster, group, asked))


def _set_aside(cluster: Cluster, group: NodeGroup, asked: tuple[str, ...]) -> int:
    """Return how many of the nodes may be taken by reserves stated as totals."""
    nodes = 0
    for reserve in cluster.policy.reserves:
        if matches_any(group.name, reserve.pools):
            sizes = {r: group.lowest(r) for r in reserve.total if r in asked}
            nodes += max((-(-reserve.total[r] // size) for r, size in sizes.items() if size), default=0)
    return nodes
