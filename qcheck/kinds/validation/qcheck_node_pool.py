"""Checks of qcheck's own node-pool format beyond its description."""

from __future__ import annotations

from itertools import pairwise

from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.validation.queues import amount
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

BOUNDS = ("min", "desired", "max")


def node_pool(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    """Check that a pool has a name, a count that is a number or an ordered range, and values that nodes can have."""
    if not root["metadata"]["name"].text():
        yield refuse(root["metadata"]["name"], "NP-V01", "Required value: findings refer to the pool by its name")
    yield from _values(root["spec"])
    count = root["spec"]["count"]
    for each in [count[b] for b in BOUNDS] if isinstance(count.data, dict) else [count]:
        if each.data is not None and (whole(str(each.data)) is None or isinstance(each.data, bool)):
            or_range = ", or a range" if each.route == count.route else ""
            yield refuse(
                each, "NP-V02", f"Invalid value: {show(each.data)}: must be a whole number, 0 or more{or_range}"
            )
    for key, value in count.mapping():
        if key not in BOUNDS:
            yield refuse(value, "NP-V02", "unknown field: a range has min, desired and max", on_key=True)
    bounds = [(each, number) for b in BOUNDS if (number := (each := count[b]).integer()) is not None]
    for (low, least), (high, most) in pairwise(bounds):
        if least > most:
            text = f"Invalid value: {most}: must be at least {low.route[-1]}, which is {least}"
            yield refuse(high, "NP-V03", text, related=(low.route,))


def _values(spec: Cursor) -> Iterator[Failure]:
    """Check that amounts are not negative, and that labels are plain values."""
    for _, value in spec["allocatable"].mapping():
        quantity = amount(value)
        if quantity is not None and quantity.nanos < 0:
            yield refuse(value, "NP-V04", f"Invalid value: {show(value.data)}: must be 0 or more")
    for _, value in spec["labels"].mapping():
        if isinstance(value.data, (list, dict)):
            yield refuse(value, "NP-V05", f"Invalid value: {show(value.data)}: must be a string")
