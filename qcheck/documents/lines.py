"""The speed path: documents of ordinary lines, read a line at a time.

Nearly all manifests are block mappings and lists with one key, value or item to a line. Such documents are read here
some four times faster than from libyaml's events: a line is looked at once and remembered, and only the indents are
followed. At anything unusual - a tag, an anchor, a folded or escaped text, a value on several lines, a repeated key, a
tab, an indent that does not fit - `compose` gives up and returns None, and `events` reads the document. So nothing here
decides what is wrong with a document, and whatever it accepts must be exactly what `events` makes of it, to the last
offset: that is its slow twin, and the tests compare the two on everything they have.

Most documents are never pointed into, so places are not noted: `LineIndex` finds those that somebody asks for.
"""

from __future__ import annotations

import re

from qcheck.documents import scalars
from qcheck.documents.composed import KEY_SHIFT, Composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from qcheck.documents.composed import Entries

    Line = tuple[int, int, bool, str | None, int, int, Any]
    """The parts of a line: shape, column, whether a dash begins it, key, offsets of key and value in the line, value."""
    Flow = tuple[bool, tuple[tuple[str | None, int, int, Any], ...]]
    """A flow collection: whether it is a list, and key, offsets and value of each entry; collections inside are `Flow`."""

QUOTED = r"""(?:"[^"\\]*+"|'[^']*+')"""
PLAIN = r"""(?:[^\s\-?:,\[\]{}\#&*!|>'"%@`]|-(?=\S))(?:[^\s:\#]|:(?=\S)|(?<=\S)\#|\ +(?=[^\s\#]))*+"""
LINE = re.compile(
    rf"""(?P<dash>-\ +)?
    (?:(?P<key>[A-Za-z0-9_./][A-Za-z0-9_./-]{{0,199}}|"[^"\\]{{0,199}}"|'[^']{{0,199}}'):(?:\ +|\Z))?
    (?:(?:(?P<scalar>{QUOTED}|{PLAIN})
         |(?P<flow>[\[{{].*[\]}}])
         |(?P<literal>\|-?)
       )(?:\ +\#.*|\ *)
      |\#.*
    )?\Z""",
    re.VERBOSE,
)
TOKEN = re.compile(
    rf"""\ *(?:(?P<bracket>[\[\]{{}},])
      |(?P<text>{QUOTED}|[A-Za-z0-9_./](?:[A-Za-z0-9_./=@+-]|[\ :](?=[A-Za-z0-9_./]))*+)(?P<key>:(?=\ ))?)\ *""",
    re.VERBOSE,
)
"""The tokens of a flow collection on one line."""
DEEPEST_FLOW = 8
WRITTEN = re.compile(r"^ *(?=[^ \n#])", re.MULTILINE)
"""The indent of a line that holds more than a comment."""

SKIP, OPENS, SCALAR, FLOW, LITERAL, UNUSUAL = range(6)
SHAPES = {"scalar": SCALAR, "flow": FLOW, "literal": LITERAL}
NOTHING: Line = (SKIP, 0, False, None, 0, 0, None)
STRANGE: Line = (UNUSUAL, 0, False, None, 0, 0, None)
ROOT = ""
LONGEST = 200
"""Characters of a line that is remembered, and of a key: libyaml refuses keys of more than 1,024."""
MEMORY = 100_000

_remembered: dict[str, Line] = {}
"""Lines already looked at, at most `MEMORY` of them."""


class _Unusual(Exception):
    """Not a document of ordinary lines."""


def compose(text: str, start: int, end: int, depth: int) -> Composed | None:
    """The document `text[start:end]` of a file; None when it holds anything unusual."""
    begin = start + 4 if text.startswith("---\n", start) else start
    rows = text[begin:end].split("\n")
    if not "".join(rows).isprintable():
        return None
    first = WRITTEN.search(text, begin, end)
    try:
        data = _follow(rows, depth)
    except _Unusual:
        return None
    return first and Composed(data, first.end(), LineIndex(text, begin, end), [])


