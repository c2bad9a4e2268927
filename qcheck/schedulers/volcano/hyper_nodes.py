"""Volcano's hyper nodes, their nodes, and those of which one must hold a job with a hard topology."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import answered_once, view
from qcheck.quota.start_decision import NodeSet, RequiredNodeSet
from qcheck.schedulers.volcano.queues import queues_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.nodes import Node
    from qcheck.cluster.volcano import HyperNode, HyperNodeMember, NetworkTopology
    from qcheck.supply.groups import NodeGroup


TOPOLOGY_PLUGIN = "network-topology-aware"
"""The plugin that reads hyper nodes."""


class _Nodes(Value):
    """The names of dumped nodes and of node pools of a hyper node. `is_known` is False if there may be others."""

    names: frozenset[str]
    pools: frozenset[str]
    is_known: bool


class _Members(Value):
    """The nodes and hyper nodes that the members of a hyper node select."""

    nodes: _Nodes
    hyper_nodes: tuple[str, ...]


class _Sets(Value):
    """The nodes of each hyper node up to a tier. `is_known`: no other node is in one of them."""

    sets: tuple[NodeSet, ...]
    is_known: bool


def children_of(member: HyperNodeMember, known: dict[str, HyperNode]) -> list[HyperNode]:
    """Return the hyper node that a member selects; Volcano ignores expressions and labels that select hyper nodes."""
    return [known[member.exact]] if not member.is_node and member.exact in known else []


def is_unknown(member: HyperNodeMember) -> bool:
    """Return whether a member selects nodes by a pattern that cannot be evaluated."""
    return member.pattern is not None and member.pattern.matches is None


def nodes_of(cluster: Cluster, member: HyperNodeMember) -> list[Node]:
    """Return the dumped nodes that a member selects; none if this is unknown."""
    if not member.is_node:
        return []
    if member.exact is not None:
        return [n for n in cluster.nodes if n.name == member.exact]
    if member.pattern is not None:
        test = member.pattern.matches
        return [n for n in cluster.nodes if test is not None and test(n.name)]
    return [n for n in cluster.nodes if member.labels is not None and member.labels.matches(n.node_labels)]


def required_hyper_nodes(cluster: Cluster, asked: NetworkTopology | None) -> RequiredNodeSet | None:
    """Return the hyper nodes, one of which must hold a gang; None without a hard topology, or if all nodes qualify."""
    if asked is None or not asked.is_hard:
        return None
    field = "highestTierAllowed" if asked.highest_tier is not None else "highestTierName"
    tier = _tier(cluster, asked)
    if _may_use_all(cluster, tier):
        return None
    found = _Sets((), cluster.live) if tier is None else _up_to(cluster, tier)
    is_read = queues_of(cluster).scheduler.plugin(TOPOLOGY_PLUGIN) is not None
    return RequiredNodeSet(
        sets=found.sets,
        words=f"HyperNode of at most tier {asked.highest_tier_name if tier is None else tier}",
        place=asked.place.at(field),
        is_known=found.is_known and are_known(cluster) and is_read,
    )


def are_known(cluster: Cluster) -> bool:
    """Return whether all hyper nodes are known. Volcano may discover more, so files alone never prove that one is missing."""
    return cluster.has_all("HyperNode") and (bool(cluster.hyper_nodes) or cluster.live)


def has_whole_cluster(cluster: Cluster) -> bool:
    """Return whether the release treats the cluster as a hyper node, one tier above all others (tier 1 if there are none).

    Source: Volcano 1.14 `addClusterTopHyperNode` in `pkg/scheduler/framework/session.go`.
    """
    return cluster.policy.volcano.release >= (1, 14)


def _may_use_all(cluster: Cluster, tier: int | None) -> bool:
    """Return whether the tier of a job admits the whole cluster. An unknown tier name is ignored."""
    if not has_whole_cluster(cluster) or not are_known(cluster):
        return False
    return tier is None or tier > max((h.tier for h in cluster.hyper_nodes), default=0)


def _tier(cluster: Cluster, asked: NetworkTopology) -> int | None:
    if asked.highest_tier is not None:
        return asked.highest_tier
    named = (h.tier for h in cluster.hyper_nodes if h.tier_name and h.tier_name == asked.highest_tier_name)
    return next(named, None)


@answered_once
def _up_to(cluster: Cluster, tier: int) -> _Sets:
    members = _members(cluster)
    found = {h.name: _below(members, h.name) for h in cluster.hyper_nodes if h.tier <= tier}
    sets = tuple(NodeSet(name, _groups(cluster, nodes)) for name, nodes in found.items())
    return _Sets(sets, all(nodes.is_known for nodes in found.values()))


@view
def _members(cluster: Cluster) -> dict[str, _Members]:
    """Return the direct members of each hyper node, by its name."""
    known = {h.name: h for h in cluster.hyper_nodes}
    found: dict[str, _Members] = {}
    for name, hyper_node in known.items():
        names, pools, is_known = set[str](), set[str](), True
        for member in hyper_node.members:
            names |= {n.name for n in nodes_of(cluster, member)}
            if member.is_node and member.labels is not None:
                pools |= {p.name for p in cluster.pools if member.labels.matches(p.labels)}
            elif member.is_node:
                is_known = is_known and not cluster.pools and not is_unknown(member)
        children = tuple(c.name for m in hyper_node.members for c in children_of(m, known))
        found[name] = _Members(_Nodes(frozenset(names), frozenset(pools), is_known), children)
    return found


def _below(members: Mapping[str, _Members], top: str) -> _Nodes:
    """Return the nodes anywhere below a hyper node; each hyper node counts once, even if it is below itself."""
    reached = {top: members[top]}
    waiting = [top]
    while waiting:
        new = [c for c in dict.fromkeys(members[waiting.pop()].hyper_nodes) if c not in reached]
        reached |= {child: members[child] for child in new}
        waiting += new
    direct = [each.nodes for each in reached.values()]
    return _Nodes(
        frozenset[str]().union(*(d.names for d in direct)),
        frozenset[str]().union(*(d.pools for d in direct)),
        all(d.is_known for d in direct),
    )


def _groups(cluster: Cluster, nodes: _Nodes) -> tuple[NodeGroup, ...]:
    """Return the groups of some nodes; groups of dumped nodes are reduced to these nodes."""
    found = []
    for group in supply_of(cluster).groups:
        if not group.nodes:
            found += [group] if group.pool is not None and group.pool.name in nodes.pools else []
        elif inside := tuple(n for n in group.nodes if n.name in nodes.names):
            ready = sum(n.ready and not n.unschedulable for n in inside)
            found.append(replace(group, nodes=inside, static=ready, ceiling=len(inside)))
    return tuple(found)
