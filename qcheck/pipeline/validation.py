"""Validation of all objects of a cluster, by built-in descriptions and by definitions in the inputs."""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.decode import DEFINITION, is_definition, roots
from qcheck.kinds.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qcheck.cluster.problems import Problem
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document
    from qcheck.kinds.validation.target import Target

MANY = 1000
"""The number of objects from which a second process pays for its start."""


def mentions_definition(text: str) -> bool:
    """Return whether a text may define a kind; otherwise, the code for definitions is not imported."""
    return DEFINITION in text


def described_kinds(documents: Iterable[Document]) -> set[tuple[str, str]]:
    """Return the apiVersion and kind of everything that the CustomResourceDefinitions in some documents define."""
    found = [r for d in documents for r in roots(d)]
    if not found:
        return set()
    from qcheck.kinds.crds import definitions  # 0.8 ms

    return {(f"{group}/{version}", kind) for group, version, kind in definitions(found)}


def has_definitions(manifests: list[Cursor]) -> bool:
    """Return whether any object defines a kind, by which the others are then validated."""
    return any(map(is_definition, manifests))


def begin(manifests: list[Cursor], target: Target) -> Callable[[], list[Problem]]:
    """Begin to validate the objects, and return a function that waits for the problems.

    With many objects, a second process looks for those with problems while they are decoded here, and gets help from then on.
    """
    if len(manifests) < MANY or has_definitions(manifests):
        return partial(refused, manifests, target)

    from qcheck.pipeline.second_process import PORTIONS, shared  # 0.2 ms

    def faulty(portion: int) -> list[int]:
        every = range(portion, len(manifests), PORTIONS)
        return [at for at in every if refused([manifests[at]], target)]

    finish = shared(faulty, faulty)

    def wait() -> list[Problem]:
        mine, theirs = finish()
        found = sorted(at for some in (*mine.values(), *theirs.values()) for at in some)
        return refused([manifests[at] for at in found], target)

    return wait


def refused(manifests: list[Cursor], target: Target) -> list[Problem]:
    """Return all problems of some objects."""
    if has_definitions(manifests):
        from qcheck.kinds.crds import validate_all  # 0.8 ms

        return validate_all(manifests, target)
    return [p for r in manifests for p in _with_fixes(r, target, validate(r, target))]


def _with_fixes(root: Cursor, target: Target, problems: tuple[Problem, ...]) -> Iterable[Problem]:
    if not problems:
        return ()
    from qcheck.kinds.rewrite import with_fixes  # 0.6 ms

    return with_fixes(root, target, problems)


def unjudged(manifests: list[Cursor], release: tuple[int, int]) -> list[tuple[str, str]]:
    """Return the rules of definitions that cannot be evaluated here: the definition's file, and the reason."""
    from qcheck.kinds import crds  # 0.8 ms

    return crds.unjudged(manifests, release)
