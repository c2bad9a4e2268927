"""The cost of preemption for a workload: how long its nodes stay occupied, and whether it starts again.

Sources: Kubernetes' Job controller (the pods of a suspended Job do not count against backoffLimit, evicted ones do),
Kueue's plain-pod integration (a preempted Pod is deleted), AppWrapper's controller (pods are killed after its own
deadline).
"""

from __future__ import annotations

import re

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.workloads import Workload

DEFAULT_GRACE = 30
"""The default time in seconds for a pod to terminate."""
_FORCED = "workload.codeflare.dev.appwrapper/forcefulDeletionGracePeriodDuration"
_PARTS = r"([0-9]{1,10})(h|m|s)"
_SECONDS = {"h": 3600, "m": 60, "s": 1}


class PreemptionCost(Value):
    """The most seconds from the decision to preempt until the pods are gone, with the reason and its place."""

    seconds: int
    reason: str
    place: Place


def seconds(duration: str) -> int | None:
    """Return `90s`, `5m` or `1h30m` in seconds; None for anything else."""
    parts = re.findall(_PARTS, duration)
    if not parts or "".join(n + unit for n, unit in parts) != duration:
        return None
    return sum(int(n) * _SECONDS[unit] for n, unit in parts)


def preemption_cost(workload: Workload, operators: Mapping[str, int]) -> PreemptionCost:
    """Return how long a workload may keep its nodes after preemption.

    This is its slowest pod's grace period, plus the extra seconds of its controller in `operators` (by kind).
    """
    graces = [(p.template.termination_grace_seconds, p.template.place) for p in workload.pod_sets]
    slowest, place = max(
        ((DEFAULT_GRACE if g is None else g, at) for g, at in graces), key=lambda g: g[0], default=(0, workload.place)
    )
    reason = f"terminationGracePeriodSeconds {slowest}"
    forced = seconds(workload.annotations[_FORCED]) if _FORCED in workload.annotations else None
    if forced is not None and forced < slowest:
        return PreemptionCost(
            forced, f"AppWrapper kills its pods after {forced} s", workload.place.at("metadata", "annotations")
        )
    operator = operators.get(workload.id.kind, 0)
    if operator:
        reason += f" and {operator} s of the {workload.id.kind}'s operator"
    return PreemptionCost(slowest + operator, reason, place.at("terminationGracePeriodSeconds"))


def is_lost(workload: Workload) -> bool:
    """Return whether nothing restores a workload after Kueue preempts it: a bare Pod is permanently deleted."""
    return workload.framework == "pod" and workload.id.kind == "Pod"


def fails_on_eviction(workload: Workload) -> bool:
    """Return whether the first eviction of a pod from its node fails the whole workload."""
    if workload.on_disruption == "FailJob":
        return True
    return workload.retries == 0 and workload.on_disruption != "Ignore"
