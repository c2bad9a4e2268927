"""Nodes in the output of `kubectl get nodes -o yaml` (or json)."""

from __future__ import annotations

from qcheck.cluster.nodes import Node
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import amounts, place, taints

if TYPE_CHECKING:
    from qcheck.documents.cursor import Cursor


def read_node(root: Cursor) -> Node:
    """Return one Node: its allocatable resources, and whether it accepts pods."""
    spec, status, metadata = root["spec"], root["status"], root["metadata"]
    own = metadata["labels"].strings()
    return Node(
        ObjectId("", "v1", "Node", metadata["name"].text() or ""),
        place(root),
        own,
        {},
        node_labels=own,
        taints=taints(spec["taints"]),
        allocatable=amounts(status["allocatable"]),
        capacity=amounts(status["capacity"]),
        unschedulable=spec["unschedulable"].boolean() or False,
        ready=_is_ready(status["conditions"]),
    )


def _is_ready(conditions: Cursor) -> bool:
    """Return the condition Ready; a node without conditions (handwritten or trimmed) counts as ready."""
    ready = [c["status"].text() for c in conditions.items() if c["type"].text() == "Ready"]
    return not ready or ready[-1] == "True"
