"""The report for people at a terminal: each finding with the lines of every file that it involves."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.severity import Severity
from qcheck.reports.wording import (
    WORST_FIRST,
    by_rule,
    counted,
    has_many_clusters,
    looked_at,
    not_judged,
    plain,
    shows_statistics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.findings.causes import Group
    from qcheck.findings.result import Result

FOLDED = 3
"""The number of further findings with the same message from which only their places are listed."""
STYLES = {"error": "1;31", "warning": "1;33", "note": "1;36", "bold": "1", "margin": "1;34", "dim": "2", "good": "1;32"}


class Paint:
    """Colours text, or returns it unchanged."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self._colour and text else text


def render(result: Result, colour: bool = False, quiet: bool = False) -> str:
    """Return the whole report; without its closing lines if `quiet`. Names from manifests have no escapes left."""
    paint = Paint(colour)
    blocks = _findings(result, paint)
    if result.suggestions is not None:
        from qcheck.reports.suggest import suggestion_lines  # 1.8 ms

        blocks.append("\n".join([paint("bold", "suggested edits"), *suggestion_lines(result.suggestions)]))
    closing = "\n".join(_unjudged(result, paint) if quiet else _closing(result, paint))
    return "\n\n".join(block for block in (*blocks, closing) if block) + "\n" * bool(blocks or closing)


def _findings(result: Result, paint: Paint) -> list[str]:
    """Return the text of each finding, without those that follow from another one."""
    if not result.findings:
        return []
    from qcheck.findings.causes import presented  # 0.2 ms
    from qcheck.reports.finding_text import finding_lines  # 0.5 ms

    many = has_many_clusters(result)
    groups = presented(result)
    alike = {} if result.view.everything else _alike(groups)
    blocks = []
    for group in groups:
        first, *others = alike.get(_said(group), [group])
        if first is group or len(others) < FOLDED:
            equal = [g.head for g in others] if len(others) >= FOLDED else []
            blocks.append("\n".join(finding_lines(group.head, paint, many, len(group.followers), equal)))
    return blocks


def _alike(groups: Sequence[Group]) -> dict[tuple[object, ...], list[Group]]:
    """Return the findings without consequences by message; errors are always shown in full."""
    found: dict[tuple[object, ...], list[Group]] = {}
    for group in groups:
        if not group.followers and group.head.severity is not Severity.ERROR:
            found.setdefault(_said(group), []).append(group)
    return found


def _said(group: Group) -> tuple[object, ...]:
    head = group.head
    assert head.rule is not None
    return head.rule.id, head.severity, head.message, head.help, head.certain, head.clusters, len(group.followers)


def _closing(result: Result, paint: Paint) -> Iterator[str]:
    if shows_statistics(result):
        yield from (*_statistics(result, paint), "")
    yield from _fleet(result, paint)
    yield from _unjudged(result, paint)
    worst = next((s for s in WORST_FIRST if result.count(s)), "good")
    yield f"{paint(worst, counted(result))} in {looked_at(result)}"


def _fleet(result: Result, paint: Paint) -> Iterator[str]:
    """Yield a summary of the clusters, if there are several."""
    if len(result.fleet or result.clusters) < 2:
        return
    from qcheck.reports.fleet import HEADERS, fleet_rows  # 0.3 ms

    rows = fleet_rows(result)
    widths = [max(len(row[at]) for row in (HEADERS, *rows)) for at in range(len(HEADERS))]
    for number, row in enumerate((HEADERS, *rows)):
        line = "  ".join(plain(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield paint("dim", line) if number == 0 else line
    yield ""


def _statistics(result: Result, paint: Paint) -> Iterator[str]:
    """Yield the counts by rule."""
    rows = by_rule(result.counted)
    width = max((len(f"{count:,}") for count, _, _ in rows), default=0)
    for count, name, found in rows:
        yield f"{count:>{width},}  {paint(found.severity, f'{found.severity:<7}')}  {name}"


def _unjudged(result: Result, paint: Paint) -> Iterator[str]:
    """Yield what was not judged, and why the whole run counts as not judged."""
    for what, why in not_judged(result):
        if f"{what}: {why}" not in result.inputs.unjudged:
            yield paint("dim", f"not judged: {plain(what)}: {plain(why)}")
    for why in result.inputs.unjudged:
        first, *more = why.splitlines() or [""]
        yield f"{paint('error', 'could not judge')}: {plain(first)}"
        yield from (f"  | {plain(line)}" for line in more)
