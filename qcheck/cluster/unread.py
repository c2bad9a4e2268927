"""Inputs that could not be read, and the kinds of objects that they may define."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.value import Value

NODES = "Node"
"""The kind that represents nodes and node pools, in whatever format."""
QUOTA_KINDS = ("ClusterQueue", "Cohort", "ResourceFlavor")
"""Kinds of which another object could let a queue admit more."""


QUEUE_KINDS = frozenset(
    {
        "ClusterQueue",
        "LocalQueue",
        "ResourceFlavor",
        "Cohort",
        "WorkloadPriorityClass",
        "Topology",
        "AdmissionCheck",
        "Queue",
    }
)
"""The kinds that a chart or module of queues may define."""


class Unread(Value):
    """An input that was not read. `kinds`: the kinds of objects that it may define; None means any kind.

    `place` is where it is referenced, None for a whole file; `what` names it if no other finding does.
    """

    path: str
    kinds: frozenset[str] | None = None
    place: Place | None = None
    what: str = ""

    def may_define(self, kind: str) -> bool:
        """Return whether the input may contain an object of the kind."""
        return self.kinds is None or kind in self.kinds
