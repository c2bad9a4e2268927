"""The scheduler's own terms: outcomes of a cycle, reasons of a preemption and of waiting.

Source: Kueue 0.20, `pkg/scheduler/flavorassigner`, `pkg/scheduler/scheduler.go`,
`apis/kueue/v1beta2/workload_types.go`.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of one cycle for a head."""

    ADMITTED = "Admitted"
    PENDING_PREEMPTION = "PendingPreemption"
    DEFERRED_FIT = "DeferredFit"
    NO_CANDIDATES = "PreemptionNoCandidates"
    NO_FIT = "NoFit"
    NO_LONGER_FITS = "SkippedNoLongerFits"
    OVERLAP = "SkippedOverlap"


class Cause(StrEnum):
    """The reason of a workload's Preempted condition."""

    IN_QUEUE = "InClusterQueue"
    RECLAMATION = "InCohortReclamation"
    WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    FAIR_SHARING = "InCohortFairSharing"


class WaitReason(StrEnum):
    """The reason of a waiting workload's QuotaReserved condition; before 0.20 it is always `Pending`."""

    WAITING_FOR_QUOTA = "WaitingForQuota"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    WAITING_FOR_PREEMPTED = "WaitingForPreemptedWorkloads"
    PENDING_EVALUATION = "PendingEvaluation"


class PendingPlace(StrEnum):
    """The place of a waiting workload in its queue: HEAP offers it again, INADMISSIBLE waits for quota to become free."""

    HEAP = "heap"
    INADMISSIBLE = "inadmissible"
