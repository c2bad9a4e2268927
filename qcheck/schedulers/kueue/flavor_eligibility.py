"""Eligibility of flavors for a pod set: topology, the flavor's declared taints, and the label keys that count.

Source: Kueue 0.19 `pkg/scheduler/flavorassigner`. Nodes are not considered.
"""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection, NodeSelectorTerm, Taint, untolerated
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.gates import TOPOLOGY, is_on

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, ResourceFlavor, ResourceGroup
    from qcheck.cluster.reasons import ReasonCause
    from qcheck.cluster.workloads import PodSet

_OWN_KEYS_SINCE = 17
_IMPLIED_SINCE = 11


class Miss(Value):
    """The reason why a flavor is skipped: `place` in the workload, `near` in the flavor or queue."""

    cause: ReasonCause
    message: str
    place: Place
    near: Place | None = None
    change: str = ""
    taint: Taint | None = None


def asks_topology(pod_set: PodSet) -> bool:
    """Return whether the pod set itself requests topology-aware scheduling."""
    return pod_set.topology is not None and pod_set.topology.is_explicit


def is_topology_only(cluster: Cluster, queue: ClusterQueue) -> bool:
    """Return whether every flavor of a queue has a topology, so that all its workloads use it; True without flavors."""
    if not is_on(cluster, TOPOLOGY) or not cluster.policy.kueue.at_least(_IMPLIED_SINCE):
        return False
    flavors = [cluster.flavor[f.name] for f in queue.flavors() if f.name in cluster.flavor]
    return all(f.topology for f in flavors)


def uses_topology(cluster: Cluster, queue: ClusterQueue, pod_set: PodSet) -> bool:
    return is_on(cluster, TOPOLOGY) and (asks_topology(pod_set) or is_topology_only(cluster, queue))


def miss(
    cluster: Cluster,
    queue: ClusterQueue,
    group: ResourceGroup,
    flavor: ResourceFlavor,
    pod_set: PodSet,
    asked: set[str],
) -> Miss | None:
    """Return the first reason for which Kueue skips a flavor for a pod set; None if the pod set may have it.

    `asked` are the resources that the pods themselves request, before exclusion and transformation.
    """
    return (
        _topology_miss(cluster, queue, group, flavor, pod_set, asked)
        or _taint_miss(flavor, pod_set)
        or _label_miss(flavor, pod_set, _looked_at(cluster, group, flavor))
    )


def _topology_miss(
    cluster: Cluster,
    queue: ClusterQueue,
    group: ResourceGroup,
    flavor: ResourceFlavor,
    pod_set: PodSet,
    asked: set[str],
) -> Miss | None:
    if not is_on(cluster, TOPOLOGY):
        return None
    place = pod_set.topology.place if pod_set.topology else pod_set.template.place
    if not asks_topology(pod_set):
        if flavor.topology and not is_topology_only(cluster, queue):
            message = f"flavor {flavor.name} is only for pods that ask for a topology"
            return Miss("topology", message, place, flavor.place.at("spec", "topologyName"))
        return None
    if not flavor.topology:
        if asked.isdisjoint(group.covered):
            return None
        message = f"the pods ask for a topology, but flavor {flavor.name} has none"
        return Miss("topology", message, place, flavor.name_place)
    return _level_miss(cluster, flavor, pod_set, place)


def _level_miss(cluster: Cluster, flavor: ResourceFlavor, pod_set: PodSet, place: Place) -> Miss | None:
    topology = cluster.topology.get(flavor.topology or "")
    asked = pod_set.topology
    if topology is None or asked is None:
        return None
    missing = next((level for level in asked.levels if level not in topology.levels), None)
    if missing is None and not asked.levels and not asked.unconstrained:
        message = f"the pods request no level of topology {topology.name}, not even an unconstrained one"
        return Miss("topology", message, place, flavor.place.at("spec", "topologyName"))
    if missing is None:
        return None
    message = f"topology {topology.name} of flavor {flavor.name} has no level {missing}"
    return Miss("level", message, place, topology.place.at("spec", "levels"))


def _taint_miss(flavor: ResourceFlavor, pod_set: PodSet) -> Miss | None:
    template = pod_set.template
    left = untolerated(flavor.node_taints, (*template.tolerations, *flavor.tolerations))
    if not left:
        return None
    return Miss(
        cause="taint",
        message=f"the pods do not tolerate the taint {left[0]} of flavor {flavor.name}",
        place=template.place.at("tolerations"),
        near=flavor.place.at("spec", "nodeTaints"),
        change=f"tolerate {left[0]} in the pod template",
        taint=left[0],
    )


def _looked_at(cluster: Cluster, group: ResourceGroup, flavor: ResourceFlavor) -> set[str]:
    """Return the label keys that count for a flavor: its own; before 0.17.6 and 0.18.2 those of the whole group."""
    if cluster.policy.kueue.at_least(_OWN_KEYS_SINCE):
        return set(flavor.node_labels)
    return {k for f in group.flavors if f.name in cluster.flavor for k in cluster.flavor[f.name].node_labels}


def _label_miss(flavor: ResourceFlavor, pod_set: PodSet, keys: set[str]) -> Miss | None:
    selection = pod_set.template.selection
    if narrowed(selection, keys).matches(flavor.node_labels):
        return None
    place = pod_set.template.place
    wrong = next(
        (k for k in selection.selector if k in keys and flavor.node_labels.get(k) != selection.selector[k]), None
    )
    near = flavor.place.at("spec", "nodeLabels")
    if wrong is None:
        message = f"the pods' required node affinity excludes the labels of flavor {flavor.name}"
        return Miss("affinity", message, place.at("affinity", "nodeAffinity"), near)
    has = flavor.node_labels.get(wrong)
    message = f"the pods select {wrong}={selection.selector[wrong]}, but flavor {flavor.name} has {wrong}={has}"
    return Miss(
        cause="selector",
        message=message,
        place=place.at("nodeSelector", wrong),
        near=near.at(wrong),
        change=f"select {wrong}={has}",
    )


def narrowed(selection: NodeSelection, keys: set[str]) -> NodeSelection:
    """Return the part of a selection on `keys`. A term that loses all its expressions removes the whole affinity."""
    selector = {k: v for k, v in selection.selector.items() if k in keys}
    terms = [tuple(e for e in t.expressions if e.key in keys) for t in selection.terms or ()]
    if not terms or not all(terms):
        return NodeSelection(selector)
    return NodeSelection(selector, tuple(NodeSelectorTerm(expressions) for expressions in terms))
