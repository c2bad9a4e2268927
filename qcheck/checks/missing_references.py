"""References to missing objects: all uses of one missing name are one finding."""

from __future__ import annotations

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place


class Reference(Value):
    """A reference: the name, its place, and the object that contains it."""

    name: str
    place: Place
    by: ObjectId


def by_name(uses: Iterable[Reference]) -> dict[str, list[Reference]]:
    """Group references by name, in the order of the files."""
    grouped: dict[str, list[Reference]] = {}
    for use in uses:
        grouped.setdefault(use.name, []).append(use)
    return grouped


def missing(
    cluster: Cluster, what: str, uses: list[Reference], known: Iterable[str], consequence: str, sure: bool = True
) -> Finding:
    """Return one finding for all uses of a missing name: `what` is its kind, and `consequence` is the effect on its users.

    Unless `sure`, the object may exist elsewhere.
    """
    first, *others = uses
    near = nearest(first.name, known)
    certain = sure and cluster.has_all(what)
    fact = f"{what} {first.name} does not exist" if certain else f"no {what} {first.name} was read"
    found = finding(first.place, f"{fact}: {consequence}").about(first.by).likely(not certain)
    for other in others:
        found = found.near(other.place, f"{other.by} names it too")
    if near is not None:
        found = found.fixed_by(f"Write {near} instead of {first.name}, or create the {what} {first.name}.")
        found = found.offering_all([(use.place, near) for use in uses], f"Write {near} instead of {first.name}.")
    return found.with_data(missing=first.name, nearest=near, uses=len(uses))


def users(uses: list[Reference]) -> str:
    """Return `Job team/train`, or `Job team/train and 2 others`."""
    others = len(uses) - 1
    return str(uses[0].by) + (f" and {others} other{'s' * (others > 1)}" if others else "")
