"""The gangs for which an action found no victims: KAI does not try those of their queues that are no easier to start.

Source: KAI 0.17 `pkg/scheduler/actions/common/minimal_job_comparison.go`. Priorities play no part.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.schedulers.kai.simulation.gang import SimulatedGang, Vector


class SmallestFailures:
    """The pods, in order, of the smallest gang of each queue that failed."""

    def __init__(self) -> None:
        self._pods: dict[str, list[Vector]] = {}

    def is_worth_trying(self, gang: SimulatedGang) -> bool:
        """Return whether a gang has fewer pods than the one that failed, or a smaller pod in some place."""
        failed = self._pods.get(gang.queue)
        if failed is None or len(gang.pods) < len(failed):
            return True
        pairs = zip(sorted(gang.pods), failed, strict=False)
        return any(ours != theirs and _fits_in(ours, theirs) for ours, theirs in pairs)

    def add(self, gang: SimulatedGang) -> None:
        """Record a gang that failed; it replaces the one before if none of its pods is larger."""
        pods, failed = sorted(gang.pods), self._pods.get(gang.queue)
        is_smaller = failed is not None and len(pods) <= len(failed)
        if failed is None or (is_smaller and all(map(_fits_in, pods, failed))):
            self._pods[gang.queue] = pods


def _fits_in(ours: Vector, theirs: Vector) -> bool:
    return all(a <= b for a, b in zip(ours, theirs, strict=True))
