"""Past usage in KAI's shares: allocations in a window, weighted by age, relative to the capacity.

The capacity is the whole cluster's, whatever the queue's shard or department, and every allocation counts, even within
the quota.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Window(Value):
    """The window of past usage, in samples."""

    size: int
    half_life: float | None = None
    """The age at which a sample counts half; with None or 0 all samples count equally."""

    def weight(self, age: int) -> float:
        """Return the weight of a sample that is `age` samples old, from 1 on."""
        return 0.5 ** (age / self.half_life) if self.half_life else 1.0

    def weights(self, age: int, count: int) -> float:
        """Return the total weight of `count` samples, the newest of which is `age` samples old."""
        if not self.half_life:
            return float(count)
        decay = self.weight(1)
        if decay == 1:  # the half-life is too long for doubles
            return float(count)
        return self.weight(age) * (1 - decay**count) / (1 - decay)

    def usage(self, allocated: Sequence[Mapping[str, float]], capacity: float) -> dict[str, float]:
        """Return the fraction of a constant capacity that each queue held, from samples ordered old to new."""
        seen = allocated[-self.size :]
        weights = [self.weight(len(seen) - position) for position in range(len(seen))]
        held: dict[str, float] = {}
        for weight, sample in zip(weights, seen, strict=True):
            for queue, amount in sample.items():
                held[queue] = held.get(queue, 0.0) + weight * amount
        whole = capacity * sum(weights)
        return {queue: amount / whole for queue, amount in held.items()} if whole else {}
