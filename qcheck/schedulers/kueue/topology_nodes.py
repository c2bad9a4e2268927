"""The tree of a flavor's topology from a cluster's nodes, if everything decisive is known exactly.

Kueue counts existing nodes: ready and not cordoned, with the flavor's labels and every level's label. If nodes may
still be added, figures are estimated, or the distribution of a pool's nodes over domains is unknown, there is no tree.

Source: Kueue 0.19 `pkg/cache/scheduler/tas_nodes_cache.go`, `tas_flavor.go`.
"""

from __future__ import annotations

from qcheck.cluster.policy import matches_any
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import answered_once
from qcheck.packing.flavor_domains import ABSENT, HOSTNAME, label_state
from qcheck.schedulers.kueue.topology_tree import UNLIMITED, Leaf, TopologyTree
from qcheck.supply.eligibility import eligible
from qcheck.supply.groups import ALL
from qcheck.supply.node_demand import NodeDemand
from qcheck.supply.pod_requests import PODS
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.nodes import Node
    from qcheck.cluster.pods import Amounts
    from qcheck.supply.groups import NodeClass, NodeGroup


class LeafNode(Value):
    """A node of a leaf: its group, and its name if nodes are dumped."""

    group: NodeGroup
    name: str | None


class TopologyNodes(Value):
    """The tree of a flavor, and the nodes of each leaf. `unsure`: resources with a figure that is not exact.

    `away`: nodes that would belong to it but are cordoned or not ready.
    """

    tree: TopologyTree
    members: dict[str, tuple[LeafNode, ...]]
    unsure: frozenset[str]
    away: tuple[str, ...] = ()

    def admitted_by(self, demand: NodeDemand) -> frozenset[str] | None:
        """Return the leaves whose node Kueue lets pods use; None for all, if leaves are not nodes, which it ignores."""
        if not self.tree.is_by_node:
            return None
        open_groups: dict[str, bool] = {}
        for members in self.members.values():
            group = members[0].group
            if group.name not in open_groups:
                found = eligible(demand, group.classes[0])
                open_groups[group.name] = found.selected == ALL and found.repels is None
        return frozenset(key for key, members in self.members.items() if open_groups[members[0].group.name])


MOST_NODES = 100_000
"""The most nodes of which a tree is built: more than any cluster has."""


@answered_once
def topology_nodes(cluster: Cluster, flavor: str) -> TopologyNodes | None:
    """Return the exact tree of a flavor with a topology; None if anything decisive is unknown, or with too many nodes."""
    topology = cluster.topology.get(cluster.flavor[flavor].topology or "")
    if topology is None or not cluster.has_nodes:
        return None
    spots: list[tuple[tuple[str, ...], LeafNode]] = []
    unsure: set[str] = set()
    away: list[str] = []
    for match in supply_of(cluster).matches(flavor):
        group = match.group
        if group.nodes:
            found = _dumped(cluster, flavor, group, topology.levels)
            spots += [
                (tuple(n.node_labels[level] for level in topology.levels), LeafNode(group, n.name))
                for n in found
                if _is_there(n)
            ]
            away += [n.name for n in found if not _is_there(n)]
            continue
        if ABSENT in {label_state(group, level) for level in topology.levels}:
            continue
        too_many = len(spots) + group.static > MOST_NODES
        if too_many or not _is_exact(cluster, group, match.how_many, topology.levels):
            return None
        unsure |= _unsure(group.classes[0])
        spots += _expected(group, topology.levels)
    return replace(_grown(topology.levels, spots, frozenset(unsure)), away=tuple(away))


def _dumped(cluster: Cluster, flavor: str, group: NodeGroup, levels: tuple[str, ...]) -> list[Node]:
    """Return the nodes of a group with the flavor's labels and every level's label."""
    wanted = cluster.flavor[flavor].node_labels
    labelled = (n for n in group.nodes if all(level in n.node_labels for level in levels))
    return [n for n in labelled if all(n.node_labels.get(k) == v for k, v in wanted.items())]


def _is_there(node: Node) -> bool:
    return node.ready and not node.unschedulable


def _is_exact(cluster: Cluster, group: NodeGroup, how_many: int, levels: tuple[str, ...]) -> bool:
    """Return whether a pool has a known number of equal nodes in known domains."""
    reserved = any(r.total and matches_any(group.name, r.pools) for r in cluster.policy.reserves)
    if how_many != ALL or not group.is_known or len(group.classes) != 1 or group.ceiling != group.static or reserved:
        return False
    certain = all(t.certain for t in group.classes[0].takings)
    return certain and all(_domain_size(group, level) is not None for level in levels)


def _domain_size(group: NodeGroup, level: str) -> int | None:
    """Return nodes per domain of a pool: one for the hostname, all if the label is the pool's; None if unknown."""
    if level == HOSTNAME:
        return 1
    if level in group.classes[0].labels:
        return max(1, group.static)
    stated = (t.nodes_per_domain for t in (group.pool.topology if group.pool else ()) if t.level == level)
    return next((size for size in stated if size), None)


def _expected(group: NodeGroup, levels: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], LeafNode]]:
    """Yield the nodes of a pool, with artificial names that sort by number."""
    labels, digits = group.classes[0].labels, len(str(group.static))
    sizes = {level: _domain_size(group, level) or 1 for level in levels}
    for number in range(group.static):
        yield (
            tuple(labels.get(level) or f"{group.name}-{number // sizes[level]:0{digits}}" for level in levels),
            LeafNode(group, None),
        )


def _unsure(nodes: NodeClass) -> set[str]:
    """Return resources whose figure is estimated or unknown. Without a figure for pods, slots are unlimited."""
    machine = nodes.machine
    known = {r for r in machine.allocatable if not nodes.is_estimated(r)} | {PODS}
    return (set(machine.allocatable) | set(machine.unknown) | {"cpu", "memory", "ephemeral-storage"}) - known


def _grown(
    levels: tuple[str, ...], spots: list[tuple[tuple[str, ...], LeafNode]], unsure: frozenset[str]
) -> TopologyNodes:
    by_node = bool(levels) and levels[-1] == HOSTNAME
    values: dict[str, tuple[str, ...]] = {}
    members: dict[str, list[LeafNode]] = {}
    for own, member in spots:
        key = own[-1] if by_node else ",".join(own)
        values.setdefault(key, own)
        members.setdefault(key, []).append(member)
    leaves = [Leaf(values[key], key, _free(of)) for key, of in members.items()]
    return TopologyNodes(TopologyTree(levels, leaves), {key: tuple(of) for key, of in members.items()}, unsure)


def _free(members: list[LeafNode]) -> Amounts:
    """Return what the nodes of a leaf have in total, after DaemonSets and reserves."""
    total: Amounts = {}
    for member in members:
        nodes = member.group.classes[0]
        taken = [*(t.amounts for t in nodes.takings), *(r.per_node for r in nodes.reserves)]
        for resource, amount in {PODS: UNLIMITED, **nodes.machine.allocatable}.items():
            left = amount - sum(t.get(resource, 0) for t in taken)
            total[resource] = total.get(resource, 0) + left
    return total
