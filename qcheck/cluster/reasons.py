"""Reasons why a workload is not admitted or does not run, in Kueue's own words if it has one."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Taint
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


class ReasonCode(StrEnum):
    """Kueue's reason words; below them ours, for what Kueue does not judge."""

    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    TOPOLOGY_FAILED = "TopologyPlacementFailed"
    UNSATISFIED_CHECKS = "UnsatisfiedAdmissionChecks"
    WAITING_FOR_QUOTA = "WaitingForQuota"
    MISCONFIGURED = "Misconfigured"
    SUSPENDED = "Suspended"

    UNSCHEDULABLE = "Unschedulable"
    REJECTED = "Rejected"
    UNMANAGED = "Unmanaged"
    PREEMPTS = "Preempts"
    QUEUE_DOES_NOT_EXIST = "QueueDoesNotExist"
    QUEUE_UNUSABLE = "QueueUnusable"
    QUEUE_UNKNOWN = "QueueUnknown"
    PRIORITY_UNKNOWN = "PriorityUnknown"
    NODES_UNKNOWN = "NodesUnknown"
    DEVICE_CLAIMS = "DeviceClaims"
    NOT_READ = "NotRead"
    CANNOT_TELL = "CannotTell"


_SEVERITY = (ReasonCode.TOPOLOGY_FAILED, ReasonCode.EXCEEDS_MAX_QUOTA, ReasonCode.NO_MATCHING_FLAVOR)
"""From mild to severe, as Kueue ranks them when it has to name one."""


class Reason(Value):
    """One thing that stands in the way.

    `cause` tells apart what one code stands for. `place` is where to look first, mostly in
    the workload; `near` are the places on the other side: quota, flavor, pool. `change` is an edit that would remove this
    one reason, empty if none is known. `taint` is the one in the way; `short` says by how many base units of `resource`
    quota is short.
    """

    code: ReasonCode
    cause: str
    message: str
    place: Place
    near: tuple[Place, ...] = ()
    change: str = ""
    flavor: str | None = None
    resource: str | None = None
    taint: Taint | None = None
    short: int = 0


def least_severe(codes: list[ReasonCode]) -> ReasonCode:
    """The code that Kueue would show of several alternatives."""
    return min(codes, key=lambda c: _SEVERITY.index(c) if c in _SEVERITY else -1)
