"""Comparison of two states of the same repository, or of two directories.

from qcheck.pipeline.diff import compare, sides
comparison = compare(*sides("main", None, ["clusters/prod"], settings))
"""

from __future__ import annotations

import os

from qcheck.answers.finding_changes import compared, only_new
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.pipeline.check import changes, checked
from qcheck.pipeline.gather import gather
from qcheck.pipeline.read import unwatched
from qcheck.settings import Settings
from qcheck.settings.load import load_settings
from qcheck.sources import files, git

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from qcheck.answers.finding_changes import Comparison
    from qcheck.findings.result import Result
    from qcheck.pipeline.gather import Gathered
    from qcheck.pipeline.read import Watch


class DiffSide(Value):
    """One state: its name, files and settings; `revision` is set if git holds the files."""

    name: str
    found: files.Found
    settings: Settings
    revision: str | None = None


def sides(base: str, head: str | None, paths: Sequence[str], settings: Settings) -> tuple[DiffSide, DiffSide]:
    """Return the states that `base` and `head` name: directories, else revisions; without `head` the working files.

    The first state is the merge base of the revision and the later state, so that changes made by others in the
    meantime do not count. The current settings apply to both states. Raises `GitError`, `SettingsError`.
    """
    if head is not None and os.path.isdir(base) and os.path.isdir(head):
        return _directory(base), _directory(head)
    root = git.root_of(next(iter(paths), "."))
    commit = _parting(base, head or "HEAD", root)
    before = DiffSide(base, git.discover(commit, paths, root), settings, commit)
    if head is None:
        return before, DiffSide("the working files", files.discover(paths), settings)
    return before, DiffSide(head, git.discover(head, paths, root), settings, head)


def _parting(base: str, head: str, root: str) -> str:
    """Return the merge base of two revisions; `base` itself if they have no common commit."""
    commit = git.commit(base, root)
    try:
        return git.merge_base(base, head, root)
    except git.GitError:
        return commit


def _directory(path: str) -> DiffSide:
    settings = load_settings(path)
    return DiffSide(path, files.discover([path]), settings if settings.path else replace(settings, root=path))


def compare(before: DiffSide, after: DiffSide, watch: Watch = unwatched) -> Comparison:
    """Compare both states. Raises `BaselineError` like `audit`."""
    old, new = gathered(before, watch), gathered(after, watch)
    was = checked(old, replace(before.settings, baseline=None), watch)
    now = checked(new, after.settings, watch, before=old)
    clusters = list(changes(old, new).values())
    return compared((before.name, after.name), was, now, clusters)


def check_since(revision: str, paths: Sequence[str], settings: Settings, watch: Watch = unwatched) -> Result:
    """Return the findings of `check --since`: those that did not exist at the merge base with `revision`."""
    before, after = sides(revision, None, paths, settings)
    old = checked(gathered(before, watch), replace(settings, baseline=None), watch)
    return only_new(old, checked(gathered(after, watch), settings, watch))


def gathered(side: DiffSide, watch: Watch, first: Set[str] = frozenset()) -> Gathered:
    """Return one state as read. Files in git are extracted to a directory for renderers. `first`: see `gather`."""
    if side.revision is None or not side.settings.renders:
        return gather(side.found, side.settings, watch, first)
    root = git.root_of(".")
    with git.laid_out(side.revision, root) as tree:
        here = os.path.join(tree, os.path.relpath(os.path.realpath("."), os.path.realpath(root)))
        return gather(side.found, side.settings, watch, first, within=here)
