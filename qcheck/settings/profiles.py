"""Profiles that settings may select (`profile:`): the parts of each, and the rule that checks each part.

A profile makes its rules stricter. To adopt a part of it, set other severities or ignore a rule.
"""

from __future__ import annotations

from qcheck.cluster.value import Value

RESERVED_AND_SHARED = "reserved-and-shared"


class ProfileRule(Value):
    """One requirement of a profile, the rule that checks it, and the severity of a violation."""

    rule: str
    severity: str
    demand: str


PROFILES: dict[str, tuple[ProfileRule, ...]] = {
    RESERVED_AND_SHARED: (
        ProfileRule("QC412", "error", "Reserved queues do not borrow, and shared queues can."),
        ProfileRule(
            "QC308", "error", "Reserved queues reclaim what they lend from any borrower (reclaimWithinCohort: Any)."
        ),
        ProfileRule(
            "QC305",
            "error",
            "Pods in shared queues have a lower priority than the owners' pods, so that they can be evicted for them.",
        ),
        ProfileRule("QC318", "error", "The owners' pods have a PriorityClass that preempts."),
        ProfileRule("QC313", "error", "That priority is not so low that the autoscaler ignores the pods."),
        ProfileRule("QC306", "error", "Kueue and kube-scheduler rank workloads alike."),
        ProfileRule("QC312", "error", "Workloads in shared queues survive eviction."),
        ProfileRule("QC311", "warning", "Their pods stop in time when the owner reclaims."),
        ProfileRule("QC315", "error", "kube-scheduler does not evict node agents to make room."),
    )
}


def severities(profile: str | None) -> dict[str, str]:
    """Return severities by rule id that a profile requires; none without a profile."""
    return {part.rule: part.severity for part in PROFILES.get(profile or "", ())}
