"""The fast path: reads documents of ordinary lines line by line.

Nearly all manifests are block mappings and lists with one key, value or item per line. This module reads such documents
some four times faster than libyaml's events can: each distinct line is parsed once and remembered, and only the indents
are followed. For anything unusual - a tag, an anchor, a folded or escaped text, a value on several lines, a repeated
key, a tab, an indent that does not fit - `compose` returns None, and `events` reads the document. So nothing here
diagnoses errors, and whatever this module accepts must be exactly what `events` makes of it, to the last offset. The
tests compare the two on all their documents.

No finding points into most documents, so positions are not recorded: `LineIndex` computes them on request.
"""

from __future__ import annotations

import re

from qcheck.documents.composed import KEY_SHIFT, Composed
from qcheck.documents.line import (
    DEEPEST_FLOW,
    FLOW,
    LITERAL,
    OPENS,
    SCALAR,
    SKIP,
    Unusual,
    collection,
    look,
    remembered,
    seen,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from qcheck.documents.composed import Entries
    from qcheck.documents.line import Flow

WRITTEN = re.compile(r"^ *(?=[^ \n#])", re.MULTILINE)
"""The indent of a line that contains more than a comment."""
ROOT = ""


def compose(text: str, start: int, end: int, depth: int) -> Composed | None:
    """Return the document `text[start:end]` of a file; None if it contains anything unusual."""
    begin = start + 4 if text.startswith("---\n", start) else start
    rows = text[begin:end].split("\n")
    if not "".join(rows).isprintable():
        return None
    first = WRITTEN.search(text, begin, end)
    try:
        data = _follow(rows, depth)
    except Unusual:
        return None
    return first and Composed(data, first.end(), LineIndex(text, begin, end), [])


class LineIndex:
    """Offsets of the entries of a document's containers, computed for each container on demand."""

    __slots__ = ("_known", "_text", "begin", "end")

    def __init__(self, text: str, begin: int, end: int) -> None:
        self._text = text
        self.begin = begin
        self.end = end
        self._known: dict[int, Entries] = {}

    def entries(self, start: int) -> Entries:
        """Return the entries of the container that begins at offset `start`."""
        if start not in self._known:
            head = self._text[start]
            found = self._in_flow(start) if head in "[{" else self._items(start) if head == "-" else self._fields(start)
            self._known[start] = found
        return self._known[start]

    def _in_flow(self, start: int) -> Entries:
        at, line = self._line(start)
        (is_list, entries), _ = collection(line, start - at, at, DEEPEST_FLOW)
        if is_list:
            return [value_at for _, _, value_at, _ in entries]
        return {str(key): key_at << KEY_SHIFT | value_at for key, key_at, value_at, _ in entries}

    def _items(self, start: int) -> Entries:
        found = []
        for at, line in self._level(start):
            _, _, dash, _, key_at, *_ = seen(line)
            if not dash:
                break
            found.append(at + key_at)
        return found

    def _fields(self, start: int) -> Entries:
        found: dict[str, int] = {}
        for at, line in self._level(start):
            shape, _, dash, key, key_at, value_at, _ = seen(line)
            if key is not None and not (dash and found):
                value = at + value_at if shape != OPENS else self._below(at + len(line), key_at) or at + value_at
                found[key] = at + key_at << KEY_SHIFT | value
        return found

    def _level(self, start: int) -> Iterator[tuple[int, str]]:
        """Yield offset and text of the line at `start`, and of the lines after it that begin in the same column."""
        at, line = self._line(start)
        yield at, line
        column = start - at
        for match in re.compile(rf"^ {{0,{column}}}(?=[^ \n#])", re.MULTILINE).finditer(
            self._text, at + len(line), self.end
        ):
            if match.end() - match.start() < column:
                return
            yield self._line(match.start())

    def _line(self, offset: int) -> tuple[int, str]:
        """Return the offset and text of the line around an offset."""
        at = max(self.begin, self._text.rfind("\n", self.begin, offset) + 1)
        stop = self._text.find("\n", offset, self.end)
        return at, self._text[at : stop if stop >= 0 else self.end]

    def _below(self, offset: int, column: int) -> int | None:
        """Return the offset of the first content after `offset`, if it is inside the container begun in `column`."""
        match = WRITTEN.search(self._text, offset, self.end)
        if match is None:
            return None
        _, at, dash, *_ = seen(self._line(match.start())[1])
        return match.end() if at > column or (dash and at == column) else None


def _follow(rows: list[str], depth: int) -> Any:
    """Return the document's data by following the indents.

    `box` is the innermost open container, `indent` the column of its lines, and `waiting` its key whose value has not
    begun yet. The walk starts with a box around the document. It is one long function on purpose: more than a third
    of the time of loading passes in it, and a call for each line would cost more than most lines do.
    """
    outer: list[tuple[int, Any]] = []
    around: dict[str, Any] = {}
    indent: int = -1
    box: Any = around
    waiting: str | None = ROOT
    known, room = remembered, depth - DEEPEST_FLOW
    row, end = 0, len(rows)
    while row < end:
        line = rows[row]
        shape, column, dash, key, key_at, _, value = known.get(line) or look(line)
        row += 1
        if shape == SKIP:
            continue
        if waiting is not None:
            if column > indent or (dash and column == indent):
                outer.append((indent, box))
                opened: Any = [] if dash else {}
                box[waiting] = opened
                indent, box = column, opened
            waiting = None
        while column < indent:
            indent, box = outer.pop()
        if not dash:
            if box.__class__ is list:
                indent, box = outer.pop()
            if column != indent or key in box or box.__class__ is list:
                raise Unusual
        elif column != indent or box.__class__ is dict:
            raise Unusual
        elif key is not None:
            outer.append((indent, box))
            opened = {}
            box.append(opened)
            indent, box = key_at, opened
        if shape == OPENS:
            waiting = key
        elif shape != SCALAR:
            value, row = _longer(shape, value, rows, row, indent)
        if key is not None:
            box[key] = value
        else:
            box.append(value)
        if len(outer) >= room:
            raise Unusual
    if ROOT not in around:
        raise Unusual
    return around[ROOT]


def _longer(shape: int, value: Any, rows: list[str], row: int, indent: int) -> tuple[Any, int]:
    """Return a value that is not a scalar on its own line, and the row after it."""
    if shape == LITERAL:
        return _literal(rows, row, indent, value)
    if shape == FLOW:
        return _made(value), row
    raise Unusual


def _made(flow: Flow) -> Any:
    """Return new containers for a flow collection."""
    is_list, entries = flow
    if is_list:
        return [_made(value) if value.__class__ is tuple else value for *_, value in entries]
    return {key: _made(value) if value.__class__ is tuple else value for key, *_, value in entries}


def _literal(rows: list[str], row: int, indent: int, header: str) -> tuple[str, int]:
    """Return the text of a block scalar whose lines begin at `row`, and the row after it."""
    first, size = row, 0
    while row < len(rows):
        line = rows[row]
        bare = line.lstrip(" ")
        column = len(line) - len(bare)
        if bare and not size:
            size = column
        if bare and (column < size or column <= indent):
            break
        if not bare and line and (not size or column > size):
            raise Unusual
        row += 1
    if row == len(rows) and rows[-1]:
        raise Unusual
    body = "\n".join([line[size:] for line in rows[first:row]]).rstrip("\n")
    if not body:
        raise Unusual
    return body if header == "|-" else body + "\n", row
