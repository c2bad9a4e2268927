"""A YAML document inside a scalar of another one: a file in a ConfigMap, a string in Helm values.

In a literal block scalar every line of the inner document is a line of the file, so positions are exact. In any other
kind of scalar, each position is the span of the whole scalar.
"""

from __future__ import annotations

import re

from qcheck.documents import limits
from qcheck.documents.composed import RefusedText
from qcheck.documents.cursor import root
from qcheck.documents.document import Document
from qcheck.documents.text import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.documents.composed import Composed
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Route, Span

DEEPEST = 8
"""Levels of an object below which no embedded document is searched for."""
HEADER = re.compile(r"(?:[&!]\S+[ \t]+)*\|[-+1-9]*[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)")


class NotYaml(ValueError):
    """The scalar does not contain YAML; the message gives the reason."""


class EmbeddedDocument(Document):
    """A document whose positions are all the scalar that contains it."""

    __slots__ = ("_holder", "_route")

    def __init__(self, holder: Document, route: Route, composed: Composed) -> None:
        super().__init__(
            text=Text(holder.path, ""),
            index=holder.index,
            data=composed.data,
            start=0,
            where=composed.where,
            rendered_from=holder.rendered_from,
        )
        self._holder = holder
        self._route = route

    def span(self, route: Route, on_key: bool = False) -> Span:  # noqa: ARG002 (the scalar has no parts)
        return self._holder.span(self._route)

    def line(self, number: int) -> str:
        return self._holder.line(number)


def embedded(holder: Document, route: Route, value: str, limit: limits.Limits = limits.DEFAULT) -> Document:
    """Return the document in the scalar `value` at `route`. Raises `NotYaml`."""
    from qcheck.documents import events  # 10 ms, with ruamel.yaml

    spot = holder.spot(route)
    written = spot.text.text[spot.start : spot.end]
    header = HEADER.match(written)
    try:
        if header:
            start = spot.start + header.end()
            composed = events.compose(written[header.end() :], start, limit)
            return Document(
                text=spot.text,
                index=holder.index,
                data=composed.data,
                start=composed.start,
                where=composed.where,
                rendered_from=holder.rendered_from,
            )
        return EmbeddedDocument(holder, route, events.compose(value, 0, limit))
    except RefusedText as error:
        raise NotYaml(" ".join(str(error).split())) from None


def embedded_roots(top: Cursor, may_hold: Callable[[str], bool]) -> Iterator[tuple[Cursor, Cursor | NotYaml]]:
    """Yield each multi-line string that may contain a document, with its root or the reason that it has none.

    Such strings are data of a ConfigMap or values of a chart.
    """
    for text in _strings(top, may_hold, 0):
        try:
            yield text, root(embedded(text.document, text.route, text.text() or ""))
        except NotYaml as error:
            yield text, error


def _strings(at: Cursor, may_hold: Callable[[str], bool], depth: int) -> Iterator[Cursor]:
    if isinstance(at.data, str):
        if "\n" in at.data and may_hold(at.data):
            yield at
    elif depth < DEEPEST:
        for inner in (*at.items(), *(inner for _, inner in at.mapping())):
            yield from _strings(inner, may_hold, depth + 1)
