"""Summary of several clusters: the accelerators that each promises and has."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable


class AcceleratorSum(Value):
    """One kind of accelerator: the amount promised by quota, and the amount on existing nodes (None if unknown)."""

    resource: str
    nominal: int
    static: int | None

    @property
    def headroom(self) -> int | None:
        """The existing minus the promised amount; None if unknown."""
        return None if self.static is None else self.static - self.nominal


class ClusterSummary(Value):
    """A cluster's name, its accelerators, and the number of its objects (None if a report does not contain it)."""

    name: str
    accelerators: tuple[AcceleratorSum, ...] = ()
    objects: int | None = None


def over_all(clusters: Iterable[ClusterSummary]) -> tuple[AcceleratorSum, ...]:
    """Return the accelerators of all clusters together; unknown if the figure of any cluster is unknown."""
    found: dict[str, list[AcceleratorSum]] = {}
    for cluster in clusters:
        for each in cluster.accelerators:
            found.setdefault(each.resource, []).append(each)
    return tuple(AcceleratorSum(r, sum(s.nominal for s in sums), _known(sums)) for r, sums in sorted(found.items()))


def _known(sums: Iterable[AcceleratorSum]) -> int | None:
    amounts = [s.static for s in sums]
    return None if None in amounts else sum(a for a in amounts if a is not None)
