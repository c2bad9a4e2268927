"""Usability of free capacity: placeable pods, stranded accelerators and their cause, the FGD measure.

Sources: the placeable count is exact for one shape, because equal nodes do not interact; the expected fragment is
defined by Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), for whole accelerators.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.pods import fits_times
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.cluster.pods import Amounts
    from qcheck.packing.question import Nodes, Pods

REMAINDER = "remainder"
"""The cause of stranding if fewer accelerators are left than a pod requests."""


class Stranded(Value):
    """The accelerators of one class of nodes that pods of one shape leave unused, and the resource that limits them."""

    label: str
    amount: int
    by: str


def placeable(nodes: Iterable[Nodes], request: Amounts) -> int:
    """Return how many pods of one shape fit. An empty request would fit any number of times and counts as 0."""
    return sum(n.count * (fits_times(n.free, request) or 0) for n in nodes)


def fragmentation_rate(nodes: Sequence[Nodes], request: Amounts, accelerator: str) -> Fraction:
    """Return the fraction of free accelerators that pods of this shape cannot use; 0 if none is free."""
    free = sum(n.count * n.free.get(accelerator, 0) for n in nodes)
    used = placeable(nodes, request) * request.get(accelerator, 0)
    return Fraction(free - used, free) if free else Fraction(0)


def stranded(nodes: Iterable[Nodes], request: Amounts, accelerator: str) -> tuple[Stranded, ...]:
    """Return the accelerators stranded on each class of nodes once as many pods of one shape as possible are placed."""
    found = []
    for each in nodes:
        pods = fits_times(each.free, request) or 0
        left = each.free.get(accelerator, 0) - pods * request.get(accelerator, 0)
        if left > 0 and each.count:
            found.append(Stranded(each.label, left * each.count, _stopped_by(each.free, request, pods, accelerator)))
    return tuple(found)


def _stopped_by(free: Amounts, request: Amounts, pods: int, accelerator: str) -> str:
    """Return the resource that is too scarce for one more pod; `REMAINDER` if that is the accelerator."""
    short = [r for r, q in sorted(request.items()) if q and free.get(r, 0) < (pods + 1) * q]
    return REMAINDER if accelerator in short or not short else short[0]


def per_accelerator(free: Amounts, accelerator: str, resource: str) -> int | None:
    """Return the most of `resource` that pods may request per accelerator without stranding any; None without any."""
    devices = free.get(accelerator, 0)
    return free.get(resource, 0) // devices if devices else None


def expected_fragment(nodes: Iterable[Nodes], mix: Sequence[tuple[Pods, int]], accelerator: str) -> Fraction:
    """Return the accelerators that a pod drawn from `mix` (shape, frequency) cannot use, summed over the nodes.

    A node that can take one pod of a shape counts as fully usable for it; any other counts with all its free devices.
    """
    total = sum(frequency for _, frequency in mix)
    lost = 0
    for index, each in enumerate(nodes):
        for pods, frequency in mix:
            if not _can_host(each, index, pods, accelerator):
                lost += frequency * each.count * each.free.get(accelerator, 0)
    return Fraction(lost, total) if total else Fraction(0)


def _can_host(nodes: Nodes, index: int, pods: Pods, accelerator: str) -> bool:
    return pods.request.get(accelerator, 0) > 0 and pods.may_use(index) and bool(fits_times(nodes.free, pods.request))
