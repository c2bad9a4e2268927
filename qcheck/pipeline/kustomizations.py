"""The kustomizations among some files: what each takes in and changes, and which no other takes in."""

from __future__ import annotations

import os
import posixpath

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.text import NotText, Text, decode
from qcheck.kinds.kustomize import NAMES, Change, Kustomization, read_kustomization

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor

DEEPEST = 32
"""Kustomizations inside kustomizations."""


class Reached(Value):
    """A file that a kustomization takes in, and the kustomizations that may change its objects on the way."""

    path: str
    through: tuple[Kustomization, ...]

    def change_of(self, found: Cursor) -> Change | None:
        """The first change to an object of the file, from the inside out."""
        changes = (change for each in reversed(self.through) for change in each.changes)
        return next((change for change in changes if change.touches(found)), None)


class Tree:
    """The kustomizations of some texts, by directory. With `within` others are read from below that directory too."""

    def __init__(self, texts: Iterable[Text], within: str | None = None) -> None:
        self._texts = {posixpath.normpath(t.path): t for t in texts}
        self._within = within
        self._members: dict[str, Kustomization | None] = {}
        self.folders = [posixpath.dirname(path) or "." for path in self._texts if posixpath.basename(path) in NAMES]

    def member(self, folder: str) -> Kustomization | None:
        """The kustomization of a directory."""
        if folder not in self._members:
            texts = (self._text(posixpath.normpath(posixpath.join(folder, name))) for name in NAMES)
            text = next((t for t in texts if t is not None), None)
            self._members[folder] = None if text is None else read_kustomization(text, self._text)
        return self._members[folder]

    def members(self) -> list[Kustomization]:
        """Those among the texts."""
        return [found for folder in self.folders if (found := self.member(folder)) is not None]

    def roots(self) -> list[Kustomization]:
        """The members that no other takes in."""
        members = self.members()
        taken = {path for m in members for path in (*m.resources, *m.components)}
        return [m for m in members if m.folder not in taken and not m.is_component]

    def reach(self, top: Kustomization) -> Iterator[Reached]:
        """Every file below a kustomization."""
        return self._reach(top, (), 0)

    def _reach(self, top: Kustomization, above: tuple[Kustomization, ...], depth: int) -> Iterator[Reached]:
        if depth > DEEPEST or top in above:
            return
        parts = [m for path in top.components if (m := self.member(path)) is not None]
        through = (*above, *parts, top)
        for path in (*top.resources, *(p for part in parts for p in part.resources)):
            inner = self.member(path)
            if inner is None:
                yield Reached(path, through)
            else:
                yield from self._reach(inner, through, depth + 1)

    def _text(self, path: str) -> Text | None:
        found = self._texts.get(path)
        if found is None and self._within is not None and not path.startswith(("../", "/")):
            found = _from_disk(os.path.join(self._within, path), path)
        return found


def _from_disk(where: str, path: str) -> Text | None:
    try:
        with open(where, "rb") as file:
            return Text(path, decode(file.read()))
    except (OSError, NotText):
        return None
