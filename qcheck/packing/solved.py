"""Packing questions of a cluster, each answered once: equal jobs ask equal ones."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import cache_of
from qcheck.packing.solve import solve

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.answer import Answer
    from qcheck.packing.question import Question


def solved(cluster: Cluster, asked: Question) -> Answer:
    """The engine's answer. Names play no part in it."""
    nodes = tuple((tuple(n.free.items()), n.count) for n in asked.nodes)
    key = (nodes, tuple((tuple(p.request.items()), p.count, p.on) for p in asked.pods))
    known = cache_of(cluster, solved)
    if key not in known:
        known[key] = solve(asked)
    found: Answer = known[key]
    return found
