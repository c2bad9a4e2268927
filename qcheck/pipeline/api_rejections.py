"""Rejections by the API server; with many objects, a second process finds those that have any."""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds import validate_cluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.problems import Problem
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.validation.target import Target

MANY = 1000
"""The number of objects from which a second process pays for its start."""


def begin(manifests: list[Cursor], target: Target) -> Callable[[], list[Problem]]:
    """Begin to validate the objects, and return a function that waits for the problems.

    With many objects, a second process looks for those with problems while they are decoded here, and gets help from then on.
    """
    if len(manifests) < MANY or validate_cluster.has_definitions(manifests):
        return partial(validate_cluster.refused, manifests, target)

    from qcheck.pipeline.second_process import PORTIONS, shared  # 0.2 ms

    def faulty(portion: int) -> list[int]:
        every = range(portion, len(manifests), PORTIONS)
        return [at for at in every if validate_cluster.refused([manifests[at]], target)]

    finish = shared(faulty, faulty)

    def wait() -> list[Problem]:
        mine, theirs = finish()
        found = sorted(at for some in (*mine.values(), *theirs.values()) for at in some)
        return validate_cluster.refused([manifests[at] for at in found], target)

    return wait
