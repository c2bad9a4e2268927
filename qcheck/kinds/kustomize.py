"""Kustomize patches: files that look like objects and hold only what changes of one."""

from __future__ import annotations

import posixpath

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.cursor import root
from qcheck.documents.load import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.text import Text

NAMES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})


def patches(texts: Iterable[Text]) -> dict[str, str]:
    """Paths of the files that kustomizations among some texts use as patches, each with the kustomization's path."""
    found: dict[str, str] = {}
    for text in texts:
        if posixpath.basename(text.path) in NAMES and "patches" in text.text:
            for document in load(text.text, text.path).documents:
                for path in _paths(root(document)):
                    found.setdefault(posixpath.normpath(posixpath.join(posixpath.dirname(text.path), path)), text.path)
    return found


def _paths(at: Cursor) -> Iterator[str]:
    """`patches` and `patchesJson6902` name files in `path`; `patchesStrategicMerge` lists files, or patches themselves."""
    for field in ("patches", "patchesJson6902"):
        for patch in at[field].items():
            if path := patch["path"].text():
                yield path
    for patch in at["patchesStrategicMerge"].items():
        if (path := patch.text()) and "\n" not in path:
            yield path
