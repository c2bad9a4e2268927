"""The parts of one line, computed once for equal lines; `lines` reads documents with them."""

from __future__ import annotations

import re

from qcheck.documents import scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Line = tuple[int, int, bool, str | None, int, int, Any]
    """The parts of a line: shape, column, whether a dash begins it, key, offsets of key and value in it, value."""
    Flow = tuple[bool, tuple[tuple[str | None, int, int, Any], ...]]
    """A flow collection: whether it is a list, and key, offsets and value of each entry; inner ones are `Flow`."""

QUOTED = r"""(?:"[^"\\]*+"|'[^']*+')"""
PLAIN = r"""(?:[^\s\-?:,\[\]{}#&*!|>'"%@`]|-(?=\S))(?:[^\s:#]|:(?=\S)|(?<=\S)#| +(?=[^\s#]))*+"""
KEY = r"""[A-Za-z0-9_./][A-Za-z0-9_./-]{0,199}|"[^"\\]{0,199}"|'[^']{0,199}'"""
LINE = re.compile(
    rf"(?P<dash>- +)?(?:(?P<key>{KEY}):(?: +|\Z))?"
    rf"(?:(?:(?P<scalar>{QUOTED}|{PLAIN})|(?P<flow>[\[{{].*[\]}}])|(?P<literal>\|-?))(?: +#.*| *)|#.*)?\Z"
)
WORD = r"[A-Za-z0-9_./](?:[A-Za-z0-9_./=@+-]|[ :](?=[A-Za-z0-9_./]))*+"
TOKEN = re.compile(rf" *(?:(?P<bracket>[\[\]{{}},])|(?P<text>{QUOTED}|{WORD})(?P<key>:(?= ))?) *")
"""The tokens of a flow collection on one line."""
DEEPEST_FLOW = 8

SKIP, OPENS, SCALAR, FLOW, LITERAL, UNUSUAL = range(6)
SHAPES = {"scalar": SCALAR, "flow": FLOW, "literal": LITERAL}
NOTHING: Line = (SKIP, 0, False, None, 0, 0, None)
STRANGE: Line = (UNUSUAL, 0, False, None, 0, 0, None)
LONGEST = 200
"""The most characters of a line that is remembered, and of a key: libyaml refuses keys of more than 1,024."""
MEMORY = 100_000

remembered: dict[str, Line] = {}
"""Lines already parsed, at most `MEMORY` of them."""


class Unusual(Exception):
    """The document does not consist of ordinary lines."""


def seen(line: str) -> Line:
    return remembered.get(line) or look(line)


def look(line: str) -> Line:
    """Return the parts of a line."""
    bare = line.lstrip(" ")
    try:
        found = _read(bare, len(line) - len(bare)) if bare else NOTHING
    except (scalars.Unreadable, Unusual):
        found = STRANGE
    if len(line) <= LONGEST and len(remembered) < MEMORY:
        remembered[line] = found
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
    """Return a flow collection of simple texts that ends with the line; `start` is its offset. Raises `Unusual`."""
    flow, end = collection(text, 0, start, DEEPEST_FLOW)
    if end != len(text):
        raise Unusual
    return flow


def collection(text: str, at: int, start: int, depth: int) -> tuple[Flow, int]:
    """Return the collection whose bracket is at `at`, and its end."""
    is_list = text[at] == "["
    closing = "]" if is_list else "}"
    entries: list[tuple[str | None, int, int, Any]] = []
    keys: set[str] = set()
    token = TOKEN.match(text, at + 1)
    while not (token and not entries and token["bracket"] == closing):
        key, key_at = None, 0
        if not is_list:
            if token is None or token["key"] is None or len(token["text"]) > LONGEST:
                raise Unusual
            key, key_at = _text(token["text"], as_key=True), start + token.start("text")
            token = TOKEN.match(text, token.end())
        value, value_at, end = _entry(text, token, start, depth)
        if key is not None:
            if key in keys:
                raise Unusual
            keys.add(key)
        entries.append((key, key_at, value_at, value))
        token = TOKEN.match(text, end)
        if token and token["bracket"] == closing:
            break
        if token is None or token["bracket"] != ",":
            raise Unusual
        token = TOKEN.match(text, token.end())
    return (is_list, tuple(entries)), token.end("bracket")


def _entry(text: str, token: re.Match[str] | None, start: int, depth: int) -> tuple[Any, int, int]:
    """Return a value in a collection, its offset, and its end in `text`."""
    if token is None or token["key"] is not None or not depth:
        raise Unusual
    if token["text"] is not None:
        return _text(token["text"]), start + token.start("text"), token.end()
    if token["bracket"] not in "[{":
        raise Unusual
    at = token.start("bracket")
    value, end = collection(text, at, start, depth - 1)
    return value, start + at, end
