"""The kustomizations among some files: their inputs, the objects they change, and the roots."""

from __future__ import annotations

import os
import posixpath

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.load import load
from qcheck.documents.text import NotText, Text, decode
from qcheck.kinds.decode import roots
from qcheck.kinds.kustomize import NAMES, Kustomization, KustomizeChange, read_kustomization
from qcheck.nodepools.formats import describes_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document

DEEPEST = 32
"""The maximum nesting of kustomizations."""
OF_METADATA = frozenset({"namespace", "commonLabels", "labels"})
"""Fields that change only the metadata of an object that describes nodes, not the nodes themselves."""
MOST_REACHED = 10_000
"""The maximum number of paths from one kustomization to others, in addition to one path to each."""


class Reached(Value):
    """A file that a kustomization includes, and the kustomizations on the way that may change its objects."""

    path: str
    through: tuple[Kustomization, ...]

    def changes_of(self, found: Cursor) -> list[KustomizeChange]:
        """Return the changes to an object of the file, in the order in which they are made."""
        changes = (change for each in reversed(self.through) for change in each.changes)
        touching = [change for change in changes if change.touches(found)]
        if touching and describes_nodes(found):
            return [change for change in touching if not (change.test and change.what in OF_METADATA)]
        return touching


class Source(Value):
    """An object below a kustomization as written, and the patches that apply to it, the last one first."""

    found: Cursor
    patches: tuple[Document, ...]

    def may_become(self, rendered: Cursor) -> bool:
        """Return whether a rendered object may come from it: its name may have an extra prefix or suffix."""
        if self.found.text_at("kind") != rendered.text_at("kind"):
            return False
        name, made = self.found["metadata"].text_at("name"), rendered["metadata"].text_at("name")
        return bool(name) and (made.startswith(name) or made.endswith(name) or f"-{name}-" in made)


class KustomizationTree:
    """The kustomizations of some texts, by directory. With `within`, others are read from below that directory too."""

    def __init__(self, texts: Iterable[Text], within: str | None = None) -> None:
        self._texts = {posixpath.normpath(t.path): t for t in texts}
        self._within = within
        self._members: dict[str, Kustomization | None] = {}
        self.incomplete: dict[str, Kustomization] = {}
        """Kustomizations for which `reach` did not yield all files, by path."""
        self.folders = [posixpath.dirname(path) or "." for path in self._texts if posixpath.basename(path) in NAMES]

    def member(self, folder: str) -> Kustomization | None:
        """Return the kustomization of a directory."""
        if folder not in self._members:
            texts = (self._text(posixpath.normpath(posixpath.join(folder, name))) for name in NAMES)
            text = next((t for t in texts if t is not None), None)
            self._members[folder] = None if text is None else read_kustomization(text, self._text)
        return self._members[folder]

    def members(self) -> list[Kustomization]:
        """Return the kustomizations among the texts."""
        return [found for folder in self.folders if (found := self.member(folder)) is not None]

    def broken(self) -> list[Text]:
        """Return the kustomization files that cannot be read."""
        files = (path for path in self._texts if posixpath.basename(path) in NAMES)
        return [self._texts[path] for path in files if self.member(posixpath.dirname(path) or ".") is None]

    def roots(self) -> list[Kustomization]:
        """Return the members that no other member includes."""
        members = self.members()
        taken = {path for m in members for path in (*m.resources, *m.components)}
        return [m for m in members if m.folder not in taken and not m.is_component]

    def reach(self, top: Kustomization) -> Iterator[Reached]:
        """Yield every file below a kustomization, once for each path to it. Beyond the limits, it is `incomplete`."""
        allowed = iter(range(MOST_REACHED + len(self.folders)))
        for reached in self._reach(top, (), 0, allowed):
            if reached is None:
                self.incomplete[top.path] = top
            else:
                yield reached

    def _reach(
        self, top: Kustomization, above: tuple[Kustomization, ...], depth: int, allowed: Iterator[int]
    ) -> Iterator[Reached | None]:
        """Yield the files below a kustomization; None for one that is not followed."""
        if top in above:
            return
        if depth > DEEPEST or next(allowed, None) is None:
            yield None
            return
        parts = [m for path in top.components if (m := self.member(path)) is not None]
        through = (*above, *parts, top)
        for path in (*top.resources, *(p for part in parts for p in part.resources)):
            inner = self.member(path)
            if inner is None:
                yield Reached(path, through)
            else:
                yield from self._reach(inner, through, depth + 1, allowed)

    def sources(self, top: Kustomization) -> Iterator[Source]:
        """Yield every object below a kustomization, with the patches that apply to it."""
        for reached in self.reach(top):
            text = self._text(reached.path)
            for document in load(text.text, text.path).documents if text else ():
                for found in roots(document):
                    patches = [p for change in reversed(reached.changes_of(found)) for p in change.patches]
                    yield Source(found, tuple(patches))

    def _text(self, path: str) -> Text | None:
        found = self._texts.get(path)
        if found is None and self._within is not None and not path.startswith(("../", "/")):
            found = _from_disk(os.path.join(self._within, path), path)
        return found


def _from_disk(where: str, path: str) -> Text | None:
    if not os.path.isfile(where):
        return None
    try:
        with open(where, "rb") as file:
            return Text(path, decode(file.read()))
    except (OSError, NotText):
        return None
