"""The content of a file as plain data, to send it to another process, and back."""

from __future__ import annotations

from qcheck.documents.document import Document
from qcheck.documents.lines import LineIndex
from qcheck.documents.load import Loaded, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    Plain = tuple[list[tuple[int, object, int, int, int, str | None]], int, list[tuple[int, int]]]
    """Of each document its index, data, start, where its lines begin and end, and what it was rendered from; how many were
    passed over; and where the documents of the file begin and end."""


def as_plain(loaded: Loaded) -> Plain | None:
    """Return None for anything unusual or wrong: the caller handles these."""
    documents = []
    for each in loaded.documents:
        where = each.where
        if not isinstance(where, LineIndex):
            return None
        documents.append((each.index, each.data, each.start, where.begin, where.end, each.rendered_from))
    return None if loaded.faults else (documents, loaded.passed_over, loaded.chunks)


def from_plain(told: Plain, source: bytes, path: str) -> Loaded:
    """The file `source`, of which `told` is known."""
    loaded, _ = decoded(source, path)
    documents, loaded.passed_over, loaded.chunks = told
    for index, data, start, begin, end, rendered_from in documents:
        where = LineIndex(loaded.text.text, begin, end)
        loaded.documents.append(
            Document(text=loaded.text, index=index, data=data, start=start, where=where, rendered_from=rendered_from)
        )
    return loaded
