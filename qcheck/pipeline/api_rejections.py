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

    With many objects, a second process finds those with problems while they are decoded here.
    """
    if len(manifests) < MANY or validate_cluster.has_definitions(manifests):
        return partial(validate_cluster.refused, manifests, target)

    from qcheck.pipeline.second_process import beside  # 0.2 ms

    faulty = beside(lambda: [at for at, each in enumerate(manifests) if validate_cluster.refused([each], target)])

    def wait() -> list[Problem]:
        found = faulty()
        return validate_cluster.refused(manifests if found is None else [manifests[at] for at in found], target)

    return wait