class LineIndex:
    """Offsets of the entries of a document's containers, computed per container on demand."""

    __slots__ = ("_known", "_text", "begin", "end")

    def __init__(self, text: str, begin: int, end: int) -> None:
        self._text = text
        self.begin = begin
        self.end = end
        self._known: dict[int, Entries] = {}

    def entries(self, start: int) -> Entries:
        """Those of the container that is written at `start`."""
        if start not in self._known:
            head = self._text[start]
            found = self._in_flow(start) if head in "[{" else self._items(start) if head == "-" else self._fields(start)
            self._known[start] = found
        return self._known[start]

    def _in_flow(self, start: int) -> Entries:
        at, line = self._line(start)
        (is_list, entries), _ = _collection(line, start - at, at, DEEPEST_FLOW)
        if is_list:
            return [value_at for _, _, value_at, _ in entries]
        return {str(key): key_at << KEY_SHIFT | value_at for key, key_at, value_at, _ in entries}

    def _items(self, start: int) -> Entries:
        found = []
        for at, line in self._level(start):
            _, _, dash, _, key_at, *_ = _seen(line)
            if not dash:
                break
            found.append(at + key_at)
        return found

    def _fields(self, start: int) -> Entries:
        found: dict[str, int] = {}
        for at, line in self._level(start):
            shape, _, dash, key, key_at, value_at, _ = _seen(line)
            if key is not None and not (dash and found):
                value = at + value_at if shape != OPENS else self._below(at + len(line), key_at) or at + value_at
                found[key] = at + key_at << KEY_SHIFT | value
        return found

    def _level(self, start: int) -> Iterator[tuple[int, str]]:
        """Offset and text of the line at `start` and of those after it that begin in the same column."""
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
        """Offset and text of the line around an offset."""
        at = max(self.begin, self._text.rfind("\n", self.begin, offset) + 1)
        stop = self._text.find("\n", offset, self.end)
        return at, self._text[at : stop if stop >= 0 else self.end]

    def _below(self, offset: int, column: int) -> int | None:
        """Return where what follows an offset begins, if it is inside of what began in `column`."""
        match = WRITTEN.search(self._text, offset, self.end)
        if match is None:
            return None
        _, at, dash, *_ = _seen(self._line(match.start())[1])
        return match.end() if at > column or (dash and at == column) else None


def _follow(rows: list[str], depth: int) -> Any:
    """Follows the indents: the document's data.

    `box` is the innermost open container, `indent` where its lines begin, `waiting` the key of it whose value has not
    begun yet. All starts with a box around the document that waits for it.
    """
    outer: list[tuple[int, Any]] = []
    around: dict[str, Any] = {}
    indent: int = -1
    box: Any = around
    waiting: str | None = ROOT
    remembered, room = _remembered, depth - DEEPEST_FLOW
    row, end = 0, len(rows)
    while row < end:
        line = rows[row]
        shape, column, dash, key, key_at, _, value = remembered.get(line) or _look(line)
        row += 1
        if shape == SKIP:
            continue
        if waiting is not None:
            if column > indent or (dash and column == indent):
                outer.append((indent, box))
                if len(outer) >= room:
                    raise _Unusual
                opened: Any = [] if dash else {}
                box[waiting] = opened
                indent, box = column, opened
            waiting = None
        while column < indent:
            indent, box = outer.pop()
        if dash:
            if column != indent or box.__class__ is dict:
                raise _Unusual
            if key is None:
                if shape == LITERAL:
                    value, row = _literal(rows, row, indent, value)
                box.append(_made(value) if shape == FLOW else value)
                continue
            outer.append((indent, box))
            if len(outer) >= room:
                raise _Unusual
            opened = {}
            box.append(opened)
            indent, box = key_at, opened
        else:
            if box.__class__ is list:
                indent, box = outer.pop()
            if column != indent or key in box or box.__class__ is list:
                raise _Unusual
        if shape == SCALAR:
            box[key] = value
        elif shape == OPENS:
            box[key] = None
            waiting = key
        elif shape == LITERAL:
            box[key], row = _literal(rows, row, indent, value)
        elif shape == FLOW:
            box[key] = _made(value)
        else:
            raise _Unusual
    if ROOT not in around:
        raise _Unusual
    return around[ROOT]


