"""A cluster at its current load: its nodes minus the requests of the pods on them."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, replace

if TYPE_CHECKING:
    from collections.abc import Container

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.nodes import Node
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.running import Key

PODS = "pods"


def occupied(cluster: Cluster, gone: Container[Key] = ()) -> Cluster:
    """Return the cluster with less allocatable on each node. Pods of the objects in `gone` count as ended."""
    taken = taken_by_node(cluster, gone)
    return replace(cluster, nodes=tuple(_without(n, taken[n.name]) if n.name in taken else n for n in cluster.nodes))


def taken_by_node(cluster: Cluster, gone: Container[Key] = ()) -> dict[str, Amounts]:
    """Return what pods request on each node, without DaemonSet pods, which already count on every node."""
    taken: dict[str, Amounts] = {}
    state = cluster.state
    for pod in state.pods if state else ():
        if pod.node is None or (state and state.origin(pod.nearest) in gone):
            continue
        of_node = taken.setdefault(pod.node, {})
        for resource, amount in {**pod.template.amounts(), PODS: 1}.items():
            of_node[resource] = of_node.get(resource, 0) + amount
    return taken


def _without(node: Node, taken: Amounts) -> Node:
    left = {r: max(0, amount - taken.get(r, 0)) for r, amount in node.allocatable.items()}
    return replace(node, allocatable=left, capacity=left)
