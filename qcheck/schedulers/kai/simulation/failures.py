"""The gangs for which an action found no victims: KAI skips gangs of the same queue that are not easier to start.

Source: KAI 0.17 `pkg/scheduler/actions/common/minimal_job_comparison.go`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.schedulers.kai.simulation.gang import SimulatedGang, Vector


class SmallestFailures:
    """The pods, in order, of the smallest gangs that failed, by queue, number of pods and priority.

    Gangs with a different number of pods or a different priority are tried independently.
    """

    def __init__(self) -> None:
        self._pods: dict[tuple[str, int, int], list[Vector]] = {}

    def is_worth_trying(self, gang: SimulatedGang) -> bool:
        """Return whether a pod of the gang is smaller than the corresponding pod of the gang that failed."""
        failed = self._pods.get(_key(gang))
        if failed is None:
            return True
        pairs = zip(sorted(gang.pods), failed, strict=True)
        return any(ours != theirs and _fits_in(ours, theirs) for ours, theirs in pairs)

    def add(self, gang: SimulatedGang) -> None:
        """Record a gang that failed; it replaces the previous one if none of its pods is larger."""
        pods, failed = sorted(gang.pods), self._pods.get(_key(gang))
        if failed is None or all(map(_fits_in, pods, failed)):
            self._pods[_key(gang)] = pods


def _key(gang: SimulatedGang) -> tuple[str, int, int]:
    return gang.queue, len(gang.pods), gang.priority


def _fits_in(ours: Vector, theirs: Vector) -> bool:
    return all(a <= b for a, b in zip(ours, theirs, strict=True))
