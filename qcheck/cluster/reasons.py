"""Why a workload is not admitted or does not run, in Kueue's own reason words where it has one."""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value

NO_MATCHING_FLAVOR = "NoMatchingFlavor"
EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
TOPOLOGY_FAILED = "TopologyPlacementFailed"
MISCONFIGURED = "Misconfigured"
SUSPENDED = "Suspended"
UNSCHEDULABLE = "Unschedulable"
REJECTED = "Rejected"
"""Ours: the API server or a webhook refuses the object."""

_SEVERITY = (TOPOLOGY_FAILED, EXCEEDS_MAX_QUOTA, NO_MATCHING_FLAVOR)
"""From mild to severe, as Kueue ranks them when it has to name one."""


class Reason(Value):
    """One thing that stands in the way.

    `code` is Kueue's word (NoMatchingFlavor, ExceedsMaxQuota ...) or, for what Kueue does not judge, one of ours
    (Unschedulable, Unmanaged ...). `cause` tells apart what one code stands for. `place` is where to look first, mostly in
    the workload; `near` are the places on the other side: quota, flavor, pool. `change` is an edit that would remove this
    one reason, empty where none is known. `taint` is the one in the way; `short` says by how many base units of `resource`
    quota is short.
    """

    code: str
    cause: str
    message: str
    place: Place
    near: tuple[Place, ...] = ()
    change: str = ""
    flavor: str | None = None
    resource: str | None = None
    taint: Taint | None = None
    short: int = 0


def least_severe(codes: list[str]) -> str:
    """The code that Kueue would show of several alternatives."""
    return min(codes, key=lambda c: _SEVERITY.index(c) if c in _SEVERITY else -1)
