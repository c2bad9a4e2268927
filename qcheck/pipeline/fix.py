"""`check --fix`: rewrites files where it is safe, keeping their layout.

An edited file is read again before it is written: it must hold exactly what the changes make of the old one.
"""

from __future__ import annotations

import os

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.edits import Unsafe, changed, edited
from qcheck.documents.load import load
from qcheck.findings.catalogue import load_catalogue
from qcheck.kinds.decode import roots
from qcheck.kinds.refusals.target import Target
from qcheck.kinds.rewrite import changes
from qcheck.pipeline.judge import chosen_rules
from qcheck.pipeline.read import read, unwatched

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document
    from qcheck.documents.edits import Change, Edit
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.read import Watch
    from qcheck.settings import Settings


class Fixed(Value):
    """A file that can be rewritten: its path, its text before and after, and how many objects change."""

    path: str
    before: str
    after: str
    objects: int

    def diff(self) -> str:
        """The change as a unified diff."""
        import difflib

        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            f"a/{self.path}",
            f"b/{self.path}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """As patch(1) sees them: other line separators are characters like any other."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]


FIXED_BY = {
    "QC004": ("unknown-field",),
    "QC005": ("api-version-gone",),
    "QC006": ("api-version-deprecated",),
    "QC008": ("quantity-not-canonical",),
}
"""The rules whose problems can be rewritten away."""


def fixes(paths: Sequence[str], settings: Settings, watch: Watch = unwatched) -> list[Fixed]:
    """What can be rewritten below some paths, of what the settings' rules would report.

    Templates, renders and files that do not parse are left alone.
    """
    loaded, _ = read(paths, settings.limits, watch)
    catalogue = load_catalogue()
    found = []
    for file in loaded:
        scope = next((s for s in settings.scopes if s.holds(file.text.path)), None)
        if scope is not None:
            release = scope.policy.kueue
            rules = {rule.id for rule in chosen_rules(catalogue, settings.rules.with_own(scope.rules))}
            codes = {code for rule, some in FIXED_BY.items() if rule in rules for code in some}
            fixed = _file(file, Target((release.major, release.minor)), codes)
            found += [] if fixed is None else [fixed]
    return found


def _file(found: Loaded, target: Target, codes: Collection[str]) -> Fixed | None:
    if found.faults or not os.path.isfile(found.text.path):
        return None
    edits: list[Edit] = []
    expected: dict[int, object] = {}
    objects = 0
    for document in found.documents:
        for root in roots(document):
            asked, places = _object(document, root, target, codes)
            if asked:
                expected[document.index] = changed(expected.get(document.index, document.data), asked)
                edits += places
                objects += 1
    return _checked(found, edits, expected, objects) if edits else None


def _object(
    document: Document, root: Cursor, target: Target, codes: Collection[str]
) -> tuple[list[Change], list[Edit]]:
    """The changes to one object and their edits; nothing where one of them cannot be made in place."""
    asked = changes(root, target, codes)
    try:
        return asked, [edit for change in asked for edit in change.edits(document)]
    except Unsafe:
        return [], []


def _checked(found: Loaded, edits: list[Edit], expected: dict[int, object], objects: int) -> Fixed | None:
    """The rewritten file, if it reads as it should."""
    text = found.text.text
    try:
        after = edited(text, edits)
    except Unsafe:
        return None
    again = load(after, found.text.path)
    before = load(text, found.text.path)
    wanted = [expected.get(d.index, d.data) for d in before.documents]
    if again.faults or [d.data for d in again.documents] != wanted:
        return None
    return Fixed(found.text.path, text, after, objects)


def write(fixed: Fixed) -> None:
    """Writes a rewritten file over the old one at once. Raises `OSError`."""
    path = os.path.realpath(fixed.path)
    with open(path, "rb") as file:
        raw = file.read()
    bom = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    if raw[len(bom) :].decode("utf-8", "replace") != fixed.before:
        raise OSError(f"{fixed.path} has changed meanwhile, or is not UTF-8")
    temporary = f"{path}.qcheck"
    try:
        with open(temporary, "wb") as file:
            file.write(bom + fixed.after.encode())
        os.chmod(temporary, os.stat(path).st_mode)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
