"""Packing questions of a cluster, each answered once: equal jobs ask equal ones."""

from __future__ import annotations

from qcheck.model.packing.solve import solve
from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.model.cluster import Cluster
    from qcheck.model.packing.answer import Answer
    from qcheck.model.packing.question import Question


def solved(cluster: Cluster, asked: Question) -> Answer:
    """The engine's answer. Names play no part in it."""
    nodes = tuple((tuple(n.free.items()), n.count) for n in asked.nodes)
    key = (nodes, tuple((tuple(p.request.items()), p.count, p.on) for p in asked.pods))
    if key not in cluster.memory.solved:
        cluster.memory.solved[key] = solve(asked)
    return cluster.memory.solved[key]
