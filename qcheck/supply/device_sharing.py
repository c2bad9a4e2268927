"""Devices that are advertised more often than they exist: time-slicing, MPS and MIG.

Source: the labels of NVIDIA's GPU Feature Discovery. `nvidia.com/gpu.count` is the number of GPUs under time-slicing
and MPS, but the number of MIG devices under the single strategy.
"""

from __future__ import annotations

from qcheck.cluster.quantity import whole
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARED = "nvidia.com/gpu.shared"


def seen_physical(labels: Mapping[str, str], allocatable: Mapping[str, int]) -> dict[str, int] | None:
    """Return the GPUs behind a node's advertised devices, as far as its labels show; None if nothing is shared."""
    replicas, count = _whole(labels.get("nvidia.com/gpu.replicas")), _whole(labels.get("nvidia.com/gpu.count"))
    resource = SHARED if allocatable.get(SHARED) else GPU
    advertised = allocatable.get(resource, 0)
    if replicas > 1 and advertised:
        return {resource: count if count and count < advertised else -(-advertised // replicas)}
    slices = _whole(labels.get("nvidia.com/gpu.slices.gi"))
    if "-MIG-" in labels.get("nvidia.com/gpu.product", "") and advertised:
        per_gpu = 7 // slices if slices else 7
        return {resource: -(-advertised // per_gpu)}
    return None


def _whole(text: str | None) -> int:
    return whole(text or "") or 0
