"""Reasons why a workload is not admitted or does not run, in Kueue's terms if it has one."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Taint
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from typing import Literal

    ReasonCause = Literal[
        # routing to a queue
        "unmanaged",
        "namespace-excluded",
        "no-queue",
        "local-queue-missing",
        "local-queue-stopped",
        "cluster-queue-missing",
        "queue-stopped",
        "queue-inactive",
        "namespace-not-selected",
        "priority-class-missing",
        "kai-queue",
        "kai-priority",
        "volcano-queue",
        "multikueue",
        "admission-check",
        # rejection by the API server or an admission webhook
        "not-read",
        "api-rejected",
        "api-version-gone",
        "requests-invalid",
        "resources-invalid",
        "pod-group",
        "device-claims",
        # flavors and quota
        "no-flavor",
        "flavor-missing",
        "flavors-contradict",
        "resource-not-covered",
        "affinity",
        "selector",
        "taint",
        "topology",
        "level",
        "quota",
        "kai-quota",
        "kai-limit",
        "kai-no-limit",
        "volcano-limit",
        # nodes
        "no-nodes",
        "flavor-matches-no-nodes",
        "runtime-class",
        "larger-than-node",
        "capacity-gone",
        "does-not-pack",
        "domain",
        "order",
        "slices",
        "away",
        "spread",
        "pod-affinity",
        "scheduling-gate",
        "busy",
        "uncertain",
    ]
    """The fact behind a reason, finer than its code; an enum with so many members would take 0.8 ms at every start.

    `away`: a topology lacks nodes that are cordoned or not ready. `busy`: the reason would not apply on an idle cluster.
    """


class ReasonCode(StrEnum):
    """Kueue's reason codes, followed by qcheck's own for cases that Kueue does not judge."""

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
"""From least to most severe, as Kueue ranks them when it reports only one."""


class Reason(Value):
    """One obstacle to a workload.

    `code` is Kueue's reason word or qcheck's own, `cause` the fact behind it. `place` is where to look first, usually in
    the workload; `near` are the places on the other side: quota, flavor, pool. `change` is an edit that would remove
    this reason, empty if none is known. `taint` is the one that blocks; `short` is the quota shortfall in base units of
    `resource`.
    """

    code: ReasonCode
    cause: ReasonCause
    message: str
    place: Place
    near: tuple[Place, ...] = ()
    change: str = ""
    flavor: str | None = None
    resource: str | None = None
    taint: Taint | None = None
    short: int = 0


def least_severe(codes: list[ReasonCode]) -> ReasonCode:
    """Return the code that Kueue would report for several alternatives."""
    return min(codes, key=lambda c: _SEVERITY.index(c) if c in _SEVERITY else -1)
