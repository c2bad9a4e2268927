"""Partial admission: the sizes between all pods of a workload and its minimum, in Kueue's search order.

Source: Kueue 0.19 `pkg/scheduler/flavorassigner/podset_reducer.go`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from qcheck.cluster.workloads import PodSet

    Found = TypeVar("Found")


def spare_pods(pod_sets: tuple[PodSet, ...]) -> list[int]:
    """Return how many pods each pod set can do without; empty if none can."""
    spare = [p.count - (p.count if p.minimum is None else p.minimum) for p in pod_sets]
    return spare if sum(spare) > 0 else []


def reduced_counts(pod_sets: tuple[PodSet, ...], step: int) -> tuple[int, ...]:
    """Return the number of pods of each pod set at a step: 0 is all pods, the number of spare pods is the minimum."""
    spare = spare_pods(pod_sets)
    total = sum(spare)
    if not total:
        return tuple(p.count for p in pod_sets)
    return tuple(p.count - each * step // total for p, each in zip(pod_sets, spare, strict=True))


def first_fitting(most: int, fits: Callable[[int], Found | None]) -> Found | None:
    """Return the result of the first step up to `most` that fits. As in Kueue, bisection may miss a larger size."""
    low, high = 0, most + 1
    best: Found | None = None
    while low < high:
        middle = (low + high) // 2
        found = fits(middle)
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best
