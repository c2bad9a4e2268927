"""Source lines with carets under them, as compilers print them."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.reports.wording import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.place import Origin, Place

WIDTH = 110
"""The maximum number of columns of a source line to show."""
_TAB = 4


class Mark(Value):
    """A span on one line (columns 0-based, end-exclusive, in code points) and its caption."""

    line: int
    start: int
    end: int
    caption: str
    is_primary: bool


class Row(Value):
    """A line of a snippet: the number in the margin ("" for none, "..." for a gap), the text, and the kind of mark."""

    margin: str
    text: str
    is_mark: bool = False
    is_primary: bool = False


def groups(primary: Place, related: Sequence[Place]) -> list[tuple[Origin, list[Mark]]]:
    """Return the marks per file, the primary's file first, each in line order; a repeated place is drawn once."""
    by_file: dict[str, tuple[Origin, list[Mark]]] = {}
    for number, place in enumerate((primary, *related)):
        mark = _mark(place, number == 0)
        marks = by_file.setdefault(place.origin.path, (place.origin, []))[1]
        if mark not in marks:
            marks.append(mark)
    for _, marks in by_file.values():
        marks.sort(key=lambda m: (m.line, m.start))
    return list(by_file.values())


def _mark(place: Place, is_primary: bool) -> Mark:
    line, column, end_line, end_column = place.span
    length = len(place.origin.line(line)) or column - 1  # a merged report does not quote its files
    end = end_column - 1 if end_line == line else length
    start = min(column - 1, length)
    return Mark(line=line, start=start, end=max(end, start + 1), caption=place.caption, is_primary=is_primary)


def draw(origin: Origin, marks: Sequence[Mark]) -> Iterator[Row]:
    """Yield the marked lines with a row of carets for each mark, and a gap for omitted lines."""
    shown = 0
    for mark in marks:
        source = origin.line(mark.line)
        if not source:  # a merged report does not quote its files
            yield _unquoted(mark)
            continue
        if shown and mark.line > shown + 1:
            yield Row("...", "")
        cut = _window(mark)
        if mark.line != shown:
            yield Row(str(mark.line), _visible(source[cut:])[0].rstrip())
        shown = mark.line
        yield _carets(source, cut, mark)


def _unquoted(mark: Mark) -> Row:
    """Return the line number, dots in place of its text, and the caption."""
    return Row(str(mark.line), f"... {plain(mark.caption)}".rstrip(), True, mark.is_primary)


def _sign(mark: Mark) -> str:
    return "^" if mark.is_primary else "-"


def _window(mark: Mark) -> int:
    """Return the column at which to begin a long line so that the mark is visible."""
    return 0 if mark.end <= WIDTH else max(0, mark.start - WIDTH // 3)


def _carets(source: str, cut: int, mark: Mark) -> Row:
    indent = _visible(source[cut : mark.start])[1]
    width = _visible(source[mark.start : mark.end], limit=max(1, WIDTH - indent))[1]
    line = _sign(mark) * max(1, width)
    return Row("", f"{' ' * indent}{line} {plain(mark.caption)}".rstrip(), True, mark.is_primary)


def _visible(text: str, limit: int = WIDTH) -> tuple[str, int]:
    """Return the text as a terminal can show it, cut at `limit` columns, and its width in columns."""
    if text.isascii() and text.isprintable():
        return text[:limit], min(len(text), limit)
    shown: list[str] = []
    width = 0
    for char in text:
        piece = " " * (_TAB - width % _TAB) if char == "\t" else plain(char)
        columns = _columns(piece)
        if width + columns > limit:
            break
        shown.append(piece)
        width += columns
    return "".join(shown), width


def _columns(piece: str) -> int:
    """Return how many columns a terminal uses for a piece: two for wide characters, none for combining ones."""
    if piece.isascii():
        return len(piece)
    return 0 if combining(piece) else 2 if east_asian_width(piece) in "WF" else 1
