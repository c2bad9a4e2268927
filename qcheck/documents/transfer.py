"""Converts the content of a file to plain data, to send it to another process, and back."""

from __future__ import annotations

from qcheck.documents.document import Document
from qcheck.documents.lines import LineIndex
from qcheck.documents.load import Loaded, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    Plain = tuple[list[tuple[int, object, int, int, int, str | None]], int, list[tuple[int, int]]]
    """The documents, the number of documents skipped, and the start and end of each document of the file.

    A document is its index, data, start, start and end of its lines, and rendering source.
    """


def as_plain(loaded: Loaded) -> Plain | None:
    """Return a file as plain data; None if anything in it is unusual or wrong, which is left to the caller."""
    documents = []
    for each in loaded.documents:
        where = each.where
        if not isinstance(where, LineIndex):
            return None
        documents.append((each.index, each.data, each.start, where.begin, where.end, each.rendered_from))
    return None if loaded.faults else (documents, loaded.passed_over, loaded.chunks)


def from_plain(plain: Plain, source: bytes, path: str) -> Loaded:
    """Return the content of the file `source`, for which `as_plain` returned `plain`."""
    loaded, _ = decoded(source, path)
    documents, loaded.passed_over, loaded.chunks = plain
    for index, data, start, begin, end, rendered_from in documents:
        where = LineIndex(loaded.text.text, begin, end)
        loaded.documents.append(
            Document(text=loaded.text, index=index, data=data, start=start, where=where, rendered_from=rendered_from)
        )
    return loaded
