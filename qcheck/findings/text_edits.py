"""Fixes of findings as text edits, for display or for applying them."""

from __future__ import annotations

from qcheck.cluster.edits import How
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.document import Document
from qcheck.documents.edits import Unsafe, change_of
from qcheck.documents.embedded import EmbeddedDocument
from qcheck.documents.hcl import HclDocument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.edits import Edit, Fix
    from qcheck.cluster.place import Span
    from qcheck.documents.edits import Change


class TextEdit(Value):
    """The replacement of the text between two offsets of a file. `span` is the same range as lines and columns."""

    path: str
    start: int
    end: int
    new: str
    span: Span


class Rewrite(Value):
    """A concrete fix: its changes to the data of documents, and its text edits by file and offset."""

    changes: tuple[tuple[Document, Change], ...]
    edits: tuple[TextEdit, ...]


def rewrite_of(fix: Fix) -> Rewrite | None:
    """Return a fix as text edits; None if one of them cannot be made in place."""
    changes, edits = [], []
    for edit in fix.edits:
        document = _document_of(edit)
        if document is None:
            return None
        change = change_of(edit.how, edit.place.route, edit.text)
        try:
            edits += [_shown(document, start, end, new) for start, end, new in change.edits(document)]
        except Unsafe:
            return None
        changes.append((document, change))
    return Rewrite(tuple(changes), tuple(sorted(edits, key=lambda e: (e.path, e.start, e.end))))


def _document_of(edit: Edit) -> Document | None:
    """Return the document that an edit changes; None if it is not part of a file that a person edits."""
    origin = edit.place.origin
    is_file = isinstance(origin, Document) and not isinstance(origin, EmbeddedDocument) and origin.source is None
    if edit.how is How.REPLACE and isinstance(origin, HclDocument) and not origin.is_literal(edit.place.route):
        return None
    return origin if is_file and isinstance(origin, Document) and origin.has(edit.place.route) else None


def _shown(document: Document, start: int, end: int, new: str) -> TextEdit:
    span = document.text.span(start, end)
    return TextEdit(path=document.path, start=start, end=end, new=new, span=span)


def text_edits(fixes: Iterable[Fix]) -> list[tuple[Fix, tuple[TextEdit, ...]]]:
    """Return the fixes that can be made in place, with their edits."""
    return [(fix, made.edits) for fix in fixes if (made := rewrite_of(fix)) is not None and made.edits]
