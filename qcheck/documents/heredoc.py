"""The YAML document in a heredoc of an HCL file, with positions in that file."""

from __future__ import annotations

import re

from qcheck.documents import limits
from qcheck.documents.composed import RefusedText
from qcheck.documents.document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.documents.text import Text

HEADER = re.compile(r"<<-?[^\n]*\n")
LAST_LINE = re.compile(r"[^\n]*\Z")
INTERPOLATION = re.compile(r"\$\{(?:[^{}\n]|\{[^{}\n]*\})*\}")
SEPARATOR = re.compile(r"\n[ \t]*---(?:\s|\Z)")


def heredoc_document(text: Text, start: int, end: int) -> Document | None:
    """Return the document in the heredoc at an offset; a word of the same length replaces each interpolation.

    Return None if the text is not YAML (a `%{ for }`, for example) or consists of several documents.
    """
    from qcheck.documents import events  # 10 ms, with ruamel.yaml

    header = HEADER.match(text.text, start, end)
    if header is None:
        return None
    body = INTERPOLATION.sub(lambda found: "x" * len(found[0]), LAST_LINE.sub("", text.text[header.end() : end]))
    if SEPARATOR.search(body):
        return None
    try:
        composed = events.compose(body, header.end(), limits.DEFAULT)
    except RefusedText:
        return None
    return Document(text=text, index=0, data=composed.data, start=composed.start, where=composed.where)
