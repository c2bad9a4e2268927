"""Tables as text: aligned columns or, on a narrow terminal, a block per row."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    Rows = Sequence[tuple[str, ...]]

GAP = "  "


def columns(rows: Rows, right: Container[int] = (), width: int | None = None, keys: int = 1) -> list[str]:
    """Return the lines for `rows`, the first of which is the header; columns in `right` are right-aligned.

    If a line would be longer than `width`, each row becomes a block headed by its first `keys` cells. None: no limit.
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        GAP.join(
            cell.rjust(wide) if at in right else cell.ljust(wide)
            for at, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    if width is None or max(map(len, lines)) <= width:
        return lines
    headers, *records = rows
    return [line for record in records for line in _block(headers, record, keys)]


def _block(headers: tuple[str, ...], record: tuple[str, ...], keys: int) -> list[str]:
    """Return the key cells as a heading, and below it each header with its cell; empty cells are omitted."""
    wide = max(map(len, headers[keys:]), default=0)
    pairs = zip(headers[keys:], record[keys:], strict=True)
    return [" ".join(record[:keys]), *(f"  {header:<{wide}}  {cell}" for header, cell in pairs if cell)]


def cut(line: str, width: int | None) -> str:
    """Cut a line so that a terminal shows it without wrapping."""
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"
