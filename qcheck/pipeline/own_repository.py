"""The repository that contains the inputs, among those that applications of Argo CD and Flux name."""

from __future__ import annotations

import os
import posixpath

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.sources.files import repository
from qcheck.sources.remotes import address, remotes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

    from qcheck.kinds.gitops import GitSource


def by_repository(sources: Iterable[GitSource], folders: Set[str]) -> Iterator[tuple[GitSource, OwnRepository]]:
    """Yield each source with the repository of its application's file; `folders` are those of the inputs."""
    groups: dict[str, list[GitSource]] = {}
    for source in sources:
        groups.setdefault(_root(posixpath.dirname(source.at.origin.path)), []).append(source)
    for root, group in groups.items():
        own = OwnRepository(root, group, folders)
        yield from ((source, own) for source in group)


class OwnRepository:
    """Identifies sources of applications that are directories of the applications' own repository.

    An address counts as another repository only if this is certain: by the remotes of the git repository, else by the
    directories that exist. Forks and mirrors have the same name.
    """

    def __init__(self, root: str, sources: Iterable[GitSource], folders: Set[str]) -> None:
        self.folders = folders
        self.root = root
        named = [s for s in sources if s.path and s.repository and "{{" not in s.repository]
        is_root = root == "." or any(self._in_root(s) in folders for s in named)
        known = remotes(root) if named and is_root else frozenset()
        self._names = {_name(a) for a in known}
        self._hosts = {host for host, _ in known}
        if not known:
            self._names = self._best(named)
        self._is_named = any(_name(address(s.repository)) in self._names for s in named)

    def folder(self, source: GitSource) -> str | None:
        """Return the directory among the inputs that a source deploys; None if it is missing or elsewhere."""
        return None if self.is_elsewhere(source) else self._found(source)

    def is_elsewhere(self, source: GitSource) -> bool:
        """Return whether the directory of a source is certainly in another repository."""
        if not source.repository or "{{" in source.repository:
            return False
        there = address(source.repository)
        return _name(there) not in self._names and (self._is_named or there[0] in self._hosts)

    def exists(self, source: GitSource) -> bool:
        """Return whether the directory exists, among the inputs or not."""
        return any(os.path.isdir(path) for path in self._places(source))

    def _found(self, source: GitSource) -> str | None:
        return next((path for path in self._places(source) if path in self.folders), None)

    def _places(self, source: GitSource) -> tuple[str, ...]:
        """Return possible paths: relative to the root of the repository, and to the working directory."""
        return self._in_root(source), source.path

    def _in_root(self, source: GitSource) -> str:
        return posixpath.normpath(posixpath.join(self.root, source.path))

    def _best(self, sources: Iterable[GitSource]) -> set[str]:
        """Return the name of the repository most of whose directories exist here; none if two are tied."""
        here: dict[str, set[str]] = {}
        away: dict[str, set[str]] = {}
        for source in sources:
            if not source.is_template:
                found = here if self._found(source) else away
                found.setdefault(_name(address(source.repository)), set()).add(source.path)
        ranked = sorted(((name not in away, len(paths)), name) for name, paths in here.items())
        is_clear = len(ranked) == 1 or (ranked and ranked[-1][0] > ranked[-2][0])
        return {ranked[-1][1]} if is_clear else set()


def _name(there: tuple[str, str]) -> str:
    return there[1].rpartition("/")[2]


def _root(folder: str) -> str:
    """Return the root of the git repository that contains a directory, as a relative path; `.` without one."""
    root = repository(os.path.realpath(folder))
    try:
        return "." if root is None else os.path.relpath(root, os.path.realpath(".")).replace(os.sep, "/")
    except ValueError:  # on Windows, if it is on another drive
        return root or "."
