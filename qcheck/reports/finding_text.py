"""A finding for people at a terminal: what it says, the marked lines of every file, and what to do."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.snippet import draw, groups
from qcheck.reports.wording import LIKELY, following, help_of, plain, plural, within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qcheck.cluster.place import Origin
    from qcheck.findings.finding import Finding
    from qcheck.reports.snippet import Mark, Row

    Paint = Callable[[str, str], str]
    """Colours a text in a style, or returns it unchanged."""

MOST_PLACES = 12
"""The number of related places to show; the others are counted."""


def finding_lines(
    found: Finding, paint: Paint, many: bool, followers: int = 0, equal: Sequence[Finding] = ()
) -> Iterator[str]:
    """Yield the lines of a finding, and the number of findings that follow from it. `many`: name its clusters.

    `equal` are further findings with the same message: only their places are listed.
    """
    assert found.rule is not None
    head = paint(found.severity, f"{found.severity}[{found.rule.id}]")
    where = plain(within(found, many))
    yield f"{head} {found.rule.name}: {paint('bold', plain(found.message))}{where}"
    files = groups(found.primary, found.related[:MOST_PLACES])
    width = max(len(str(mark.line)) for _, marks in files for mark in marks)
    yield from _places(files, found.severity, width, paint)
    left = len(found.related) - MOST_PLACES
    notes = [
        ("note", f"and {plural(left, 'more place')}" if left > 0 else ""),
        ("note", "" if found.certain else LIKELY),
        ("help", plain(help_of(found))),
    ]
    sign = f"{' ' * width} {paint('margin', '=')}"
    for word, text in notes:
        if text:
            yield f"{sign} {paint('bold', word)}: {text}"
    if followers:
        yield f"{sign} {following(followers)}"
    if equal:
        places = ", ".join(plain(each.primary.line) for each in equal[:MOST_PLACES])
        more = f" and {plural(len(equal) - MOST_PLACES, 'more place')}" if len(equal) > MOST_PLACES else ""
        yield f"{sign} and {len(equal)} more with the same message (--all shows them): {places}{more}"


def _places(files: list[tuple[Origin, list[Mark]]], severity: str, width: int, paint: Paint) -> Iterator[str]:
    bar = paint("margin", "|")
    arrow = "-->"
    for origin, marks in files:
        first = next((m for m in marks if m.is_primary), marks[0])
        where = f"{plain(origin.path)}:{first.line}:{first.start + 1}"
        source = f" (rendered from {plain(origin.source)})" if origin.source else ""
        yield f"{' ' * width}{paint('margin', arrow)} {where}{source}"
        yield f"{' ' * width} {bar}"
        for row in draw(origin, marks):
            yield _row(row, width, severity, paint)
        yield f"{' ' * width} {bar}"
        arrow = ":::"


def _row(row: Row, width: int, severity: str, paint: Paint) -> str:
    if row.margin == "...":
        return paint("margin", "...")
    text = paint(severity if row.is_primary else "margin", row.text.lstrip()) if row.is_mark else row.text
    indent = " " * (len(row.text) - len(row.text.lstrip())) if row.is_mark else ""
    return f"{paint('margin', f'{row.margin:>{width}} |')} {indent}{text}".rstrip()
