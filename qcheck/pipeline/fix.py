"""`check --fix`: safe rewriting of files that keeps their layout.

An edited file is read again before it is written: its data must be the old data with the changes applied. All edits are
made in memory first, so that `--diff` shows what `--fix` writes.
"""

from __future__ import annotations

import os

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.document import Document
from qcheck.documents.edits import Unsafe, changed, edited
from qcheck.documents.load import load
from qcheck.findings.text_edits import rewrite_of
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import collect, modelled
from qcheck.pipeline.rewritten_file import RewrittenFile
from qcheck.pipeline.what_if import with_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qcheck.cluster.edits import Fix
    from qcheck.documents.edits import Change, Edit
    from qcheck.documents.load import Loaded
    from qcheck.documents.text import Route
    from qcheck.findings.result import Result
    from qcheck.findings.text_edits import Rewrite, TextEdit
    from qcheck.pipeline.read import Watch
    from qcheck.settings import Settings

MOST_ROUNDS = 10
"""The number of rounds without a newly edited file after which the remaining fixes are abandoned."""
SUPPRESSION = "qcheck: ignore"
"""The text of every comment that suppresses findings."""


def fixed_files(paths: Sequence[str], settings: Settings, watch: Watch) -> list[RewrittenFile]:
    """Return the files that the safe fixes of all findings change, after the last fix, in order of path.

    Fixes are applied in rounds: one round applies only one of several fixes of the same text, and finds an object that
    several files define differently in only one of them. Raises `BaselineError` like `audit`.
    """
    read = collect(paths, settings, watch)
    made: dict[str, RewrittenFile] = {}
    rounds = 0
    while rounds < MOST_ROUNDS:
        found = rewritten(checked(modelled(read, settings, watch), settings, watch), read.loaded)
        found += _copies(found, read.loaded)
        if not found:
            break
        rounds += all(each.path in made for each in found)
        for each in found:
            first = made.get(each.path, each)
            made[each.path] = replace(each, before=first.before, objects=max(each.objects, first.objects))
        read = with_texts(read, {each.path: each.after for each in found}, settings.limits)
    return [made[path] for path in sorted(made)]


def _copies(found: Sequence[RewrittenFile], files: Iterable[Loaded]) -> list[RewrittenFile]:
    """Return the same changes for identical files. This covers Terraform files, which have no documents to compare."""
    by_text = {fixed.before: fixed for fixed in found}
    changed = {fixed.path for fixed in found}
    paths = {f.text.path: f.text.text for f in files if f.text.text in by_text and f.text.path not in changed}
    return [replace(by_text[text], path=path) for path, text in paths.items() if os.path.isfile(path)]


def _with_copies(fix: Fix, documents: Mapping[str, Sequence[Document]]) -> Iterator[Fix]:
    """Yield a fix, and the same fix of each document that repeats the fixed one, in files without suppressions."""
    yield fix
    origins = {id(edit.place.origin): edit.place.origin for edit in fix.edits}
    original = next(iter(origins.values()), None)
    if len(origins) > 1 or not isinstance(original, Document):
        return
    for document in documents.get(_title(original), ()):
        is_other = (document.path, document.index) != (original.path, original.index)
        if is_other and document.data == original.data and SUPPRESSION not in document.text.text:
            edits = [replace(e, place=Place(document, e.place.route, on_key=e.place.on_key)) for e in fix.edits]
            yield replace(fix, edits=tuple(edits))


def _title(document: Document) -> str:
    """Return a key that copies of a document share and that most other documents do not have."""
    data = document.data
    return f"{data.get('kind')} {data.get('metadata')}" if isinstance(data, dict) else ""


def rewritten(result: Result, files: Iterable[Loaded] = ()) -> list[RewrittenFile]:
    """Return the files that the safe fixes of some findings change in one round, in all copies of an object alike.

    Suppressed findings are ignored, and so are rendered files and files that do not parse.
    """
    by_file: dict[str, list[Rewrite]] = {}
    safe = [fix for found in (*result.counted, *result.baselined, *result.older) for fix in found.fixes if fix.is_safe]
    documents: dict[str, list[Document]] = {}
    for document in (d for file in (files if safe else ()) for d in file.documents):
        documents.setdefault(_title(document), []).append(document)
    for fix in safe:
        for copy in _with_copies(fix, documents):
            rewrite = rewrite_of(copy)
            if rewrite is not None and rewrite.edits:
                by_file.setdefault(rewrite.edits[0].path, []).append(rewrite)
    done = (_file(path, rewrites) for path, rewrites in sorted(by_file.items()) if os.path.isfile(path))
    return [fixed for fixed in done if fixed is not None]


def _file(path: str, rewrites: Sequence[Rewrite]) -> RewrittenFile | None:
    """Return the file after all its fixes; of two that touch the same text, the later one is omitted."""
    taken: list[TextEdit] = []
    asked: dict[int, list[Change]] = {}
    objects: set[tuple[int, Route]] = set()
    for rewrite in rewrites:
        if any((e.start < t.end and t.start < e.end) or e == t for e in rewrite.edits for t in taken):
            continue
        taken += rewrite.edits
        for document, change in rewrite.changes:
            asked.setdefault(document.index, []).append(change)
            objects.add((document.start, _object_route(change.route)))
    text = rewrites[0].changes[0][0].text.text
    return _checked(path, text, [(e.start, e.end, e.new) for e in taken], asked, len(objects))


def _object_route(route: Route) -> Route:
    """Return the part of a route that leads to the object: the route of the item in a List or list; empty otherwise."""
    return route[:2] if route[:1] == ("items",) else tuple(step for step in route[:1] if isinstance(step, int))


def _checked(
    path: str, text: str, edits: list[Edit], asked: dict[int, list[Change]], objects: int
) -> RewrittenFile | None:
    """Return the rewritten file if it reads as expected."""
    try:
        after = edited(text, edits)
    except Unsafe:
        return None
    before, again = load(text, path), load(after, path)
    wanted = [changed(d.data, asked.get(d.index, [])) for d in before.documents]
    if before.faults or again.faults or [d.data for d in again.documents] != wanted:
        return None
    return RewrittenFile(path, text, after, objects)
