"""Eligibility of a node for pods: labels, affinity, taints, RuntimeClass, node name, cordons.

Answers are three-valued, because some labels differ from node to node and are not in the repository. "Not possible" is
a proof; "sure" holds for every node, so it can support a witness. Taints that come and go with a node's health do not
count; a cordon only means that the node is not available now.

Source: the filters NodeName, NodeUnschedulable, NodeAffinity and TaintToleration of kube-scheduler 1.36, the DaemonSet
controller's predicate, the RuntimeClass and ExtendedResourceToleration admission plugins.
"""

from __future__ import annotations

from qcheck.cluster.labels import Labels, NodeSelection, Taint, Toleration, untolerated
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import answered_once
from qcheck.supply.groups import ALL, NONE, SOME
from qcheck.supply.node_demand import NodeDemand, demand_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.supply.groups import NodeClass, NodeGroup, Varying

_VARIETY = 256

_CORDON = Taint("node.kubernetes.io/unschedulable")

DAEMON_TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/disk-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/memory-pressure", "Exists", "", "NoSchedule"),
    Toleration("node.kubernetes.io/pid-pressure", "Exists", "", "NoSchedule"),
    Toleration(_CORDON.key, "Exists", "", "NoSchedule"),
)
"""Tolerations that the DaemonSet controller adds to its pods; pods on the host network also get network-unavailable."""

_HOST_NETWORK = Toleration("node.kubernetes.io/network-unavailable", "Exists", "", "NoSchedule")

PASSING_TAINTS = (
    "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node.cilium.io/", "karpenter.sh/",
    "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
)  # fmt: skip
"""Prefixes of taints that come and go with a node's health; no flavor needs to tolerate them."""

GKE_NODE = "cloud.google.com/gke-nodepool"
"""A label that every GKE node has."""
COMPUTE_CLASS = "cloud.google.com/compute-class"
"""The label and the taint of the nodes of a GKE ComputeClass."""


class Eligibility(Value):
    """The result for one class: how many nodes are `selected`, and whether the pods may use them.

    `repels` is a taint that keeps the pods off, or that they tolerate only with the help of an admission plugin.
    """

    selected: int
    repels: Taint | None
    possible: bool
    sure: bool


class Host(Value):
    """A node group as pods see it: `possible` if the pods may use some of its machines, `sure` if they may use all.

    `takes_all`: they may use some machines, and match the labels of all nodes with those machines.
    """

    group: NodeGroup
    labels_match: bool
    repels: Taint | None
    possible: bool
    takes_all: bool
    sure: bool
    enters_cordoned: bool = False


def hosts(
    cluster: Cluster, groups: Iterable[NodeGroup], template: PodTemplate, asked: Iterable[str]
) -> tuple[Host, ...]:
    """Evaluate node groups for a template's pods that request the resources in `asked`."""
    demand = demand_of(cluster, template, asked)
    return tuple([host(cluster, demand, g) for g in groups])


def host(cluster: Cluster, demand: NodeDemand, group: NodeGroup) -> Host:
    """Evaluate a node group for pods, once for equal demands."""
    known, cordoned = _known_hosts(cluster, demand)
    found = known.get(id(group))
    if found is None:
        found = known[id(group)] = _host(cluster, demand, group, cordoned)
    return found


@answered_once
def _known_hosts(_: Cluster, demand: NodeDemand) -> tuple[dict[int, Host], bool]:
    """Return the results for a demand by the identity of the groups, which they keep alive, and `enters_cordoned`."""
    return {}, enters_cordoned(demand)


def _host(cluster: Cluster, demand: NodeDemand, group: NodeGroup, cordoned: bool) -> Host:
    found = [eligible(demand, c) for c in group.classes] or [_loosely(demand, group)]
    if all(e is _NOT_SELECTED for e in found):
        return _not_selected(cluster, group, cordoned)
    return Host(
        group,
        labels_match=any(e.selected != NONE for e in found),
        repels=next((e.repels for e in found if e.repels is not None), None),
        possible=any(e.possible for e in found),
        takes_all=any(e.possible and e.selected == ALL for e in found),
        sure=all(e.sure for e in found),
        enters_cordoned=cordoned,
    )


@answered_once
def _not_selected(_: Cluster, group: NodeGroup, cordoned: bool) -> Host:
    """Return the result for pods that select no node of a group: one shared object, because this is the most common case."""
    return Host(
        group, labels_match=False, repels=None, possible=False, takes_all=False, sure=False, enters_cordoned=cordoned
    )


_NOT_SELECTED = Eligibility(NONE, None, possible=False, sure=False)


def eligible(demand: NodeDemand, nodes: NodeClass) -> Eligibility:
    """Return the eligibility of a class's nodes for pods."""
    selected = min(
        select(demand.selection, nodes.labels, nodes.varying, nodes.names), _named(demand.node_name, nodes.names)
    )
    if selected == NONE:
        return _NOT_SELECTED
    return _through(demand, selected, nodes.taints, nodes.labels)


def enters_cordoned(demand: NodeDemand) -> bool:
    """Return whether the pods may use a node that is cordoned now."""
    return demand.node_name is not None or not untolerated((_CORDON,), demand.tolerations)


def _loosely(demand: NodeDemand, group: NodeGroup) -> Eligibility:
    """Return the eligibility of a pool with unknown machines: labels that the provider would add may have any value."""
    labels, varying = (group.pool.labels, group.pool.varying) if group.pool else ({}, {})
    open_keys: Varying = {k: () for k in demand.selection.keys if k not in labels}
    selected = min(select(demand.selection, labels, {**open_keys, **varying}), _named(demand.node_name, ()))
    return _through(demand, selected, group.pool.taints if group.pool else (), labels)


