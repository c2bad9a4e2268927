"""Comparison of two results: the findings that a change adds, fixes, and leaves."""

from __future__ import annotations

from itertools import compress
from operator import not_

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.findings.finding import Finding
from qcheck.findings.result import Result
from qcheck.findings.same_in_clusters import apart, merged
from qcheck.findings.worsening import amounts, is_worse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.answers.cluster_changes import ClusterChange

ECHOES = ("QC301", "QC401", "QC402", "QC403", "QC407", "QC501")
"""Rules that repeat what QC803 reports for a removed object."""


class Comparison(Value):
    """Two states and their difference.

    `new` are findings that the change adds or makes worse, `fixed` those that it removes, `remaining` the others.
    """

    before_name: str
    after_name: str
    after: Result
    clusters: tuple[ClusterChange, ...]
    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """The exit code for new findings: 2 if the later state was not judged, 1 for some at the threshold, else 0."""
        return replace(self.after, findings=self.new).exit_code


def compared(names: tuple[str, str], before: Result, after: Result, clusters: Sequence[ClusterChange]) -> Comparison:
    new, remaining = split(before, after)
    alive = _known(before, apart((*after.findings, *after.suppressed, *after.baselined)))
    left = {f.fingerprint for f in alive.values()}
    fixed = (f for f in apart(before.findings) if f.fingerprint not in left)
    return Comparison(
        *names,
        after=after,
        clusters=tuple(clusters),
        new=_without_echoes(new),
        fixed=merged(fixed, [c.name for c in before.clusters]),
        remaining=remaining,
    )


def only_new(before: Result, after: Result) -> Result:
    """Return the later result reduced to the findings that the change adds; the others count as older."""
    new, older = split(before, after)
    return replace(after, findings=new, older=older)


def split(before: Result, after: Result) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that a change adds or makes worse, and the others."""
    found = list(apart(after.findings))
    known = _known(before, found)
    brought = [_is_brought(known.get(f.fingerprint), f) for f in found]
    names = [c.name for c in after.clusters]
    return merged(compress(found, brought), names), merged(compress(found, map(not_, brought)), names)


def _known(before: Result, after: Iterable[Finding]) -> dict[str, Finding]:
    """Return the earlier findings by their current fingerprint.

    Some fingerprints contain a file's name. If only that changed, the same sentence is found in the other file.
    """
    now = {f.fingerprint: f for f in after}
    earlier = {f.fingerprint: f for f in apart(before.findings)}
    left: dict[tuple[object, ...], list[Finding]] = {}
    for mark, found in earlier.items():
        if mark not in now:
            left.setdefault(_sentence(found), []).append(found)
    known = {mark: earlier[mark] for mark in now if mark in earlier}
    for mark, found in now.items():
        same = left.get(_sentence(found), [])
        if mark not in known and same:
            known[mark] = same.pop(0)
    return known


def _sentence(found: Finding) -> tuple[object, ...]:
    return (found.rule.id if found.rule else "", found.cluster, found.severity, str(found.object), found.message)


def _is_brought(old: Finding | None, new: Finding) -> bool:
    return old is None or is_worse(old.severity, amounts(old), new)


def _without_echoes(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return one finding per cause: only QC803 reports a removed object."""
    echoed = {
        (place.origin.path, place.span)
        for f in found
        if f.rule and f.rule.id == "QC803"
        for place in (f.primary, *f.related)
    }
    return tuple(
        f for f in found if not (f.rule and f.rule.id in ECHOES and (f.primary.origin.path, f.primary.span) in echoed)
    )
