"""The pods that have to be placed on a flavor's nodes: shapes that settings declare, and those of known workloads.

Sizes of pods decide whether a quota can be used up; nothing in a queue tells them. So they are declared, or taken from the
workloads that go to the queue, or not known.
"""

from __future__ import annotations

from qcheck.cluster.labels import untolerated
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.supply.landing import NONE, select
from qcheck.supply.pod_requests import PODS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Amounts, PodTemplate
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.schedulers.kueue.flavor_assignment import Assigned
    from qcheck.supply.supply import NodeClass, NodeGroup

KEPT_APART = "pods of one kind per node"
"""A made-up resource: every node has one of it, pods with anti-affinity on the hostname ask for one."""


class PodShape(Value):
    """Pods of one kind. `request` is what one pod needs of a node, its pod slot included.

    * `pods`: how many must be placeable at once, where that is said; `level`: inside one domain of that topology level.
    * Of a workload: `queue` is its cluster queue, `template` its pods, `count` how many of them there are, `place` where.
    """

    name: str
    request: Amounts
    pods: int | None = None
    level: str | None = None
    queue: str | None = None
    template: PodTemplate | None = None
    count: int = 0
    place: Place | None = None

    @property
    def is_declared(self) -> bool:
        return self.template is None

    @property
    def ask(self) -> tuple[Hashable, ...]:
        """What a pod needs of a node and which nodes it may use, comparable."""
        return tuple(sorted(self.request.items())), None if self.template is None else self.template.ask

    @property
    def accelerator(self) -> str | None:
        """The device that these pods compute on; the one of which they ask most."""
        devices = sorted((r for r, n in self.request.items() if n and is_compute(r)), key=lambda r: -self.request[r])
        return devices[0] if devices else None

    def may_use(self, cluster: Cluster, group: NodeGroup, flavor: str) -> bool:
        """Whether some node of a group lets these pods in, with the tolerations that the flavor adds."""
        if self.template is None or not group.classes:
            return True
        return any(self._enters(cluster, node_class, flavor) for node_class in group.classes)

    def _enters(self, cluster: Cluster, node_class: NodeClass, flavor: str) -> bool:
        assert self.template is not None
        added = cluster.flavor[flavor].tolerations if flavor in cluster.flavor else ()
        if untolerated(node_class.taints, (*self.template.tolerations, *added)):
            return False
        return select(self.template.selection, node_class.labels, node_class.varying) != NONE


def declared_shapes(cluster: Cluster, flavor: str) -> tuple[PodShape, ...]:
    """The shapes of the settings that concern a flavor: those that name it, or name none and ask for what it has."""
    found = []
    for shape in cluster.policy.shapes:
        asked = PodShape(
            shape.name, {PODS: 1, **{r: n for r, n in shape.requests.items() if n}}, shape.pods, shape.level
        )
        devices = [r for r in asked.request if is_compute(r)]
        covered = all((flavor, r) in cluster.supply.demands for r in devices)
        if flavor in shape.flavors or (not shape.flavors and covered):
            found.append(asked)
    return tuple(found)


def workload_shapes(cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
    """The shapes of admissible workloads by the flavor that they get; equal ones of a queue once, with their sum."""
    found: dict[str, dict[tuple[object, ...], PodShape]] = {}
    for workload in cluster.workloads:
        for flavor, shape in _of_workload(cluster, workload):
            key = (shape.queue, tuple(sorted(shape.request.items())))
            known = found.setdefault(flavor, {})
            if key in known:
                shape = _joined(known[key], shape)
            known[key] = shape
    return {flavor: tuple(shapes.values()) for flavor, shapes in found.items()}


def _joined(first: PodShape, more: PodShape) -> PodShape:
    return replace(first, count=first.count + more.count)


def _of_workload(cluster: Cluster, workload: Workload) -> Iterator[tuple[str, PodShape]]:
    from qcheck.schedulers.kueue.admission import decide

    if not _meets_devices(cluster, workload):
        return
    decision = decide(cluster, workload)
    if decision.admitted is False or decision.cluster_queue is None:
        return
    queue = cluster.queue[decision.cluster_queue]
    for assigned in decision.assigned:
        for flavor in assigned.flavor_names:
            yield flavor, _shape(cluster, workload, assigned, queue, decision.copies)


def _meets_devices(cluster: Cluster, workload: Workload) -> bool:
    """Whether a workload asks for devices, or its queue has quota for some, so that it may come to lie beside them."""
    if any(is_compute(r) for p in workload.pod_sets for r in p.template.amounts()):
        return True
    local = cluster.local_queue.get((workload.namespace, workload.queue or ""))
    queue = cluster.queue.get(local.cluster_queue or "") if local is not None else None
    return queue is not None and any(is_compute(q.resource) and q.nominal for q in queue.quotas())


def _shape(cluster: Cluster, workload: Workload, assigned: Assigned, queue: ClusterQueue, copies: int) -> PodShape:
    pod_set = assigned.pod_set
    shape = PodShape(
        name=_name(workload, pod_set),
        request=pod_request(cluster, workload, pod_set),
        queue=queue.name,
        template=pod_set.template,
        count=assigned.demand.count * copies,
        level=pod_set.topology.required if pod_set.topology else None,
    )
    return replace(shape, place=pod_set.template.place_of(shape.accelerator or ""))


def _name(workload: Workload, pod_set: PodSet) -> str:
    return workload.name if len(workload.pod_sets) == 1 else f"{workload.name}/{pod_set.name}"


def pod_request(cluster: Cluster, workload: Workload, pod_set: PodSet) -> Amounts:
    """What one pod of a pod set needs of a node."""
    from qcheck.supply.pod_requests import bounds, scheduled

    request = scheduled(cluster, pod_set.template, bounds(cluster, workload.namespace))
    return {**request, KEPT_APART: 1} if pod_set.template.one_per_node else request
