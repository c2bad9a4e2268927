"""Comments for qcheck. libyaml drops comments, so the few files that contain a marker are scanned a second time."""

from __future__ import annotations

import re
from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from qcheck.documents.text import Text


class Comment:
    """A comment: its line (1-based), its text from the marker on, and whether nothing else is on the line."""

    __slots__ = ("line", "spot", "stands_alone", "text")

    def __init__(self, source: Text, start: int, end: int, text: str) -> None:
        self.line = source.position(start)[0]
        self.spot = source.spot(start, end)
        self.text = text
        self.stands_alone = not source.text[source.text.rfind("\n", 0, start) + 1 : start].strip()

    def __repr__(self) -> str:
        return f"Comment({self.line}, {self.text!r})"


def comments(source: Text, chunks: list[tuple[int, int]], marker: str) -> list[Comment]:
    """Return the comments whose text begins with `marker`. Strings and block scalars contain none.

    `chunks` are the start and end offsets of the documents. In HCL, which has no chunks, every candidate counts.
    """
    pattern = re.compile(rf"(?:(?<=[\s])|^)#[ \t]*({re.escape(marker)}[^\r\n]*)")
    found = list(pattern.finditer(source.text))
    for start, end in chunks:
        if any(start <= match.start() < end for match in found):
            inside = _strings(source.text[start:end], start)
            found = [match for match in found if not _within(match.start(), inside)]
    return [Comment(source, match.start(), match.end(), match[1].rstrip()) for match in found]


def _within(offset: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (offset, offset)) - 1
    return at >= 0 and spans[at][0] <= offset < spans[at][1]


def _strings(text: str, base: int) -> list[tuple[int, int]]:
    """Return the offsets of scalars that can contain a `#`: quoted ones, and block scalars after their header line.

    For a text that is not valid YAML, only those before the error.
    """
    from ruamel.yaml.error import YAMLError  # 11 ms

    from qcheck.documents.events import from_events  # 11 ms

    found: list[tuple[int, int]] = []
    try:
        from_events(text, lambda following: _collect(following, text, base, found))
    except YAMLError:
        return found
    return found


def _collect(following: Callable[[], Any], text: str, base: int, found: list[tuple[int, int]]) -> None:
    from ruamel.yaml.events import ScalarEvent  # 11 ms

    found.clear()
    while (event := following()) is not None:
        if event.__class__ is ScalarEvent and event.style:
            found.append(_string(text, base, event))


def _string(text: str, base: int, event: Any) -> tuple[int, int]:
    start, end = event.start_mark.index, event.end_mark.index
    if event.style in "|>" and (line_end := text.find("\n", start, end)) >= 0:
        start = line_end
    return base + start, base + end
