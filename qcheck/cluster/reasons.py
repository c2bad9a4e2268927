"""Reasons why a workload is not admitted or does not run, in Kueue's terms if it has one."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.labels import Taint
from qcheck.cluster.place import Place
from qcheck.cluster.value import Value


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


class ReasonCause(StrEnum):
    """The fact behind a reason, finer than its code.

    The groups: the way to a queue, what is rejected as written, flavors and quota, nodes. `AWAY`: a topology lacks nodes
    that are cordoned or not ready. `BUSY`: the reason would not apply on an idle cluster.
    """

    UNMANAGED = "unmanaged"
    NAMESPACE_EXCLUDED = "namespace-excluded"
    NO_QUEUE = "no-queue"
    LOCAL_QUEUE_MISSING = "local-queue-missing"
    LOCAL_QUEUE_STOPPED = "local-queue-stopped"
    CLUSTER_QUEUE_MISSING = "cluster-queue-missing"
    QUEUE_STOPPED = "queue-stopped"
    QUEUE_INACTIVE = "queue-inactive"
    NAMESPACE_NOT_SELECTED = "namespace-not-selected"
    PRIORITY_CLASS_MISSING = "priority-class-missing"
    KAI_QUEUE = "kai-queue"
    KAI_PRIORITY = "kai-priority"
    VOLCANO_QUEUE = "volcano-queue"
    MULTIKUEUE = "multikueue"
    ADMISSION_CHECK = "admission-check"

    NOT_READ = "not-read"
    API_REJECTED = "api-rejected"
    API_VERSION_GONE = "api-version-gone"
    REQUESTS_INVALID = "requests-invalid"
    RESOURCES_INVALID = "resources-invalid"
    POD_GROUP = "pod-group"
    DEVICE_CLAIMS = "device-claims"

    NO_FLAVOR = "no-flavor"
    FLAVOR_MISSING = "flavor-missing"
    FLAVORS_CONTRADICT = "flavors-contradict"
    RESOURCE_NOT_COVERED = "resource-not-covered"
    AFFINITY = "affinity"
    SELECTOR = "selector"
    TAINT = "taint"
    TOPOLOGY = "topology"
    LEVEL = "level"
    QUOTA = "quota"
    KAI_QUOTA = "kai-quota"
    KAI_LIMIT = "kai-limit"
    KAI_NO_LIMIT = "kai-no-limit"
    VOLCANO_LIMIT = "volcano-limit"

    NO_NODES = "no-nodes"
    FLAVOR_MATCHES_NO_NODES = "flavor-matches-no-nodes"
    RUNTIME_CLASS = "runtime-class"
    LARGER_THAN_NODE = "larger-than-node"
    CAPACITY_GONE = "capacity-gone"
    DOES_NOT_PACK = "does-not-pack"
    DOMAIN = "domain"
    ORDER = "order"
    AWAY = "away"
    SPREAD = "spread"
    POD_AFFINITY = "pod-affinity"
    SCHEDULING_GATE = "scheduling-gate"
    BUSY = "busy"
    UNCERTAIN = "uncertain"


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
