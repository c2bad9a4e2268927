"""Usability of free capacity: placeable counts, stranded accelerators and what strands them, the FGD measure.

Sources: the placeable count is exact for one shape, because equal nodes do not interact; the expected fragment is that of
Weng et al., "Beware of Fragmentation" (USENIX ATC 2023), for whole accelerators.
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
"""The accelerators left are fewer than a pod asks for."""


class Stranded(Value):
    """Accelerators of one class of nodes that pods of one shape leave unused, in total, and the resource that stops them."""

    label: str
    amount: int
    by: str


def placeable(nodes: Iterable[Nodes], request: Amounts) -> int:
    """Return how many pods of one shape fit. A request of nothing fits any number of times and counts as 0."""
    return sum(n.count * (fits_times(n.free, request) or 0) for n in nodes)


def fragmentation_rate(nodes: Sequence[Nodes], request: Amounts, accelerator: str) -> Fraction:
    """The part of the free accelerators that pods of this shape cannot use; 0 if none is free."""
    free = sum(n.count * n.free.get(accelerator, 0) for n in nodes)
    used = placeable(nodes, request) * request.get(accelerator, 0)
    return Fraction(free - used, free) if free else Fraction(0)


def stranded(nodes: Iterable[Nodes], request: Amounts, accelerator: str) -> tuple[Stranded, ...]:
    """Return what one shape leaves unused on each class of nodes when it takes all it can."""
    found = []
    for each in nodes:
        pods = fits_times(each.free, request) or 0
        left = each.free.get(accelerator, 0) - pods * request.get(accelerator, 0)
        if left > 0 and each.count:
            found.append(Stranded(each.label, left * each.count, _stopped_by(each.free, request, pods, accelerator)))
    return tuple(found)


def _stopped_by(free: Amounts, request: Amounts, pods: int, accelerator: str) -> str:
    """The resource that is too scarce for one pod more; the accelerator's own rest is what a whole pod does not fill."""
    short = [r for r, q in sorted(request.items()) if q and free.get(r, 0) < (pods + 1) * q]
    return REMAINDER if accelerator in short or not short else short[0]


def per_accelerator(free: Amounts, accelerator: str, resource: str) -> int | None:
    """The most of `resource` that a pod may ask per accelerator so that no accelerator is stranded; None without any."""
    devices = free.get(accelerator, 0)
    return free.get(resource, 0) // devices if devices else None


def expected_fragment(nodes: Iterable[Nodes], mix: Sequence[tuple[Pods, int]], accelerator: str) -> Fraction:
    """Accelerators that a pod drawn from `mix` (shape, frequency) finds unusable, summed over the nodes.

    A node that can take one pod of a shape counts as whole for it; one that cannot counts with all its free devices.
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
