"""Files with replaced values, and the values that comments protect."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.document import Document
from qcheck.documents.edits import edited
from qcheck.pipeline.rewritten_file import RewrittenFile
from qcheck.pipeline.what_if import Replacement, edit_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.documents.load import Loaded
    from qcheck.findings.suggestions import ValueEdit


def rewritten(edits: Iterable[ValueEdit]) -> list[RewrittenFile]:
    """Return the files with some values replaced, in order of path."""
    by_file: dict[str, list[ValueEdit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    found = []
    for path, mine in sorted(by_file.items()):
        origin = mine[0].place.origin
        assert isinstance(origin, Document)
        changes = {edit_of(Replacement(e.place, e.text)) for e in mine}
        before = origin.text.text
        found.append(RewrittenFile(path=path, before=before, after=edited(before, sorted(changes)), objects=len(mine)))
    return found


def kept_places(files: Iterable[Loaded]) -> frozenset[tuple[str, int]]:
    """Return the lines to which `# qcheck: keep` applies: its own, or the one below a separate comment."""
    found = set()
    for file in files:
        for comment in file.comments("qcheck:"):
            if comment.text.removeprefix("qcheck:").split()[:1] == ["keep"]:
                found.add((file.text.path, comment.line + comment.stands_alone))
    return frozenset(found)
