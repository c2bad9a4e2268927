"""Domains of a flavor's nodes: from the labels of dumped nodes, or from what pools declare.

Kueue 0.19 counts only nodes that have the label of every level (`pkg/cache/scheduler/tas_nodes_cache.go`). The result
is the best case: nodes whose domain is unknown might all share one.
"""

from __future__ import annotations

from qcheck.cluster.labels import is_discovered
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.domains import Domain
from qcheck.packing.flavor_question import nodes_of
from qcheck.packing.question import Nodes
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Labels
    from qcheck.supply.groups import NodeGroup

    Admits = Callable[[NodeGroup], bool]

HOSTNAME = "kubernetes.io/hostname"
CLIQUE = "nvidia.com/gpu.clique"
"""The label that names a node's NVLink domain, which exists whether or not a Topology names it."""

CARRIED, ABSENT, UNKNOWN = "carried", "absent", "unknown"
"""The states of a level's label on a group's nodes."""


def anything(_: NodeGroup) -> bool:
    return True


class NodeSpot(Value):
    """`count` equal nodes of a group that share all relevant labels; `labels` None: those of the pool."""

    group: NodeGroup
    nodes: Nodes
    labels: Labels | None = None


class Layout(Value):
    """The domains of the coarsest level. `unclear` are levels in which the domain of some nodes is unknown."""

    domains: tuple[Domain, ...]
    unclear: frozenset[str]


def label_state(group: NodeGroup, level: str) -> str:
    """Return whether the nodes of a pool or a dumped group have a level's label; `ABSENT` if only some of them do."""
    if level == HOSTNAME:
        return CARRIED
    if group.nodes:
        return CARRIED if all(level in n.node_labels for n in group.nodes) else ABSENT
    labels = [{*c.labels, *c.varying} for c in group.classes]
    stated = group.pool is not None and any(t.level == level for t in group.pool.topology)
    if stated or (labels and all(level in known for known in labels)) or nodes_per_domain(group, level) is not None:
        return CARRIED
    return UNKNOWN if is_discovered(level) or not labels else ABSENT


def nodes_per_domain(group: NodeGroup, level: str) -> int | None:
    """Return the size of a domain, in nodes, as the pool declares it; None if it does not.

    A declared number of domains is assumed to divide the nodes evenly: none is larger than the quotient rounded up.
    """
    pool = group.pool
    for stated in pool.topology if pool is not None else ():
        if stated.level == level and stated.nodes_per_domain:
            return stated.nodes_per_domain
        if stated.level == level and stated.domains and group.ceiling is not None:
            return -(-group.ceiling // stated.domains)
    return _clique_size(group) if level == CLIQUE else None


def _clique_size(group: NodeGroup) -> int | None:
    """Return the nodes per NVLink domain, from the machine's figures."""
    for node_class in group.classes:
        machine = node_class.machine
        devices = max((n for r, n in machine.allocatable.items() if is_compute(r)), default=0)
        if machine.nvlink_domain and devices and machine.nvlink_domain > devices:
            return machine.nvlink_domain // devices
    return None


def layout(
    cluster: Cluster,
    flavor: str,
    levels: tuple[str, ...],
    asked: Iterable[str],
    view: str,
    most: int,
    admits: Admits = anything,
    sums: bool = False,
) -> Layout | None:
    """Return the domains of a flavor's nodes; None if unknown. For `asked`, `view` and `most`, see `nodes_of`.

    `admits`: which groups may take the pods. `sums`: combine the nodes of a domain into one, as Kueue does if its
    lowest level is not the node.
    """
    spots: list[NodeSpot] = []
    unclear: set[str] = set()
    resources = tuple(sorted(asked))
    for match in supply_of(cluster).matches(flavor):
        if not match.group.is_known:
            return None
        if not admits(match.group):
            continue
        nodes = nodes_of(cluster, match.group, resources, view, most)
        states = {level: label_state(match.group, level) for level in levels}
        unclear |= {level for level, state in states.items() if state == UNKNOWN}
        if match.group.nodes:
            spots += _dumped(match.group, nodes, levels)
        elif ABSENT not in states.values():
            spots.append(NodeSpot(match.group, nodes))
    unclear |= {level for level in levels for s in spots if s.labels is None and _is_open(s.group, level)}
    return Layout(_grow(spots, levels, sums), frozenset(unclear))


def _is_open(group: NodeGroup, level: str) -> bool:
    """Return whether the distribution of a pool's nodes over the domains of a level is unknown."""
    fixed = any(level in c.labels for c in group.classes)
    stated = any(t.level == level and t.nodes_per_domain for t in (group.pool.topology if group.pool else ()))
    return level != HOSTNAME and not (fixed or stated or (level == CLIQUE and _clique_size(group)))


def _dumped(group: NodeGroup, nodes: Nodes, levels: tuple[str, ...]) -> list[NodeSpot]:
    """Return dumped nodes that have all levels, grouped by the labels' values and in their order."""
    alike: dict[tuple[str, ...], list[Labels]] = {}
    for node in group.nodes:
        values = tuple(node.node_labels.get(level, "") for level in levels if level != HOSTNAME)
        if all(level in node.node_labels for level in levels if level != HOSTNAME):
            alike.setdefault(values, []).append(node.node_labels)
    return [NodeSpot(group, replace(nodes, count=len(found)), found[0]) for _, found in sorted(alike.items())]


def _grow(spots: list[NodeSpot], levels: tuple[str, ...], sums: bool) -> tuple[Domain, ...]:
    if not levels:
        return ()
    level, finer = levels[0], levels[1:]
    if level == HOSTNAME:
        return tuple(Domain(level, s.nodes.label, s.nodes.count, (replace(s.nodes, count=1),)) for s in spots)
    domains: list[Domain] = []
    shared: dict[str | None, list[NodeSpot]] = {}
    for spot in spots:
        size = None if spot.labels is not None else nodes_per_domain(spot.group, level)
        if size is None:
            shared.setdefault(_value(spot, level), []).append(spot)
        else:
            domains += _split(spot, size, level, finer, sums)
    for value, together in shared.items():
        label = f"{level}={value}" if value is not None else names_of(together)
        domains.append(_domain(level, label, 1, together, finer, sums))
    return tuple(domains)


def _value(spot: NodeSpot, level: str) -> str | None:
    if spot.labels is not None:
        return spot.labels.get(level)
    return next((c.labels[level] for c in spot.group.classes if level in c.labels), None)


def _split(spot: NodeSpot, size: int, level: str, finer: tuple[str, ...], sums: bool) -> list[Domain]:
    """Return the full domains of a pool, and a last one with the remaining nodes."""
    full, rest = divmod(spot.nodes.count, size)
    parts = []
    for count, nodes in ((full, size), (1, rest)):
        if count and nodes:
            inner = replace(spot, nodes=replace(spot.nodes, count=nodes))
            parts.append(_domain(level, spot.group.name, count, [inner], finer, sums))
    return parts


def _domain(level: str, label: str, count: int, spots: list[NodeSpot], finer: tuple[str, ...], sums: bool) -> Domain:
    if finer:
        return Domain(level, label, count, parts=_grow(spots, finer, sums))
    if sums:
        free = {r: sum(s.nodes.count * s.nodes.free.get(r, 0) for s in spots) for s in spots for r in s.nodes.free}
        return Domain(level, label, count, nodes=(Nodes(names_of(spots), free, 1),))
    return Domain(level, label, count, nodes=tuple(s.nodes for s in spots))


def names_of(spots: Iterable[NodeSpot]) -> str:
    return ", ".join(dict.fromkeys(s.group.name for s in spots))
