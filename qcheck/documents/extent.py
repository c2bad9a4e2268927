"""The end of a value or key whose start is known, computed from the text on demand."""

from __future__ import annotations

import re

from qcheck.documents.composed import KEY_SHIFT, VALUE_MASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.documents.composed import Entries

PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:[ \t]+|(?:[ \t]*(?:#[^\r\n]*)?\r?\n)+[ \t]*))*", re.ASCII)
DOUBLE = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
SINGLE = re.compile(r"'(?:[^']++|'')*+'")
ALIAS = re.compile(r"\*[^\s,\[\]{}]+", re.ASCII)
WORD = re.compile(r"[^\s,\[\]{}]*", re.ASCII)
KEY = re.compile(r"[^\s:,\[\]{}]+", re.ASCII)
BLANKS = re.compile(r"[ \t\r\n]+")
"""The spaces of YAML; other Unicode spaces are part of a word."""
LINE = re.compile(r"[^\r\n]*")
FLOW = re.compile(
    r"""[\[{]|[\]}]|(?<![^\s,\[\]{}:])(?:"(?:[^"\\]++|\\.)*+"|'(?:[^']++|'')*+')|(?<!\S)\#[^\r\n]*""",
    re.DOTALL | re.ASCII,
)
"""The tokens that determine the end of a flow collection: brackets, quoted strings and comments."""


def after_properties(text: str, start: int) -> int:
    """Return the offset behind the anchor and tag at `start`, if there are any."""
    match = PROPERTIES.match(text, start)
    return match.end() if match else start


def key_end(text: str, start: int, key: str) -> int:
    start = after_properties(text, start)
    if text.startswith(key, start):
        return start + len(key)
    return _quoted_end(text, start) or _match_end(ALIAS, text, start) or _match_end(KEY, text, start) or start


def value_end(text: str, start: int, value: object, entries: Callable[[object, int], Entries | None]) -> int:
    """Return the end (exclusive) of `value`, which is written at `start`."""
    start = after_properties(text, start)
    head = text[start : start + 1]
    if head == "*":
        return _match_end(ALIAS, text, start) or start
    if isinstance(value, (dict, list)):
        return closing(FLOW, text, start) if head in "[{" else _block_end(text, start, value, entries)
    if head in ("|", ">"):
        return _block_scalar_end(text, start, value)
    return _quoted_end(text, start) or _plain_end(text, start, value)


def _match_end(pattern: re.Pattern[str], text: str, start: int) -> int | None:
    match = pattern.match(text, start)
    return match.end() if match else None


def _quoted_end(text: str, start: int) -> int | None:
    return _match_end(DOUBLE, text, start) or _match_end(SINGLE, text, start)


def _plain_end(text: str, start: int, value: object) -> int:
    """Return the end of a plain scalar: a string may span several lines; any other value is one word."""
    if isinstance(value, str) and value and text.startswith(value, start):
        return start + len(value)
    if isinstance(value, str) and (words := [w for w in BLANKS.split(value) if w]):
        match = re.compile(BLANKS.pattern.join(map(re.escape, words))).match(text, start)
        if match:
            return match.end()
    return start if value is None and text[start : start + 1] in " \t\r\n#" else _match_end(WORD, text, start) or start


def closing(tokens: re.Pattern[str], text: str, start: int) -> int:
    """Return the offset behind the bracket that closes the one at `start`.

    `tokens` finds brackets, and skips anything that may contain some.
    """
    depth = 0
    for match in tokens.finditer(text, start):
        if match[0] in ("[", "{"):
            depth += 1
        elif match[0] in ("]", "}"):
            depth -= 1
            if depth == 0:
                return match.end()
    return len(text)


def _block_end(
    text: str, start: int, value: dict[str, object] | list[object], entries: Callable[[object, int], Entries | None]
) -> int:
    """Return the end of the entry written last; merged entries are written elsewhere and do not count."""
    place = entries(value, start)
    written: list[tuple[int, object]] = []
    if isinstance(value, dict) and isinstance(place, dict):
        written = [(at & VALUE_MASK, value[key]) for key, at in place.items() if at >> KEY_SHIFT >= start]
    elif isinstance(value, list) and isinstance(place, list):
        written = list(zip(place, value, strict=True))
    if not written:
        return _match_end(LINE, text, start) or start
    offset, last = max(written, key=lambda entry: entry[0])
    return value_end(text, offset, last, entries)


def _block_scalar_end(text: str, start: int, value: object) -> int:
    """Return the end of the last line that is not blank."""
    end = _match_end(LINE, text, start) or start
    if not str(value).strip():
        return end
    indent: int | None = None
    for match in re.compile(r"(?:\r\n|\r|\n)([ ]*)([^\r\n]*)").finditer(text, end):
        if not match[2].strip():
            continue
        if indent is None:
            indent = len(match[1])
        elif len(match[1]) < indent:
            break
        end = match.end()
    return end
