"""Faults of manifests that Terraform applies as YAML text, at their line in the configuration."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.hcl import HclDocument
from qcheck.nodepools.figures import place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.fault import Fault
    from qcheck.documents.load import Loaded
    from qcheck.documents.text import Spot


class BrokenText(Value):
    """A fault of a manifest, and the whole text of the manifest."""

    problem: Problem
    text: str


def faults(read: Loaded, at: Cursor, address: str) -> Iterator[BrokenText]:
    """Yield the faults of the text of an attribute. `address` names its resource."""
    for fault in read.faults:
        yield BrokenText(_problem(fault, at, address), read.text.text)


def _problem(fault: Fault, at: Cursor, address: str) -> Problem:
    return Problem(
        fault.code,
        _place(fault.spot, at),
        f"{at.route[-1]} of {address}: {fault.message}",
        fault.help,
        related=tuple(_place(spot, at, caption) for caption, spot in fault.related),
        data=dict(fault.data),
    )


def _place(spot: Spot, at: Cursor, caption: str = "") -> Place:
    """Return the line of a heredoc that contains the spot; the whole attribute if the text is written differently."""
    document = at.document
    number, column, end_number, end_column = spot.span()
    if isinstance(document, HclDocument):
        first = document.span(at.route)[0]
        line, written = spot.text.line(number), document.text.line(first + number)
        if document.written(at.route).startswith("<<") and line.strip() and written.endswith(line):
            start = document.text.offset(first + number) + len(written) - len(line) + column - 1
            length = end_column - column if end_number == number else len(line) - column + 1
            return Place(document.text.spot(start, start + max(length, 0)), caption=caption)
    whole = place(at)
    return Place(whole.origin, whole.route, caption or f"line {number} of the text")
