"""The nodes behind Volcano's queues: those that a queue may use, and the total that the scheduler divides.

Volcano adds up the allocatable of all its nodes. DaemonSet pods are not subtracted; they only leave less on each node.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import answered_once, view
from qcheck.cluster.volcano import NODE_GROUP_LABEL
from qcheck.schedulers.volcano.amounts import UNLIMITED, added, amounts
from qcheck.schedulers.volcano.queues import queues_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.volcano import NodeGroupTerms
    from qcheck.schedulers.volcano.amounts import Amounts
    from qcheck.supply.groups import NodeClass, NodeGroup


def node_groups(node_class: NodeClass) -> tuple[str, ...] | None:
    """Return the node groups that a class's nodes may be in: none, one or several; None if unknown."""
    if NODE_GROUP_LABEL in node_class.labels:
        return (node_class.labels[NODE_GROUP_LABEL],)
    values = node_class.varying.get(NODE_GROUP_LABEL)
    return values or (None if values == () else ())


@view
def declared_groups(cluster: Cluster) -> frozenset[str] | None:
    """Return the names of all node groups; None if some nodes may be in one that was not read."""
    found: set[str] = set()
    for group in supply_of(cluster).groups:
        if group.pool is not None and (group.pool.labels_unknown or not group.classes):
            return None
        for node_class in group.classes:
            names = node_groups(node_class)
            if names is None:
                return None
            found.update(names)
    return frozenset(found)


@answered_once
def reach(cluster: Cluster, queue: str) -> tuple[NodeGroup, ...]:
    """Return the groups of nodes that a queue's pods may use, as far as node groups decide."""
    queues = queues_of(cluster)
    terms = queues.node_terms(queue)
    groups = supply_of(cluster).groups
    if terms is None:
        return groups
    found = []
    for group in groups:
        names = [node_groups(c) for c in group.classes] or [None]
        if any(n is None or _admits(n, terms, queues.is_strict) for n in names):
            found.append(group)
    return tuple(found)


def _admits(names: tuple[str, ...], terms: NodeGroupTerms, is_strict: bool) -> bool:
    return any(map(terms.allows, names)) if names else terms.is_empty and not is_strict


@answered_once
def total(cluster: Cluster, at_best: bool) -> Amounts:
    """Return what Volcano divides: the allocatable of all existing nodes or, at best, of all that can exist."""
    found = amounts()
    for group in supply_of(cluster).groups:
        found = added(found, _allocatable(group, at_best))
    return found


def _allocatable(group: NodeGroup, at_best: bool) -> Amounts:
    machines = [c.machine.allocatable for c in group.classes]
    choose = max if at_best else min
    each = {r: choose(m.get(r, 0) for m in machines) for m in machines for r in m}
    count = group.ceiling if at_best else group.static
    if count is None:
        return {r: UNLIMITED for r, a in each.items() if a}
    return {r: a * count for r, a in each.items()}


@answered_once
def is_known(cluster: Cluster, resource: str) -> bool:
    """Return whether the capacity of a resource is known from the nodes."""
    groups = supply_of(cluster).groups
    return bool(groups) and all(g.is_known and all(c.knows(resource) for c in g.classes) for g in groups)


@answered_once
def is_estimated(cluster: Cluster, resource: str) -> bool:
    """Return whether the figure is an estimate for some nodes."""
    return any(c.is_estimated(resource) for g in supply_of(cluster).groups for c in g.classes)