def _through(demand: NodeDemand, selected: int, taints: tuple[Taint, ...], labels: Labels) -> Eligibility:
    """Return the eligibility after taints. For a pod with a node name only NoExecute taints count."""
    lasting_taints = lasting(taints)
    if demand.node_name is not None:
        lasting_taints = tuple(t for t in lasting_taints if t.effect == "NoExecute")
    lasting_taints = tuple(t for t in lasting_taints if not is_chosen_class(t, demand.selection.selector))
    left = untolerated(lasting_taints, demand.tolerations)
    plain = tuple(t for t in demand.tolerations if t.operator not in COMPARISONS or demand.compares)
    compared = () if plain == demand.tolerations else _without(untolerated(lasting_taints, plain), left)
    firm = [t for t in left if t.key not in demand.devices]
    if devices_are_tolerated(labels):
        left = tuple(firm)
    return Eligibility(
        selected,
        next(iter([*firm, *left, *compared]), None),
        possible=selected != NONE and not firm,
        sure=selected == ALL and not left and not compared,
    )


def _without(taints: tuple[Taint, ...], others: tuple[Taint, ...]) -> tuple[Taint, ...]:
    known = frozenset(others)
    return tuple(t for t in taints if t not in known)


COMPARISONS = ("Lt", "Gt")
"""Operators that Kueue supports, but kube-scheduler only with the feature gate TaintTolerationComparisonOperators."""


def _named(wanted: str | None, names: tuple[str, ...]) -> int:
    """Return how many nodes have the name that pods require; the names of a pool's nodes are unknown (empty)."""
    if wanted is None or names == (wanted,):
        return ALL
    return SOME if not names or wanted in names else NONE


def devices_are_tolerated(labels: Mapping[str, str]) -> bool:
    """Return whether pods that request a device are sure to tolerate the taint named like it.

    The ExtendedResourceToleration admission plugin adds this toleration: off by default, on at GKE.
    """
    return GKE_NODE in labels


def is_chosen_class(taint: Taint, selector: Mapping[str, str]) -> bool:
    """Return whether a taint is that of a ComputeClass that a node selector names: GKE adds the toleration to such pods."""
    return taint.key == COMPUTE_CLASS and selector.get(COMPUTE_CLASS) == taint.value


def lasting(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Return the taints that belong to a node's purpose, not to its health."""
    return tuple(t for t in taints if not t.key.startswith(PASSING_TAINTS))


def daemon_lands(cluster: Cluster, template: PodTemplate, nodes: NodeClass) -> int:
    """Return how many nodes of a class run a DaemonSet's pod: the controller must create it, and the node must match.

    The controller considers only the template's own tolerations, and no resources.
    """
    demand = _daemon_demand(cluster, template)
    selected = min(
        select(demand.selection, nodes.labels, nodes.varying, nodes.names), _named(demand.node_name, nodes.names)
    )
    return NONE if selected == NONE or untolerated(lasting(nodes.taints), demand.tolerations) else selected


@answered_once
def _daemon_demand(cluster: Cluster, template: PodTemplate) -> NodeDemand:
    added = DAEMON_TOLERATIONS + ((_HOST_NETWORK,) if template.host_network else ())
    return replace(demand_of(cluster, template), tolerations=template.tolerations + added)


def select(
    selection: NodeSelection, labels: Labels, varying: Mapping[str, tuple[str, ...]], names: tuple[str, ...] = ()
) -> int:
    """Return how many nodes with these labels a selection matches: `NONE`, `SOME` or `ALL`.

    `varying` are labels that all nodes carry with differing values; an empty tuple means that the values are unknown.
    `names` are the names of the nodes, if known; terms may refer to them.
    """
    for key, value in selection.selector.items():
        if labels.get(key) != value and (key in labels or key not in varying):
            return NONE
    keys = sorted(selection.keys & varying.keys() - labels.keys())
    has_fields = any(t.fields for t in selection.terms or ())
    if any(not varying[k] for k in keys) or (has_fields and not names):
        return SOME if _may_match(selection, labels, varying) else NONE
    answers = {
        selection.matches(case, name)
        for case in _cases(labels, varying, keys)
        for name in (names if has_fields else (None,))
    }
    if answers == {True}:
        return ALL
    return SOME if True in answers else NONE


def _cases(labels: Labels, varying: Mapping[str, tuple[str, ...]], keys: list[str]) -> list[Labels]:
    """Return every combination of the relevant varying values, up to a maximum number of combinations."""
    cases = [labels]
    for key in keys:
        cases = [{**c, key: value} for c in cases for value in varying[key]][:_VARIETY]
    return cases


def _may_match(selection: NodeSelection, labels: Labels, varying: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether some value of the varying labels could satisfy the terms (an upper bound)."""

    def could(key: str, holds: bool) -> bool:
        return holds or (key in varying and key not in labels)

    return selection.terms is None or any(
        (t.expressions or t.fields) and all(could(e.key, e.matches(labels)) for e in t.expressions)
        for t in selection.terms
    )


def pool_match(pool: QuotaPool, labels: Labels, varying: Mapping[str, tuple[str, ...]]) -> int:
    """Return how many nodes of a class have a quota pool's labels and none of the keys that it excludes."""
    if any(key in labels for key in pool.absent_labels):
        return NONE
    answer = select(NodeSelection(pool.node_labels), labels, varying)
    return min(answer, SOME) if any(key in varying for key in pool.absent_labels) else answer
