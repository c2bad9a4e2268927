"""Findings as cards: the message, the marked lines of each file, and the help."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html.markup import Html, join, tag
from qcheck.reports.snippet import groups
from qcheck.reports.wording import LIKELY, help_of, plural, url_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.place import Origin
    from qcheck.findings.finding import Finding
    from qcheck.reports.snippet import Mark

MOST_PLACES = 12
MOST_COLUMNS = 400
"""The length beyond which a line is cut around its marks, in columns."""


def contents(shown: Sequence[Finding], many: bool) -> Iterator[Html]:
    """Yield a table of contents: all findings in order, with links to their cards."""
    if shown:
        items = [_item(found, number, many) for number, found in enumerate(shown, 1)]
        yield tag("section", tag("h2", "Findings"), tag("ol", items, cls="contents"))


def _item(found: Finding, number: int, many: bool) -> Html:
    assert found.rule is not None
    return tag(
        "li",
        tag("span", found.severity, cls=f"badge {found.severity}"),
        " ",
        tag("a", f"{found.rule.id} {found.rule.name}", href=f"#f{number}"),
        [tag("span", name, cls="chip") for name in found.clusters if many],
        tag("div", found.message),
        tag("div", found.primary.line, cls="where"),
    )


def card(found: Finding, number: int, many: bool, followers: Sequence[Html] = ()) -> Html:
    """Return the card of a finding, with the cards of its consequences folded into it."""
    assert found.rule is not None
    left = len(found.related) - MOST_PLACES
    return tag(
        "article",
        tag(
            "header",
            tag("span", found.severity, cls=f"badge {found.severity}"),
            tag("a", found.rule.id, href=url_of(found)),
            tag("span", found.rule.name, cls="rule-name"),
            [tag("span", f"cluster {name}", cls="chip") for name in found.clusters if many],
            tag("span", "likely", cls="chip", title=LIKELY) if not found.certain else None,
            tag("a", "#", href=f"#f{number}", cls="self", aria_label="link to this finding"),
        ),
        tag("p", found.message, cls="message"),
        [_file(origin, marks) for origin, marks in groups(found.primary, found.related[:MOST_PLACES])],
        tag("p", f"and {plural(left, 'more place')}", cls="quiet") if left > 0 else None,
        tag("p", tag("b", "Do: "), help_of(found), cls="help"),
        _followers(followers) if followers else None,
        id=f"f{number}",
        cls=f"finding {found.severity}",
    )


def _followers(cards: Sequence[Html]) -> Html:
    verb = "follows" if len(cards) == 1 else "follow"
    return tag("details", tag("summary", f"{plural(len(cards), 'finding')} that {verb}"), join(list(cards)))


def _file(origin: Origin, marks: Sequence[Mark]) -> Html:
    first = next((m for m in marks if m.is_primary), marks[0])
    return tag(
        "div",
        tag(
            "div",
            f"{origin.path}:{first.line}",
            f" (rendered from {origin.source})" if origin.source else None,
            cls="path",
        ),
        tag("pre", list(_lines(origin, marks))),
        cls="file",
    )


def _lines(origin: Origin, marks: Sequence[Mark]) -> Iterator[Html]:
    shown = 0
    for mark in marks:
        if shown and mark.line > shown + 1:
            yield tag("span", "…", cls="gap")
        if mark.line != shown:
            on_line = [m for m in marks if m.line == mark.line]
            yield tag(
                "span", tag("span", str(mark.line), cls="number"), _marked(origin.line(mark.line), on_line), cls="line"
            )
        if mark.caption:
            yield tag(
                "span",
                tag("span", "", cls="number"),
                mark.caption,
                cls="caption primary" if mark.is_primary else "caption",
            )
        shown = mark.line


def _marked(source: str, marks: Sequence[Mark]) -> Html:
    """Return a line with its marks highlighted, except overlapping ones; a long line is cut around them."""
    first = min(mark.start for mark in marks)
    begin = 0 if first < MOST_COLUMNS // 2 else first - MOST_COLUMNS // 4
    end = begin + MOST_COLUMNS
    parts: list[Html | str] = ["…"] if begin else []
    at = begin
    for mark in marks:
        if mark.start >= at and mark.start < end:
            parts += [source[at : mark.start]]
            parts += [tag("mark", source[mark.start : min(mark.end, end)], cls="primary" if mark.is_primary else None)]
            at = min(mark.end, end)
    return join([*parts, source[at:end], "…" if len(source) > end else ""])
