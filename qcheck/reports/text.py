"""The report for people at a terminal: each finding with the lines of every file that it involves."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import (
    LIKELY,
    WORST_FIRST,
    by_rule,
    counted,
    following,
    has_many_clusters,
    help_of,
    looked_at,
    not_judged,
    plain,
    plural,
    shows_statistics,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.findings.causes import Group
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.reports.snippet import Row

MOST_PLACES = 12
"""The number of related places to show; the others are counted."""

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
    many = has_many_clusters(result)
    blocks = ["\n".join(_group_lines(g, paint, many)) for g in _presented(result)]
    if result.suggestions is not None:
        from qcheck.reports.suggest import suggestion_lines  # 1.8 ms

        blocks.append("\n".join([paint("bold", "suggested edits"), *suggestion_lines(result.suggestions)]))
    closing = "\n".join(_unjudged(result, paint) if quiet else _closing(result, paint))
    return "\n\n".join(block for block in (*blocks, closing) if block) + "\n" * bool(blocks or closing)


def _presented(result: Result) -> list[Group]:
    if not result.findings:
        return []
    from qcheck.findings.causes import presented  # 0.4 ms

    return presented(result)


def _group_lines(group: Group, paint: Paint, many: bool) -> Iterator[str]:
    yield from finding_lines(group.head, paint, many)
    if group.followers:
        yield f"{' ' * _margin(group.head)} {paint('margin', '=')} {following(len(group.followers))}"


def finding_lines(found: Finding, paint: Paint, many: bool) -> Iterator[str]:
    assert found.rule is not None
    head = paint(found.severity, f"{found.severity}[{found.rule.id}]")
    where = plain(within(found, many))
    yield f"{head} {found.rule.name}: {paint('bold', plain(found.message))}{where}"
    yield from _places(found, paint)
    left = len(found.related) - MOST_PLACES
    notes = [
        ("note", f"and {plural(left, 'more place')}" if left > 0 else ""),
        ("note", "" if found.certain else LIKELY),
        ("help", plain(help_of(found))),
    ]
    pad = " " * _margin(found)
    for word, text in notes:
        if text:
            yield f"{pad} {paint('margin', '=')} {paint('bold', word)}: {text}"


def _margin(found: Finding) -> int:
    """Return the width of the line numbers."""
    return max(len(str(p.span[0])) for p in (found.primary, *found.related[:MOST_PLACES]))


def _places(found: Finding, paint: Paint) -> Iterator[str]:
    from qcheck.reports.snippet import draw, groups  # 0.4 ms

    width = _margin(found)
    bar = paint("margin", "|")
    arrow = "-->"
    for origin, marks in groups(found.primary, found.related[:MOST_PLACES]):
        first = next((m for m in marks if m.is_primary), marks[0])
        where = f"{plain(origin.path)}:{first.line}:{first.start + 1}"
        source = f" (rendered from {plain(origin.source)})" if origin.source else ""
        yield f"{' ' * width}{paint('margin', arrow)} {where}{source}"
        yield f"{' ' * width} {bar}"
        for row in draw(origin, marks):
            yield _row(row, width, found.severity, paint)
        yield f"{' ' * width} {bar}"
        arrow = ":::"


def _row(row: Row, width: int, severity: str, paint: Paint) -> str:
    if row.margin == "...":
        return paint("margin", "...")
    text = paint(severity if row.is_primary else "margin", row.text.lstrip()) if row.is_mark else row.text
    indent = " " * (len(row.text) - len(row.text.lstrip())) if row.is_mark else ""
    return f"{paint('margin', f'{row.margin:>{width}} |')} {indent}{text}".rstrip()


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
    from qcheck.reports.fleet import HEADERS, fleet_rows  # 0.5 ms

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
