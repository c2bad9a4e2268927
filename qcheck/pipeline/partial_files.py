"""Files with partial objects that are not applied: patches, and the expected objects of tests and policies.

Sources: the operations and file names of Chainsaw (kyverno.github.io/chainsaw) and KUTTL (kuttl.dev).
"""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.kinds.decode import roots
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

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
OF_A_TEST = "a file of a Chainsaw or KUTTL test, with only the parts of objects that the test expects or changes"
OF_A_STATUS = "an expected state (a status without a spec), not a complete object"
CHAINSAW = "chainsaw.kyverno.io/"
"""The API group of Chainsaw's tests."""
APPLYING = ("apply", "create")
"""Operations of a test that create the objects in their files."""
PARTIAL = ("assert", "error", "patch", "update", "delete")
"""Operations of a test whose files contain only parts of objects, which are compared or changed."""
BINDING = r"(?m)^[^\n#]*:[ \t]*[\"']?\(\$\w"
"""A value that Chainsaw computes, such as `($namespace)`."""
EXPRESSION = BINDING + r"|^[ \t-]*[\"']?\([^\n]*\)[\"']?[ \t]*:"
"""The same, or a key that Chainsaw evaluates, such as `(containers[?name == 'a'])`."""
STEP = r"\d+-(?:(?:assert|errors)[-.]|error\.)"
"""The start of the file name of a test step that only compares objects."""


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
    found = list(_objects(file))
    return bool(found) and all(_is_incomplete(each) or (is_named and _lacks_selector(each)) for each in found)


def _lacks_selector(found: Cursor) -> bool:
    return _group_kind(found) in WITH_SELECTOR and not found["spec"]["selector"].exists


def _has_directive(text: str) -> bool:
    if not any(start in text for start in DIRECTIVES):
        return False
    before, found = re.compile(BEFORE), re.finditer(DIRECTIVE, text)
    return any(before.fullmatch(text, text.rfind("\n", 0, m.start()) + 1, m.start()) for m in found)


def _is_incomplete(found: Cursor) -> bool:
    """Return whether an object with pods lacks required fields: its selector, or the images of its containers."""
    spec, kind = found["spec"], _group_kind(found)
    if kind not in WITH_PODS or (kind in WITH_SELECTOR and spec["selector"].exists):
        return False
    containers = (spec if kind == ("", "Pod") else spec["template"]["spec"]).items_at("containers")
    return not containers or not all(each["image"].exists for each in containers)


def expected_states(loaded: Sequence[Loaded]) -> list[files.NotLoaded]:
    """Return the files whose objects are expectations of tests, or only the status of an object."""
    tests = [file for file in loaded if CHAINSAW in file.text.text]
    texts = {posixpath.normpath(file.text.path): file.text.text for file in loaded} if tests else {}
    of_tests = frozenset(path for test in tests for path in _compared(test, texts))
    found = []
    for file in loaded:
        path = file.text.path
        name = posixpath.basename(path)
        is_step = ("assert" in name or "error" in name) and re.match(STEP, name)
        if is_step or posixpath.normpath(path) in of_tests or _has_expressions(file):
            found.append(files.NotLoaded(path, OF_A_TEST, failed=False))
        elif "\nstatus:" in file.text.text and _is_only_a_status(file):
            found.append(files.NotLoaded(path, OF_A_STATUS, failed=False))
    return found


def _compared(test: Loaded, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the files that a Chainsaw test compares or changes, and applied files that contain computed values."""
    folder = posixpath.dirname(test.text.path)
    named = [
        (operation, posixpath.normpath(posixpath.join(folder, name)))
        for document in load(test.text.text, test.text.path).documents
        for operation, name in _operations(document.data)
    ]
    applied = {path for operation, path in named if operation in APPLYING}
    yield from (path for operation, path in named if operation in PARTIAL and path not in applied)
    yield from (path for path in applied if re.search(BINDING, texts.get(path, "")))


def _operations(data: object) -> Iterator[tuple[str, str]]:
    """Yield each operation of a test with the file that it names."""
    if isinstance(data, list):
        yield from (found for each in data for found in _operations(each))
    elif isinstance(data, dict):
        for key, value in data.items():
            if key in (*APPLYING, *PARTIAL) and isinstance(value, dict) and isinstance(value.get("file"), str):
                yield str(key), value["file"]
            else:
                yield from _operations(value)


def _has_expressions(file: Loaded) -> bool:
    """Return whether an object has names or keys that a test computes; no applied object can have them."""
    if "(" not in file.text.text or re.search(EXPRESSION, file.text.text) is None:
        return False
    return any(any(map(_is_computed, _named(each))) or _has_key(each.data) for each in _objects(file))


def _named(found: Cursor) -> Iterator[str]:
    """Yield the name, the namespace and the labels of an object."""
    metadata = found["metadata"]
    yield from (metadata.text_at("name"), metadata.text_at("namespace"))
    labels = metadata["labels"].data
    yield from (v for v in labels.values() if isinstance(v, str)) if isinstance(labels, dict) else ()


def _has_key(data: object) -> bool:
    """Return whether any key below is an expression."""
    if isinstance(data, list):
        return any(map(_has_key, data))
    return isinstance(data, dict) and (any(_is_computed(str(key)) for key in data) or any(map(_has_key, data.values())))


def _is_computed(text: str) -> bool:
    return text.startswith("(") and text.endswith(")")


def _is_only_a_status(file: Loaded) -> bool:
    """Return whether every object of a file has a status but no spec, although its kind requires one."""
    found = list(_objects(file))
    return bool(found) and all(
        _group_kind(each) in WITH_SELECTOR and each["status"].exists and not each["spec"].exists for each in found
    )


def _objects(file: Loaded) -> Iterator[Cursor]:
    """Return the objects of a file."""
    return (found for document in file.documents for found in roots(document))


def _group_kind(found: Cursor) -> tuple[str, str]:
    """Return the API group of an object, empty for the core group, and its kind."""
    return found.text_at("apiVersion").rpartition("/")[0], found.text_at("kind")
