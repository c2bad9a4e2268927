"""One document of a file: its plain data, and the position of each part of it."""

from __future__ import annotations

from qcheck.documents.composed import KEY_SHIFT, VALUE_MASK
from qcheck.documents.text import Spot, Text, source_of

__all__ = ["Document", "Spot"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.documents.composed import Entries, Where
    from qcheck.documents.text import Route, Span


class Document:
    """A YAML or JSON document.

    `data` consists of dict (string keys), list, str, int, float, bool and None, and is never changed; values shared by
    aliases are the same object. `start` is the document's offset in the file, `where` its index of positions, or a
    finder that computes it on demand. `index` counts the documents of the file from 0. `rendered_from` is the file that
    a renderer names as the source of this document, if any.
    """

    __slots__ = ("_text", "data", "index", "rendered_from", "start", "where")

    def __init__(
        self, text: Text, index: int, data: object, start: int, where: Where, rendered_from: str | None = None
    ) -> None:
        self._text = text
        self.start = start
        self.where = where
        self.index = index
        self.data = data
        self.rendered_from = rendered_from

    @property
    def path(self) -> str:
        return self._text.path

    @property
    def source(self) -> str | None:
        """Return the file that a person edits, if a renderer made this from one; None if `path` is that file."""
        return source_of(self.path, self.data, self.rendered_from)

    def span(self, route: Route, on_key: bool = False) -> Span:
        """Return the span of the value at `route`, or of its key; if absent, of its deepest ancestor that exists."""
        return self._text.span(*self._extent(route, on_key))

    def has(self, route: Route) -> bool:
        value = self.data
        for step in route:
            is_item = isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)
            if not is_item and not (isinstance(value, dict) and step in value):
                return False
            value = value[step]  # type: ignore[index]
        return True

    def line(self, number: int) -> str:
        return self._text.line(number)

    @property
    def text(self) -> Text:
        """The text of the document's file."""
        return self._text

    def written_at(self, route: Route) -> tuple[Document, Route]:
        """Return the document and route at which to edit the value at `route`: in the source, if this was rendered."""
        return self, route

    def spot(self, route: Route = (), on_key: bool = False) -> Spot:
        """Return the same span as `span`, as a spot."""
        return self._text.spot(*self._extent(route, on_key))

    def _extent(self, route: Route, on_key: bool = False) -> tuple[int, int]:
        """Return the start and end offset of the span that `span` returns."""
        from qcheck.documents import extent  # 0.8 ms

        found, value, key, start = self._follow(route)
        text = self._text.text
        if found and (key is not None) and (on_key or found < len(route)):
            return key, extent.key_end(text, key, str(route[found - 1]))
        return start, extent.value_end(text, start, value, self._entries)

    def _entries(self, value: object, start: int) -> Entries | None:
        """Return the entries of the container `value`, written at `start`; None if it is not a container."""
        return self.where.get(id(value)) if isinstance(self.where, dict) else self.where.entries(start)

    def _follow(self, route: Route) -> tuple[int, object, int | None, int]:
        """Return how many steps of `route` exist, the value there, and the offsets of its key (if any) and itself."""
        value, key, start = self.data, None, self.start
        for found, step in enumerate(route):
            place = self._entries(value, start) if isinstance(value, (dict, list)) else None
            if isinstance(value, dict) and isinstance(place, dict) and step in value:
                assert isinstance(step, str)
                key, start = place[step] >> KEY_SHIFT, place[step] & VALUE_MASK
                value = value[step]
            elif (
                isinstance(value, list) and isinstance(place, list) and isinstance(step, int) and 0 <= step < len(value)
            ):
                key, start = None, place[step]
                value = value[step]
            else:
                return found, value, key, start
        return len(route), value, key, start

    def __repr__(self) -> str:
        return f"Document({self.path}#{self.index})"
