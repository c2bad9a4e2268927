"""Assignment of nodes to pools."""

from __future__ import annotations

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Labels
    from qcheck.cluster.nodes import Node, NodePool


CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
"""Labels of nodes that no pool describes."""


def pool_of_each_node(cluster: Cluster) -> dict[str, NodePool]:
    """Return pools by the names of their nodes; nodes of no known pool are omitted.

    A node with a provider's group label belongs to that pool. A node of a running cluster also belongs to the pool all
    of whose declared labels it has; pools with more labels are tried first.
    """
    owners = _by_group_label(cluster.nodes, cluster.pools)
    if not cluster.live:
        return owners
    own = sorted((p for p in cluster.pools if p.group_label is None and declared(p)), key=lambda p: -len(declared(p)))
    for node in cluster.nodes:
        found = next((p for p in own if declared(p).items() <= node.node_labels.items()), None)
        if found is not None:
            owners.setdefault(node.name, found)
    return owners


def likely_pool_of_each_node(cluster: Cluster) -> dict[str, NodePool]:
    """Return the same, plus each remaining node with the most similar pool that still has room for it."""
    owners = pool_of_each_node(cluster)
    for node in cluster.nodes:
        if node.name in owners or any(label in node.node_labels for label in CONTROL_PLANE):
            continue
        counts = _counts(owners.values())
        open_pools = [p for p in cluster.pools if p.maximum is None or counts.get(id(p), 0) < p.maximum]
        likeness = [(_likeness(node, p), p) for p in open_pools]
        best, pool = max(likeness, key=lambda pair: pair[0], default=(0, None))
        if pool is not None and best:
            owners[node.name] = pool
    return owners


def declared(pool: NodePool) -> Labels:
    """Return the labels that a pool's definition gives its nodes."""
    return {key: value for key, value in pool.labels.items() if key not in pool.added}


def _by_group_label(nodes: Iterable[Node], pools: Iterable[NodePool]) -> dict[str, NodePool]:
    by_label = {p.group_label: p for p in pools if p.group_label is not None}
    keys = sorted({key for key, _ in by_label})
    owners = {}
    for node in nodes:
        pool = next((by_label[at] for key in keys if (at := (key, node.node_labels.get(key, ""))) in by_label), None)
        if pool is not None:
            owners[node.name] = pool
    return owners


def _counts(pools: Iterable[NodePool]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for pool in pools:
        counts[id(pool)] = counts.get(id(pool), 0) + 1
    return counts


def _likeness(node: Node, pool: NodePool) -> int:
    """Return how well a pool matches: labels that the node has, and a machine with equal accelerators or all equal."""
    same_labels = len(declared(pool).items() & node.node_labels.items())
    known: list[Mapping[str, int]] = [m.allocatable for m in pool.machines if m.allocatable]
    same_devices = any(_accelerators(m) == _accelerators(node.allocatable) for m in known if _accelerators(m))
    return same_labels + same_devices + any(m.items() <= node.allocatable.items() for m in known)


def _accelerators(amounts: Mapping[str, int]) -> dict[str, int]:
    return {r: a for r, a in amounts.items() if a and is_compute(r)}
