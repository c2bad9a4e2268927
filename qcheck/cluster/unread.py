"""Inputs that could not be read, and the kinds of things that they may define."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.value import Value

NODES = "Node"
"""The kind that stands for nodes and node pools, whatever defines them."""
QUOTA_KINDS = ("ClusterQueue", "Cohort", "ResourceFlavor")
"""Kinds that could let a queue admit more if another object of them existed."""


class Unread(Value):
    """Something that was not read. `kinds`: the kinds of objects that it may define; None if it may be any.

    `place` is where it is named, None for a whole file; `what` names it where no other finding does.
    """

    path: str
    kinds: frozenset[str] | None = None
    place: Place | None = None
    what: str = ""

    def may_define(self, kind: str) -> bool:
        """Return whether an object of the kind may be in it."""
        return self.kinds is None or kind in self.kinds
