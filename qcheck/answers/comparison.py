"""Two results compared: what a change brings, what it fixes, what it leaves."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.findings.finding import SEVERITIES, Finding
from qcheck.findings.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.answers.changes import ClusterChange

GROWING = ("excess", "short", "missing")
"""Entries of `data` that say how bad a finding is: the same finding with more of it is brought by the change."""
ECHOES = ("QC301", "QC401", "QC402", "QC403", "QC407", "QC501")
"""Rules that say again what QC803 says of a removed object."""


class Comparison(Value):
    """Two states and what lies between them. `new` are findings that the change brings or makes worse, `fixed` those that
    are no more, `remaining` those that were there and are."""

    before_name: str
    after_name: str
    after: Result
    clusters: tuple[ClusterChange, ...]
    new: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]

    @property
    def exit_code(self) -> int:
        """As for a check, of what is new: 2 could not judge the later state, 1 something new at the threshold, else 0."""
        return replace(self.after, findings=self.new).exit_code


def compared(names: tuple[str, str], before: Result, after: Result, clusters: Sequence[ClusterChange]) -> Comparison:
    new, remaining = split(before, after)
    alive = {f.fingerprint for f in (*after.findings, *after.suppressed, *after.baselined)}
    return Comparison(
        *names,
        after=after,
        clusters=tuple(clusters),
        new=_without_echoes(new),
        fixed=tuple(f for f in before.findings if f.fingerprint not in alive),
        remaining=remaining,
    )


def only_new(before: Result, after: Result) -> Result:
    """The later result with nothing but what the change brings; the rest counts as older."""
    new, older = split(before, after)
    return replace(after, findings=new, older=older)


def split(before: Result, after: Result) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that a change brings or makes worse, and the others."""
    known = {f.fingerprint: f for f in before.findings}
    new = tuple(f for f in after.findings if _is_brought(known.get(f.fingerprint), f))
    brought = {f.fingerprint for f in new}
    return new, tuple(f for f in after.findings if f.fingerprint not in brought)


def _is_brought(old: Finding | None, new: Finding) -> bool:
    if old is None or SEVERITIES.index(new.severity) > SEVERITIES.index(old.severity):
        return True
    for key in GROWING:
        one, other = old.data.get(key), new.data.get(key)
        if isinstance(one, int) and isinstance(other, int) and other > one:
            return True
    return False


def _without_echoes(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """One cause, one finding: a removed object is told by QC803 alone."""
    told = {
        (place.origin.path, place.span)
        for f in found
        if f.rule and f.rule.id == "QC803"
        for place in (f.primary, *f.related)
    }
    return tuple(
        f for f in found if not (f.rule and f.rule.id in ECHOES and (f.primary.origin.path, f.primary.span) in told)
    )
