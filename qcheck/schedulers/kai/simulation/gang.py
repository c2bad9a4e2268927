"""A workload of the simulation: pods that start together, and their nodes."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.kai import Dimension
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Hashable

DIMENSIONS = tuple(Dimension)
Vector = tuple[float, ...]
"""An amount of each dimension, in the order of `DIMENSIONS`."""
NOTHING: Vector = (0.0,) * len(DIMENSIONS)
GPU = DIMENSIONS.index(Dimension.GPU)


def plus(left: Vector, right: Vector) -> Vector:
    """Return the sum of two vectors."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def minus(left: Vector, right: Vector) -> Vector:
    """Return the difference of two vectors."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


class SimulatedGang(Value, cached=True):
    """Pods that start together. `since` is the second of its creation; `runs_for` None: until the end."""

    name: str
    queue: str
    pods: tuple[Vector, ...]
    priority: int
    is_preemptible: bool
    since: int
    runs_for: int | None = None

    @cached_property
    def total(self) -> Vector:
        """The sum of all pods' requests."""
        return tuple(sum(pod[at] for pod in self.pods) for at in range(len(DIMENSIONS)))

    @cached_property
    def order(self) -> tuple[int, int, str]:
        """The sort key among gangs of its queue: higher priority first, then the earlier one."""
        return (-self.priority, self.since, self.name)

    @cached_property
    def shape(self) -> Hashable:
        """The values that decide whether it can start; gangs with equal shape and queue start or fail alike."""
        return (self.pods, self.priority, self.is_preemptible)


class Held(Value):
    """A gang that runs or is promised room: the node of each pod, and the second of its start."""

    gang: SimulatedGang
    nodes: tuple[int, ...]
    since: int
