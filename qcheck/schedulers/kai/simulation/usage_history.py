"""The history of a run: samples of what queues hold; equal consecutive samples are stored once."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, NOTHING

if TYPE_CHECKING:
    from qcheck.schedulers.kai.hierarchy import Amounts
    from qcheck.schedulers.kai.history import Window
    from qcheck.schedulers.kai.simulation.gang import Vector


class Past:
    """The samples of a sliding window, from old to new."""

    def __init__(self, window: Window, capacity: Vector) -> None:
        self._window = window
        self._capacity = capacity
        self._runs: list[tuple[dict[str, Vector], int]] = []

    def add(self, held: dict[str, Vector], times: int = 1) -> None:
        """Add equal samples."""
        if not times:
            return
        if self._runs and self._runs[-1][0] == held:
            held, before = self._runs.pop()
            times += before
        self._runs.append((held, times))
        surplus = sum(n for _, n in self._runs) - self._window.size
        while surplus > 0:
            oldest, count = self._runs[0]
            cut = min(surplus, count)
            surplus -= cut
            self._runs[0] = (oldest, count - cut)
            if cut == count:
                del self._runs[0]

    @property
    def size(self) -> int:
        """The number of samples in the window."""
        return self._window.size

    @property
    def is_steady(self) -> bool:
        """Return whether the whole window is uniform, so that further equal samples change nothing."""
        return len(self._runs) == 1 and self._runs[0][1] >= self._window.size

    def usage(self) -> Amounts:
        """Return the fraction of the capacity that each queue held. Samples far beyond the half-life have no weight."""
        age, whole = 1, 0.0
        sums: dict[str, list[float]] = {}
        for held, times in reversed(self._runs):
            weight = self._window.weights(age, times)
            age, whole = age + times, whole + weight
            for queue, amounts in held.items():
                each = sums.setdefault(queue, list(NOTHING))
                for at, amount in enumerate(amounts):
                    each[at] += weight * amount
        return {
            queue: {
                dimension: each[at] / (whole * self._capacity[at])
                for at, dimension in enumerate(DIMENSIONS)
                if self._capacity[at] and whole
            }
            for queue, each in sums.items()
        }
