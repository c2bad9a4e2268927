"""Rejections by the API server; with many objects, a second process judges most of them."""

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
SHARE = 4
"""One of this many objects is judged here, while all are decoded."""


def begin(manifests: list[Cursor], target: Target) -> Callable[[], list[Problem]]:
    """Begin to judge the objects, and return a function that waits for the problems.

    With many objects, a second process finds those with problems while they are decoded here.
    """
    if len(manifests) < MANY or validate_cluster.has_definitions(manifests):
        return partial(validate_cluster.refused, manifests, target)

    from qcheck.pipeline.second_process import beside  # 0.2 ms

    def problems(at: int) -> list[Problem]:
        return validate_cluster.refused([manifests[at]], target)

    mine, theirs = range(0, len(manifests), SHARE), [at for at in range(len(manifests)) if at % SHARE]
    faulty = beside(lambda: [at for at in theirs if problems(at)])

    def wait() -> list[Problem]:
        found = {at: problems(at) for at in mine}
        told = faulty()
        found |= {at: problems(at) for at in (theirs if told is None else told)}
        return [problem for at in sorted(found) for problem in found[at]]

    return wait