def _made(flow: Flow) -> Any:
    """Fresh containers for a flow collection."""
    is_list, entries = flow
    if is_list:
        return [_made(value) if value.__class__ is tuple else value for *_, value in entries]
    return {key: _made(value) if value.__class__ is tuple else value for key, *_, value in entries}


def _literal(rows: list[str], row: int, indent: int, header: str) -> tuple[str, int]:
    """The text of a block scalar whose lines begin at `row`, and the row behind it."""
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
            raise _Unusual
        row += 1
    if row == len(rows) and rows[-1]:
        raise _Unusual
    body = "\n".join([line[size:] for line in rows[first:row]]).rstrip("\n")
    if not body:
        raise _Unusual
    return body if header == "|-" else body + "\n", row


def _seen(line: str) -> Line:
    return _remembered.get(line) or _look(line)


def _look(line: str) -> Line:
    """Return the parts of a line."""
    bare = line.lstrip(" ")
    try:
        found = _read(bare, len(line) - len(bare)) if bare else NOTHING
    except (scalars.Unreadable, _Unusual):
        found = STRANGE
    if len(line) <= LONGEST and len(_remembered) < MEMORY:
        _remembered[line] = found
    return found


def _read(bare: str, column: int) -> Line:
    match = LINE.match(bare)
    if match is None:
        return STRANGE
    dash = match["dash"] is not None
    key = _text(match["key"], as_key=True) if match["key"] else None
    key_at = column + (match.end("dash") if dash else 0)
    for name, shape in SHAPES.items():
        if match[name] is not None:
            value = _value(shape, match[name], column + match.start(name))
            held = (shape, column, dash, key, key_at, column + match.start(name), value)
            return held if key is not None or dash else STRANGE
    if key is None:
        return STRANGE if dash else NOTHING
    return OPENS, column, dash, key, key_at, column + match.end("key") + 1, None


def _value(shape: int, text: str, start: int) -> Any:
    if shape == SCALAR:
        return _text(text)
    return _flow(text, start) if shape == FLOW else text


def _text(text: str, as_key: bool = False) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    value = scalars.resolve(text)
    return scalars.key(value) if as_key else value


def _flow(text: str, start: int) -> Flow:
    """A flow collection of simple texts that ends with the line; `start` is its offset. Raises `_Unusual`."""
    flow, end = _collection(text, 0, start, DEEPEST_FLOW)
    if end != len(text):
        raise _Unusual
    return flow


def _collection(text: str, at: int, start: int, depth: int) -> tuple[Flow, int]:
    """The collection whose bracket is at `at`, and where it ends."""
    is_list = text[at] == "["
    closing = "]" if is_list else "}"
    entries: list[tuple[str | None, int, int, Any]] = []
    keys: set[str] = set()
    token = TOKEN.match(text, at + 1)
    while not (token and not entries and token["bracket"] == closing):
        key, key_at = None, 0
        if not is_list:
            if token is None or token["key"] is None or len(token["text"]) > LONGEST:
                raise _Unusual
            key, key_at = _text(token["text"], as_key=True), start + token.start("text")
            token = TOKEN.match(text, token.end())
        value, value_at, end = _entry(text, token, start, depth)
        if key is not None:
            if key in keys:
                raise _Unusual
            keys.add(key)
        entries.append((key, key_at, value_at, value))
        token = TOKEN.match(text, end)
        if token and token["bracket"] == closing:
            break
        if token is None or token["bracket"] != ",":
            raise _Unusual
        token = TOKEN.match(text, token.end())
    return (is_list, tuple(entries)), token.end("bracket")


def _entry(text: str, token: re.Match[str] | None, start: int, depth: int) -> tuple[Any, int, int]:
    """A value in a collection, its offset, and where it ends in `text`."""
    if token is None or token["key"] is not None or not depth:
        raise _Unusual
    if token["text"] is not None:
        return _text(token["text"]), start + token.start("text"), token.end()
    if token["bracket"] not in "[{":
        raise _Unusual
    at = token.start("bracket")
    value, end = _collection(text, at, start, depth - 1)
    return value, start + at, end
