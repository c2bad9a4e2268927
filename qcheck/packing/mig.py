"""Placement of MIG instances on a GPU, as a packing question."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.mig import MEMORY_SLICES, is_possible, placement_text
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.question import Nodes, Pods
from qcheck.packing.room import Best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.mig import Starts
    from qcheck.packing.room import Filling, Room


class GpuRoom(Value, cached=True):
    """One GPU as a room for instances of some profiles."""

    names: tuple[str, ...]
    wanted: tuple[int, ...]
    table: dict[str, Starts]

    def holds(self, filling: Sequence[int]) -> bool:
        return is_possible(dict(zip(self.names, filling, strict=True)), self.table)

    @cached_property
    def limits(self) -> tuple[int, ...]:
        found = (
            max(n for n in range(min(wanted, MEMORY_SLICES) + 1) if is_possible({name: n}, self.table))
            for name, wanted in zip(self.names, self.wanted, strict=True)
        )
        return tuple(found)

    @cached_property
    def _all(self) -> list[Filling]:
        found: list[Filling] = [()]
        for limit in self.limits:
            found = [(*f, n) for f in found for n in range(limit + 1)]
        return [f for f in found if self.holds(f)]

    @cached_property
    def _full(self) -> list[Filling]:
        held = set(self._all)
        one = range(len(self.names))
        return [f for f in self._all if not any((*f[:i], f[i] + 1, *f[i + 1 :]) in held for i in one)]

    def best(self, weights: Sequence[int]) -> Best:
        def worth(filling: Filling) -> int:
            return sum(n * w for n, w in zip(filling, weights, strict=True))

        heaviest = max(self._full, key=worth)
        return Best(heaviest, worth(heaviest), worth(heaviest))

    def fillings(self, most: int) -> list[Filling] | None:
        return self._full if len(self._full) <= most else None


class MigQuestion(Value, cached=True):
    """The question whether `gpus` GPUs of one kind hold all the instances together."""

    model: str
    gpus: int
    instances: dict[str, int]
    table: dict[str, Starts]
    node_word: str = "GPU"
    pod_word: str = "instance"

    @property
    def nodes(self) -> tuple[Nodes, ...]:
        return (Nodes(self.model, {}, self.gpus),)

    @property
    def pods(self) -> tuple[Pods, ...]:
        return tuple(Pods(name, {}, count) for name, count in self.instances.items())

    @cached_property
    def rooms(self) -> tuple[Room, ...]:
        return (GpuRoom(tuple(self.instances), self.wanted, self.table),)

    @property
    def counts(self) -> tuple[int, ...]:
        return (self.gpus,)

    @property
    def wanted(self) -> tuple[int, ...]:
        return tuple(self.instances.values())

    def why_no_more(self, node: int, pod: int, most: int) -> str:  # noqa: ARG002 (all GPUs are alike)
        """Return where an instance may start, from the GPU's table."""
        return placement_text(tuple(self.instances)[pod], self.table)
