"""Checks of qcheck's own node-pool format beyond its description."""

from __future__ import annotations

from itertools import pairwise

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

BOUNDS = ("min", "desired", "max")


def node_pool(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    """Check that a pool has a name, and that its count is a number or an ordered range."""
    if not root["metadata"]["name"].text():
        yield refuse(root["metadata"]["name"], "NP-V01", "Required value: findings refer to the pool by its name")
    count = root["spec"]["count"]
    for key, value in count.mapping():
        if key not in BOUNDS:
            yield refuse(value, "NP-V02", "unknown field: a range has min, desired and max", on_key=True)
    bounds = [(each, number) for b in BOUNDS if (number := (each := count[b]).integer()) is not None]
    for (low, least), (high, most) in pairwise(bounds):
        if least > most:
            text = f"Invalid value: {most}: must be at least {low.route[-1]}, which is {least}"
            yield refuse(high, "NP-V03", text, related=(low.route,))
