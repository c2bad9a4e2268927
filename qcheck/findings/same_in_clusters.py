"""Equal findings of several clusters: shown once, but accepted and compared per cluster."""

from __future__ import annotations

from collections import Counter

from qcheck.cluster.value import TYPE_CHECKING, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qcheck.cluster.place import Place, Span
    from qcheck.findings.finding import Finding

    Spot = tuple[str, Span, str]


def merged(findings: Iterable[Finding], clusters: Sequence[str]) -> tuple[Finding, ...]:
    """Return each finding once, in the given order; `clusters` is the order in which clusters are listed.

    Findings are equal if they differ only in their clusters and related places. `data.clusters` then lists the
    clusters.
    """
    found = tuple(findings)
    if len({f.cluster for f in found}) < 2:
        return found
    alike: dict[tuple[object, ...], list[Finding]] = {}
    met: Counter[tuple[object, ...]] = Counter()
    for each in found:
        identity = identity_of(each)
        met[each.cluster, identity] += 1
        alike.setdefault((identity, met[each.cluster, identity]), []).append(each)
    order = {name: position for position, name in enumerate(clusters)}
    return tuple(_one(sorted(same, key=lambda f: order.get(f.cluster, len(order)))) for same in alike.values())


def apart(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield one finding for each cluster, as before merging."""
    for each in findings:
        yield from each.copies or (each,)


def identity_of(found: Finding) -> tuple[object, ...]:
    """Return the key by which findings of several clusters are equal."""
    rule = found.rule.id if found.rule else ""
    content = (rule, found.severity, found.certain, found.message, found.help, str(found.object), repr(found.data))
    return (*content, _spot(found.primary))


def _spot(place: Place) -> Spot:
    return (place.origin.path, place.span, place.caption)


def _one(same: Sequence[Finding]) -> Finding:
    first = same[0]
    if len(same) == 1:
        return first
    related = {_spot(place): place for each in same for place in each.related}
    data = {**first.data, "clusters": [f.cluster for f in same]}
    return replace(first, copies=tuple(same), related=tuple(related.values()), data=data)
