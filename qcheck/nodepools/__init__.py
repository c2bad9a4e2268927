"""Node pools, whatever teams keep them in: which documents describe them, and what they say.

One module per format; `READERS` is the table of those that are Kubernetes-style documents, by apiVersion and kind.
"""

from __future__ import annotations

from importlib import import_module

from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.documents.cursor import Cursor
    from qcheck.model.nodes import Machine, Node, NodePool
    from qcheck.model.problems import Problem

NODE = ("v1", "Node")
READERS = {
    ("qcheck.dev/v1", "NodePool"): "own",
    ("karpenter.sh/v1", "NodePool"): "karpenter",
    ("karpenter.sh/v1beta1", "NodePool"): "karpenter",
    ("eksctl.io/v1alpha5", "ClusterConfig"): "eksctl",
}
"""The module that reads documents of an apiVersion and kind; imported only when one is met."""


def recognises(api_version: str, kind: str) -> bool:
    """Whether documents of this apiVersion and kind describe nodes."""
    return (api_version, kind) == NODE or (api_version, kind) in READERS


def describes_nodes(root: Cursor) -> bool:
    return recognises(root["apiVersion"].text() or "", root["kind"].text() or "")


def read(
    roots: Iterable[Cursor], own: Mapping[str, Machine]
) -> tuple[tuple[NodePool, ...], tuple[Node, ...], tuple[Problem, ...]]:
    """Every pool and node among some objects, and what could not be understood. `own`: machine types of the settings."""
    pools: list[NodePool] = []
    nodes: list[Node] = []
    for root in roots:
        key = (root["apiVersion"].text() or "", root["kind"].text() or "")
        if key == NODE:
            from qcheck.nodepools.dump import read_node

            nodes.append(read_node(root))
        elif key in READERS:
            module = import_module(f"qcheck.nodepools.{READERS[key]}")
            pools.extend(module.read_pools(root, own))
    return tuple(pools), tuple(nodes), ()
