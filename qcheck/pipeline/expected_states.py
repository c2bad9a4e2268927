"""Files with the expected state of objects, for a test or a policy. They contain parts of objects and are not applied.

Sources: the operations and file names of Chainsaw (kyverno.github.io/chainsaw) and KUTTL (kuttl.dev).
"""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.pipeline.patch_files import WITH_SELECTOR, group_kind, objects
from qcheck.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qcheck.documents.load import Loaded

OF_A_TEST = "a file of a Chainsaw or KUTTL test, with only the parts of objects that the test expects or changes"
OF_A_STATUS = "an expected state (a status without a spec), not a complete object"
CHAINSAW = "chainsaw.kyverno.io/"
"""The API group of Chainsaw's tests."""
APPLYING = ("apply", "create")
"""Operations of a test that create the objects in their files."""
PARTIAL = ("assert", "error", "patch", "update", "delete")
"""Operations of a test whose files contain only parts of objects, which are compared or changed."""
BINDING = re.compile(r"^[^\n#]*:[ \t]*[\"']?\(\$\w", re.MULTILINE)
"""A value that Chainsaw computes, such as `($namespace)`."""
STEP = re.compile(r"\d+-(?:(?:assert|errors)[-.]|error\.)")
"""The start of the file name of a test step that only compares objects."""


def expected_states(loaded: Sequence[Loaded]) -> list[files.NotLoaded]:
    """Return the files whose objects are expectations of tests, or only the status of an object."""
    tests = [file for file in loaded if CHAINSAW in file.text.text]
    texts = {posixpath.normpath(file.text.path): file.text.text for file in loaded} if tests else {}
    of_tests = frozenset(path for test in tests for path in _compared(test, texts))
    found = []
    for file in loaded:
        path = file.text.path
        if posixpath.normpath(path) in of_tests or STEP.match(posixpath.basename(path)):
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
    yield from (path for path in applied if BINDING.search(texts.get(path, "")))


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


def _is_only_a_status(file: Loaded) -> bool:
    """Return whether every object of a file has a status but no spec, although its kind requires one."""
    found = list(objects(file))
    return bool(found) and all(
        group_kind(each) in WITH_SELECTOR and each["status"].exists and not each["spec"].exists for each in found
    )
