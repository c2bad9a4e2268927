"""Devices that pods share: the slots of a node, and the slots that a pod takes.

A device has one slot for each equal part that fits on it, and a pod takes one slot on each of its devices. KAI divides the
memory of a GPU: a node's label states it in MiB, rounded down to hundreds; without the label, KAI assumes 100.

Source: KAI 0.17 `pkg/scheduler/api/node_info`.
"""

from __future__ import annotations

from qcheck.cluster.nodes import GPU_MEMORY_LABEL
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.labels import Labels
    from qcheck.cluster.pods import Amounts, DevicePart, PodTemplate

SLOTS = "slots of shared GPUs"
"""A pseudo-resource: what pods that share devices request."""
_ROUNDED_TO = 100
_ASSUMED = 100
_MOST = 1000
"""A number of pods that no device supports in practice."""


def memory_of_device(labels: Labels) -> int | None:
    """Return the memory of each GPU of a node in MiB, as KAI counts it; None if no label states it."""
    memory = whole(labels.get(GPU_MEMORY_LABEL, ""))
    return None if memory is None else memory - memory % _ROUNDED_TO


def slots(part: DevicePart, devices: int, labels: Labels, at_best: bool) -> int:
    """Return the number of parts that fit on a node's devices; too few devices for a pod count as one slot each."""
    per_device = _per_device(part, memory_of_device(labels), at_best)
    return devices * per_device if devices >= part.devices else devices


def _per_device(part: DevicePart, memory: int | None, at_best: bool) -> int:
    if part.memory:
        if memory is None:
            return _MOST if at_best else 1
        return memory // part.memory
    if memory is not None:
        return _times(part.share, memory)
    known = (_times(part.share, _ASSUMED), int(min(_MOST, 1 / part.share)))
    return max(known) if at_best else min(known)


def _times(share: float, memory: int) -> int:
    one = int(share * memory)
    return min(_MOST, memory // one) if one else _MOST


def slots_requested(template: PodTemplate) -> Amounts:
    """Return the slots that a pod takes; nothing for pods that share no devices."""
    return {SLOTS: template.device_part.devices} if template.device_part is not None else {}


def common_part(templates: Iterable[PodTemplate]) -> DevicePart | None:
    """Return the part for the template that needs the most devices; None if no template shares devices."""
    parts = (t.device_part for t in templates)
    return max((p for p in parts if p is not None), key=lambda p: p.devices, default=None)


def are_comparable(templates: Iterable[PodTemplate]) -> bool:
    """Return whether slots describe all pods: pods that share devices request equal parts, and no others request devices."""
    listed = list(templates)
    parts = {(p.share, p.memory) for t in listed if (p := t.device_part) is not None}
    if not parts:
        return True
    part = common_part(listed)
    whole = any(part is not None and t.amounts().get(part.resource) for t in listed)
    return len(parts) == 1 and not whole
