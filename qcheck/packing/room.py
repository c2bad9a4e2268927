"""The capacity of one node (or one domain): fillings, and the best filling by weight.

A filling is a tuple with the number of pods of each shape. Source of the approach: the patterns of Gilmore and Gomory;
branch and bound finds the best pattern without listing all of them.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    class Room(Protocol):
        """A container that holds some fillings and, with a filling, every smaller one."""

        @property
        def limits(self) -> tuple[int, ...]:
            """Return how many pods of each shape it holds if empty, but no more than are wanted."""
            ...

        def holds(self, filling: Sequence[int]) -> bool: ...

        def best(self, weights: Sequence[int]) -> Best:
            """Return the heaviest filling."""
            ...

        def fillings(self, most: int) -> list[tuple[int, ...]] | None:
            """Return all fillings that cannot be extended; None if there are more than `most`."""
            ...


Filling = tuple[int, ...]
_STEPS = 4000
_VISITS = 50_000
"""The maximum number of fillings that are tried to find those that cannot be extended."""


class Best(Value):
    """The heaviest filling found and an upper bound; they are equal (`exact`) unless the search was cut short."""

    filling: Filling
    value: int
    bound: int

    @property
    def exact(self) -> bool:
        return self.value == self.bound


class VectorRoom(Value, cached=True):
    """A node: `free` per resource, a request vector per shape, and the maximum number of pods of each shape."""

    free: tuple[int, ...]
    requests: tuple[tuple[int, ...], ...]
    allowed: tuple[int, ...]

    @cached_property
    def limits(self) -> tuple[int, ...]:
        return tuple(min(a, self._alone(q)) if a else 0 for a, q in zip(self.allowed, self.requests, strict=True))

    def _alone(self, request: tuple[int, ...]) -> int:
        counts = [f // q for f, q in zip(self.free, request, strict=True) if q]
        return max(0, min(counts, default=max(self.allowed)))

    def holds(self, filling: Sequence[int]) -> bool:
        if any(n > limit for n, limit in zip(filling, self.limits, strict=True)):
            return False
        return all(
            sum(n * q[r] for n, q in zip(filling, self.requests, strict=True)) <= f for r, f in enumerate(self.free)
        )

    def best(self, weights: Sequence[int]) -> Best:
        return _Heaviest(self, weights).find()

    def fillings(self, most: int) -> list[Filling] | None:
        found: list[Filling] = []
        for visits, (filling, left) in enumerate(self._walk((), self.free)):
            if not self._takes_more(filling, left):
                found.append(filling)
            if len(found) > most or visits > _VISITS:
                return None
        return found

    def _walk(self, begun: Filling, left: tuple[int, ...]) -> Iterator[tuple[Filling, tuple[int, ...]]]:
        """Yield fillings with as many pods of the last shape as fit beside the others, and the amounts that remain."""
        shape = len(begun)
        if min(left, default=0) < 0:
            return
        if shape == len(self.requests):
            yield begun, left
            return
        most = self.most(shape, left)
        for number in range(most, -1 if shape + 1 < len(self.requests) else most - 1, -1):
            yield from self._walk((*begun, number), _without(left, self.requests[shape], number))

    def most(self, shape: int, left: tuple[int, ...]) -> int:
        """Return the number of pods of a shape that fit into the remaining amounts."""
        counts = [f // q for f, q in zip(left, self.requests[shape], strict=True) if q]
        return min(self.limits[shape], min(counts, default=self.limits[shape]))

    def _takes_more(self, filling: Filling, left: tuple[int, ...]) -> bool:
        return any(
            n < limit and all(f >= q for f, q in zip(left, request, strict=True))
            for n, limit, request in zip(filling, self.limits, self.requests, strict=True)
        )


class _Heaviest:
    """Branch and bound for one `VectorRoom` and one set of weights."""

    def __init__(self, room: VectorRoom, weights: Sequence[int]) -> None:
        self._room = room
        self._weights = weights
        worthy = [s for s, w in enumerate(weights) if w > 0 and room.limits[s] > 0]
        self._order = sorted(worthy, key=lambda s: (-weights[s] * room.limits[s], -weights[s], s))
        self._counts = [0] * len(weights)
        self._filling: Filling = tuple(self._counts)
        self._value = 0
        self._steps = 0

    def find(self) -> Best:
        bound = self._bound(0, self._room.free)
        self._descend(0, self._room.free, 0)
        if self._steps <= _STEPS:
            bound = self._value
        return Best(self._filling, self._value, bound)

    def _descend(self, depth: int, left: tuple[int, ...], value: int) -> None:
        if value > self._value:
            self._filling, self._value = tuple(self._counts), value
        self._steps += 1
        if depth == len(self._order) or self._steps > _STEPS or value + self._bound(depth, left) <= self._value:
            return
        shape = self._order[depth]
        request, weight = self._room.requests[shape], self._weights[shape]
        for number in range(self._room.most(shape, left), -1, -1):
            if self._steps > _STEPS:
                break
            self._counts[shape] = number
            self._descend(depth + 1, _without(left, request, number), value + number * weight)
        self._counts[shape] = 0

    def _bound(self, depth: int, left: tuple[int, ...]) -> int:
        """Return an upper bound for fillings of `left` with shapes from `depth` on, from the scarcest resource."""
        shapes = self._order[depth:]
        bound = sum(self._weights[s] * self._room.most(s, left) for s in shapes)
        for resource, free in enumerate(left):
            dearest, unlimited = 0, 0
            for shape in shapes:
                asked = self._room.requests[shape][resource]
                if asked:
                    dearest = max(dearest, self._weights[shape] * free // asked)
                else:
                    unlimited += self._weights[shape] * self._room.limits[shape]
            bound = min(bound, dearest + unlimited)
        return bound


def _without(left: tuple[int, ...], request: tuple[int, ...], number: int) -> tuple[int, ...]:
    return tuple(f - number * q for f, q in zip(left, request, strict=True))
