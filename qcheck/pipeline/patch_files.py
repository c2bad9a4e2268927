"""Files that contain changes to objects: patches, even those that no kustomization uses."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.decode import roots
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from qcheck.documents.cursor import Cursor
    from qcheck.documents.load import Loaded
    from qcheck.pipeline.kustomizations import KustomizationTree

USED = "a patch of a kustomization: its result is known only after rendering (`render` in the settings)"
UNUSED = "a patch that no kustomization uses: it is not a complete object"
DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/")
"""Prefixes of keys of strategic merge patches, which no object contains."""
DIRECTIVE = r"\$(?:patch|retainKeys|setElementOrder/\w+)[\"']?[ \t]*:"
"""Such a key, preceded only by `BEFORE` on its line."""
BEFORE = r"[ \t-]*[\"']?"
NAMED = r"(?i)(?:^|[-_.])patch(?:es)?(?:[-_.]|$)"
WITH_SELECTOR = frozenset(
    {("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("apps", "ReplicaSet")}
)
"""Kinds with a required spec and a required selector."""
WITH_PODS = WITH_SELECTOR | {("batch", "Job"), ("", "Pod")}
"""Kinds with pods, each with its API group, because other groups have kinds with the same names."""


def patch_files(loaded: Sequence[Loaded]) -> list[files.NotLoaded]:
    """Return the files that kustomizations apply as patches, and other files that do not define complete objects."""
    tree = _kustomizations(loaded)
    found = _used(tree, loaded) if tree else []
    used = {n.path for n in found}
    folders = frozenset(tree.folders) if tree else frozenset[str]()
    others = (f for f in loaded if f.text.path not in used and _is_unused(f, folders))
    return [*found, *(files.NotLoaded(f.text.path, UNUSED, failed=False) for f in others)]


def _kustomizations(loaded: Sequence[Loaded]) -> KustomizationTree | None:
    """Return the kustomizations of some files; None if there is none."""
    if not any("kustomization" in f.text.path.lower() for f in loaded):
        return None
    from qcheck.pipeline.kustomizations import KustomizationTree  # 3 ms

    return KustomizationTree(f.text for f in loaded)


def _used(tree: KustomizationTree, loaded: Sequence[Loaded]) -> list[files.NotLoaded]:
    used = dict.fromkeys(path for member in reversed(tree.members()) for path in member.patch_files)
    present = {posixpath.normpath(f.text.path): f.text.path for f in loaded}
    return [files.NotLoaded(present[p], USED, failed=False) for p in used if p in present]


def _is_unused(file: Loaded, folders: Set[str]) -> bool:
    """Return whether a file is a patch by its text, or by its name or directory if its objects are incomplete."""
    if not file.documents:
        return False
    if _has_directive(file.text.text):
        return True
    if not folders:
        return False
    folder, name = posixpath.split(file.text.path)
    is_named = re.search(NAMED, name) or re.search(NAMED, posixpath.basename(folder))
    if not (posixpath.normpath(folder) in folders or is_named):
        return False
    found = list(objects(file))
    return bool(found) and all(map(_is_incomplete, found))


def _has_directive(text: str) -> bool:
    if not any(start in text for start in DIRECTIVES):
        return False
    before, found = re.compile(BEFORE), re.finditer(DIRECTIVE, text)
    return any(before.fullmatch(text, text.rfind("\n", 0, m.start()) + 1, m.start()) for m in found)


def objects(file: Loaded) -> Iterator[Cursor]:
    """Return the objects of a file."""
    return (found for document in file.documents for found in roots(document))


def group_kind(found: Cursor) -> tuple[str, str]:
    """Return the API group of an object, empty for the core group, and its kind."""
    return found.text_at("apiVersion").rpartition("/")[0], found.text_at("kind")


def _is_incomplete(found: Cursor) -> bool:
    """Return whether an object with pods lacks required fields: its selector, or the images of its containers."""
    spec, kind = found["spec"], group_kind(found)
    if kind not in WITH_PODS or (kind in WITH_SELECTOR and spec["selector"].exists):
        return False
    containers = (spec if kind == ("", "Pod") else spec["template"]["spec"]).items_at("containers")
    return not containers or not all(each["image"].exists for each in containers)
