"""QC962: hyper nodes that Volcano rejects, or that do not form a tree of nodes."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.problems import of_problems
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import VolcanoJob
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.volcano.hyper_nodes import TOPOLOGY_PLUGIN, children_of, has_whole_cluster, is_unknown, nodes_of
from qcheck.schedulers.volcano.queues import queues_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place
    from qcheck.cluster.volcano import HyperNode, HyperNodeMember, NetworkTopology


@rule("QC962")
def hyper_node_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report hyper nodes without members, with missing members, with two parents, or in a cycle."""
    yield from of_problems(cluster, ProblemCode.VOLCANO_HYPERNODE_INVALID)
    known = {h.name: h for h in cluster.hyper_nodes}
    owners: dict[str, tuple[HyperNode, HyperNodeMember]] = {}
    for hyper_node in cluster.hyper_nodes:
        for member in hyper_node.members:
            yield from _member(cluster, hyper_node, member, known)
            for child in children_of(member, known):
                yield from _second_parent(hyper_node, member, child, owners)
    yield from _tier_names(cluster)
    if cluster.nodes:
        yield from _shared_nodes(cluster)
    yield from _requests(cluster)


def _member(
    cluster: Cluster, owner: HyperNode, member: HyperNodeMember, known: dict[str, HyperNode]
) -> Iterator[Finding]:
    if not member.is_node and member.exact is not None:
        child = known.get(member.exact)
        if child is None:
            certain = cluster.has_all("HyperNode")
            fact = "does not exist" if certain else "was not read"
            message = f"HyperNode {owner.name} has the member {member.exact}, a HyperNode that {fact}"
            found = finding(_name_place(member), message).likely(not certain)
            near = nearest(member.exact, known)
            yield found.fixed_by(f"Write {near} instead of {member.exact}.") if near else found
        elif child.tier >= owner.tier:
            message = f"HyperNode {owner.name} of tier {owner.tier} has the member {child.name} of tier {child.tier}"
            message += ": members belong to lower tiers"
            yield finding(_name_place(member), message).near(child.place.at("spec", "tier"), f"tier {child.tier}")
    elif not member.is_node and (member.pattern is not None or member.labels is not None):
        way = "labelMatch" if member.pattern is None else "regexMatch"
        message = f"HyperNode {owner.name} selects hyper nodes by {way}, which Volcano ignores: the member is empty"
        found = finding(member.place.at("selector", way), message)
        yield found.fixed_by("Select each hyper node by exactMatch, or set the member's type to Node.")
    elif not member.is_node or is_unknown(member):
        return
    elif cluster.nodes and not cluster.pools and not nodes_of(cluster, member):
        found = finding(member.place.at("selector"), f"HyperNode {owner.name} has a member that matches no node")
        yield found.likely(not cluster.has_all("Node"))


def _name_place(member: HyperNodeMember) -> Place:
    return member.place.at("selector", "exactMatch", "name")


def _second_parent(
    owner: HyperNode,
    member: HyperNodeMember,
    child: HyperNode,
    owners: dict[str, tuple[HyperNode, HyperNodeMember]],
) -> Iterator[Finding]:
    first = owners.setdefault(child.name, (owner, member))
    if first[0] is not owner:
        message = f"HyperNode {child.name} is a member of {first[0].name} and of {owner.name}: hyper nodes form a tree"
        yield finding(member.place, message).near(first[1].place, f"member of {first[0].name}")


def _tier_names(cluster: Cluster) -> Iterator[Finding]:
    """Report a name shared by two tiers: the last one that is read counts."""
    first: dict[str, HyperNode] = {}
    for each in cluster.hyper_nodes:
        known = first.setdefault(each.tier_name, each)
        if each.tier_name and known.tier != each.tier:
            one, other = f"tier {known.tier} in {known.name}", f"tier {each.tier} in {each.name}"
            message = f"tier name {each.tier_name} means both {one} and {other}"
            place = each.place.at("spec", "tierName")
            yield finding(place, message).near(known.place.at("spec", "tierName"), f"tier {known.tier}")


def _shared_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report nodes that are members of two hyper nodes."""
    first: dict[str, tuple[HyperNode, HyperNodeMember]] = {}
    for each in cluster.hyper_nodes:
        for member in each.members:
            shared: dict[str, list[str]] = {}
            for node in nodes_of(cluster, member):
                owner, _ = first.setdefault(node.name, (each, member))
                if owner is not each:
                    shared.setdefault(owner.name, []).append(node.name)
            for name, nodes in shared.items():
                who = f"node {nodes[0]} is a member" if len(nodes) == 1 else f"nodes {names(nodes)} are members"
                message = f"{who} of HyperNode {name} and of {each.name}"
                yield finding(member.place, message).near(first[nodes[0]][1].place, f"member of {name}")


def _requests(cluster: Cluster) -> Iterator[Finding]:
    """Report jobs and pod groups that request a tier that no hyper node has, or while its plugin is off."""
    tiers = {h.tier_name for h in cluster.hyper_nodes if h.tier_name}
    queues = queues_of(cluster)
    alone: list[tuple[ObjectId, NetworkTopology]] = []
    for subject, topology in _asking(cluster):
        wanted = topology.highest_tier_name
        if wanted is not None and cluster.hyper_nodes and wanted not in tiers and cluster.has_all("HyperNode"):
            message = f"{subject} asks for a tier named {wanted}, but the hyper nodes have {names(sorted(tiers))}"
            yield finding(topology.place.at("highestTierName"), message).about(subject)
        elif topology.is_hard and not queues.is_assumed and queues.scheduler.plugin(TOPOLOGY_PLUGIN) is None:
            message = f"{subject} asks for a network topology, but the plugin {TOPOLOGY_PLUGIN} is disabled"
            found = finding(topology.place, message).about(subject).at_most(Severity.WARNING)
            yield found.near(queues.scheduler.place, "this configuration")
        elif topology.is_hard and not cluster.hyper_nodes and cluster.has_all("HyperNode"):
            alone.append((subject, topology))
    if alone:
        yield _without_hyper_nodes(cluster, alone)


def _asking(cluster: Cluster) -> Iterator[tuple[ObjectId, NetworkTopology]]:
    for workload in cluster.workloads:
        if isinstance(workload, VolcanoJob) and workload.topology is not None:
            yield workload.id, workload.topology
    for group in cluster.volcano_pod_groups:
        if group.topology is not None:
            yield group.id, group.topology


def _without_hyper_nodes(cluster: Cluster, asking: list[tuple[ObjectId, NetworkTopology]]) -> Finding:
    """Report that no hyper node was read, once for all requests; Volcano may discover some in the cluster."""
    (subject, topology), *others = asking
    release = cluster.policy.volcano.version
    effect = "such jobs never start"
    if has_whole_cluster(cluster):
        effect = f"Volcano {release} treats the whole cluster as one of tier 1, so the pods may run on any nodes"
    message = f"{subject} has a hard network topology, but no HyperNode was read: if there is none, {effect}"
    found = finding(topology.place, message).about(subject)
    for other, its in others:
        found = found.near(its.place, f"{other} too")
    return found.likely().fixed_by(
        "Add the HyperNodes to the paths, or use --live to read those that Volcano discovers."
    )
