"""Changes to a document, each both as edits of its text and as a change of its data.

Text is edited in place, so that comments, order and layout are kept. Before it is written, the edited text is read back
and compared with the changed data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from qcheck.cluster.edits import How
from qcheck.documents.hcl import HclDocument
from qcheck.documents.scalars import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.documents.document import Document
    from qcheck.documents.text import Route

    Edit = tuple[int, int, str]
    """Start and end offset in the file, and the replacement text."""


class Change(ABC):
    """A change at a route of a document; `text` is the new value, or the name of a key."""

    how: How

    def __init__(self, route: Route, text: str = "") -> None:
        self.route = route
        self.text = text

    @abstractmethod
    def edits(self, document: Document) -> list[Edit]:
        """Return the edits of the text. Raises `Unsafe` if it cannot be edited in place."""

    @abstractmethod
    def apply(self, holder: dict[str, object] | list[object], step: str | int) -> None:
        """Change plain data; `holder[step]` is the value at the route."""


class Unsafe(Exception):
    """The text is written in a way that an edit in place could change something else."""


class Rename(Change):
    """Renames a key."""

    how = How.RENAME

    def edits(self, document: Document) -> list[Edit]:
        start, end, quote = key_text(document, self.route)
        return [(start, end, f"{quote}{self.text}{quote}")]

    def apply(self, holder: dict[str, object] | list[object], step: str | int) -> None:
        assert isinstance(holder, dict)
        items = [(self.text if key == step else key, value) for key, value in holder.items()]
        holder.clear()
        holder.update(items)


class Replace(Change):
    """Replaces a scalar by another in the same quotes."""

    how = How.REPLACE

    def __init__(self, route: Route, text: str = "") -> None:
        super().__init__(route, text)
        self.value: object = text

    def edits(self, document: Document) -> list[Edit]:
        start, end, written = value_text(document, self.route)
        quote = written[:1] if written[:1] in "\"'" else ""
        if "\n" in written:
            raise Unsafe
        if is_hcl(document, self.route) and not self.text.isdecimal():
            quote = '"'
        self.value = self.text if quote else resolve(self.text)
        return [(start, end, f"{quote}{self.text}{quote}")]

    def apply(self, holder: dict[str, object] | list[object], step: str | int) -> None:
        holder[step] = self.value  # type: ignore[index]


class Nest(Change):
    """Moves a key and its value one level down, under the new key `text`."""

    how = How.NEST

    def edits(self, document: Document) -> list[Edit]:
        _refuse_hcl(document, self.route)
        start, end, quote = key_text(document, self.route)
        text, (first, last) = whole(document), span(document, self.route)
        outer, inner = f"{quote}{self.text}{quote}", text[start:end]
        if text[first : first + 1] in "[{":
            return [(start, end, f"{outer}: {{{inner}"), (last, last, "}")]
        line = text.rfind("\n", 0, start) + 1
        indent = text[line:start]
        if indent.strip():
            raise Unsafe
        deeper = [(at + 1, at + 1, "  ") for at in line_ends(text, end, last) if text[at + 1 : at + 2] not in "\r\n"]
        return [(start, end, f"{outer}:\n{indent}  {inner}"), *deeper]

    def apply(self, holder: dict[str, object] | list[object], step: str | int) -> None:
        assert isinstance(holder, dict)
        items = [(self.text, {key: value}) if key == step else (key, value) for key, value in holder.items()]
        holder.clear()
        holder.update(items)


class Wrap(Change):
    """Turns a scalar into a mapping with one key: `provision` into `name: provision`."""

    how = How.WRAP

    def edits(self, document: Document) -> list[Edit]:
        _refuse_hcl(document, self.route)
        start, end, written = value_text(document, self.route)
        parent, _ = span(document, self.route[:-1])
        if whole(document)[parent : parent + 1] != "[":
            return [(start, start, f"{self.text}: ")]
        quote = '"' if written.startswith('"') else ""
        return [(start, start, f"{{{quote}{self.text}{quote}: "), (end, end, "}")]

    def apply(self, holder: dict[str, object] | list[object], step: str | int) -> None:
        holder[step] = {self.text: holder[step]}  # type: ignore[index]


class Remove(Change):
    """Removes a key that has a line of its own."""

    how = How.REMOVE

    def edits(self, document: Document) -> list[Edit]:
        start, _, _ = key_text(document, self.route)
        text, (_, last) = whole(document), span(document, self.route)
        line, stop = text.rfind("\n", 0, start) + 1, text.find("\n", last)
        rest = text[last : stop if stop >= 0 else len(text)].strip()
        if text[line:start].strip() or (rest and not rest.startswith("#")):
            raise Unsafe
        return [(line, stop + 1 if stop >= 0 else len(text), "")]

    def apply(self, holder: dict[str, object] | list[object], step: str | int) -> None:
        assert isinstance(holder, dict)
        del holder[str(step)]


CHANGES: dict[How, type[Change]] = {each.how: each for each in (Rename, Replace, Nest, Wrap, Remove)}


def change_of(how: How, route: Route, text: str) -> Change:
    """Return the change that an edit describes."""
    return CHANGES[how](route, text)


def is_hcl(document: Document, route: Route) -> bool:
    """Return whether the value at a route is written in HCL."""
    return isinstance(document, HclDocument) and document.inside_heredoc(route) is None


def _refuse_hcl(document: Document, route: Route) -> None:
    """Raise `Unsafe` for a value in HCL, in which a change of the structure is written differently."""
    if is_hcl(document, route):
        raise Unsafe


def whole(document: Document) -> str:
    """Return the text of the file that contains a document."""
    return document.spot().text.text


def span(document: Document, route: Route) -> tuple[int, int]:
    spot = document.spot(route)
    return spot.start, spot.end


def key_text(document: Document, route: Route) -> tuple[int, int, str]:
    """Return the start, end and quote ("" if plain) of a key. Raises `Unsafe` for any other spelling."""
    spot = document.spot(route, on_key=True)
    written, name = whole(document)[spot.start : spot.end], str(route[-1])
    for quote in ("", '"', "'"):
        if written == f"{quote}{name}{quote}":
            return spot.start, spot.end, quote
    raise Unsafe


def value_text(document: Document, route: Route) -> tuple[int, int, str]:
    """Return the start, end and text of a scalar. Raises `Unsafe` for aliases, anchors, tags and block scalars."""
    start, end = span(document, route)
    written = whole(document)[start:end]
    if written[:1] in ("*", "&", "!", "|", ">", ""):
        raise Unsafe
    return start, end, written


def line_ends(text: str, start: int, end: int) -> list[int]:
    found, at = [], text.find("\n", start, end)
    while at >= 0:
        found.append(at)
        at = text.find("\n", at + 1, end)
    return found


def changed(data: object, changes: list[Change], root: Route = ()) -> object:
    """Return a copy of the data at `root` with all changes applied; their routes refer to the unchanged data."""
    copy = _copy(data)
    for change in sorted(changes, key=lambda c: len(c.route), reverse=True):
        holder: object = copy
        for step in change.route[len(root) : -1]:
            holder = holder[step]  # type: ignore[index]
        assert isinstance(holder, (dict, list))
        change.apply(holder, change.route[-1])
    return copy


def _copy(data: object) -> object:
    if isinstance(data, dict):
        return {key: _copy(value) for key, value in data.items()}
    return [_copy(value) for value in data] if isinstance(data, list) else data


def edited(text: str, edits: list[Edit]) -> str:
    """Return a text with all edits applied. Raises `Unsafe` if two overlap."""
    parts, at = [], 0
    for start, end, new in sorted(edits):
        if start < at:
            raise Unsafe
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])
