"""Several clusters at a glance: how many accelerators each promises and has."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable


class AcceleratorSum(Value):
    """One kind of accelerator: promised by quota, and on nodes that are there (None if that is not known)."""

    resource: str
    nominal: int
    static: int | None

    @property
    def headroom(self) -> int | None:
        """Negative where more is promised than there is."""
        return None if self.static is None else self.static - self.nominal


class ClusterSummary(Value):
    """A cluster's name and its accelerators."""

    name: str
    accelerators: tuple[AcceleratorSum, ...] = ()


def over_all(clusters: Iterable[ClusterSummary]) -> tuple[AcceleratorSum, ...]:
    """The accelerators of all clusters together; not known where that of one of them is not."""
    found: dict[str, list[AcceleratorSum]] = {}
    for cluster in clusters:
        for each in cluster.accelerators:
            found.setdefault(each.resource, []).append(each)
    return tuple(AcceleratorSum(r, sum(s.nominal for s in sums), _known(sums)) for r, sums in sorted(found.items()))


def _known(sums: Iterable[AcceleratorSum]) -> int | None:
    amounts = [s.static for s in sums]
    return None if None in amounts else sum(a for a in amounts if a is not None)
