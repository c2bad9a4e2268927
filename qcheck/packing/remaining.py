"""A question as the solver sees it, and the remaining question once some nodes are filled."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from typing import Protocol

    from qcheck.packing.room import Filling, Room

    class Posed(Protocol):
        """Classes of rooms with their counts, and the number of pods wanted of each shape."""

        @property
        def rooms(self) -> tuple[Room, ...]: ...

        @property
        def counts(self) -> tuple[int, ...]: ...

        @property
        def wanted(self) -> tuple[int, ...]: ...


class RemainingQuestion(Value):
    """Part of a question."""

    rooms: tuple[Room, ...]
    counts: tuple[int, ...]
    wanted: tuple[int, ...]


def left_after(posed: Posed, node: int, filling: Filling, times: int = 1) -> RemainingQuestion:
    """Return `posed` without `times` nodes of a class and the pods that fill them; counts do not go below zero."""
    counts = tuple(n - times * (i == node) for i, n in enumerate(posed.counts))
    wanted = tuple(max(0, n - times * f) for n, f in zip(posed.wanted, filling, strict=True))
    return RemainingQuestion(posed.rooms, counts, wanted)
