"""Requests of one pod for the resources that KAI divides: whole GPUs, fractions, MIG slices, cpu and memory.

GPU memory (`gpu-memory`, in MiB) corresponds to a fraction that depends on the node, so it counts as 0 here; the gates add
it as a part of the largest GPU.
"""

from __future__ import annotations

import re
from fractions import Fraction

from qcheck.cluster.kai import Dimension
from qcheck.cluster.pods import DevicePart
from qcheck.cluster.quantity import QuantityError, parse_quantity, whole
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import PodTemplate

GPU_FRACTION = "gpu-fraction"
GPU_MEMORY = "gpu-memory"
NUM_DEVICES = "gpu-fraction-num-devices"
MIG = re.compile(r"nvidia\.com/mig-(\d{1,9})g\.")
"""A MIG slice counts as its number of compute slices."""


class Request(Value):
    """Amounts per pod in base units, and the place of each."""

    amounts: dict[Dimension, Fraction]
    places: dict[Dimension, Place]


def request_of(template: PodTemplate) -> Request:
    """Return the requests of a pod of a template."""
    amounts = dict.fromkeys(Dimension, Fraction(0))
    places = dict.fromkeys(Dimension, template.place)
    for resource, amount in template.amounts().items():
        dimension, worth = _counted(resource)
        if dimension is not None and amount:
            amounts[dimension] += worth * amount
            places[dimension] = template.place_of(resource)
    fraction = _fraction(template)
    if fraction:
        amounts[Dimension.GPU] += fraction
        places[Dimension.GPU] = template.metadata_place.at("annotations", GPU_FRACTION)
    return Request(amounts, places)


def _counted(resource: str) -> tuple[Dimension | None, int]:
    """Return the dimension in which a resource counts, and the amount that one unit counts."""
    if resource in ("cpu", "memory"):
        return Dimension(resource), 1
    if resource == GPU:
        return Dimension.GPU, 1
    mig = MIG.match(resource)
    return (Dimension.GPU, int(mig[1])) if mig else (None, 0)


def _fraction(template: PodTemplate) -> Fraction:
    """Return the fraction of GPUs that annotations request; 0 without them, or if they are not numbers."""
    try:
        part = parse_quantity(template.annotations.get(GPU_FRACTION, "0"))
    except QuantityError:
        return Fraction(0)
    return Fraction(part.nanos, 10**9) * _devices(template)


def _devices(template: PodTemplate) -> int:
    devices = whole(template.annotations.get(NUM_DEVICES, "1"))
    return 1 if devices is None else devices


def memory_of(template: PodTemplate) -> int:
    """Return the GPU memory that annotations request on each device, in MiB; 0 without it."""
    return whole(template.annotations.get(GPU_MEMORY, "0")) or 0


def whole_memory(template: PodTemplate) -> int:
    """Return the GPU memory of all devices of a pod, in MiB."""
    return memory_of(template) * _devices(template)


def device_part(template: PodTemplate) -> DevicePart | None:
    """Return the part of GPUs that annotations request; None without one that KAI's admission accepts."""
    notes, memory = template.annotations, memory_of(template)
    if memory and _devices(template):
        at = template.metadata_place.at("annotations", GPU_MEMORY)
        return DevicePart(resource=GPU, devices=_devices(template), place=at, memory=memory)
    try:
        share = float(notes.get(GPU_FRACTION, "0"))
    except ValueError:
        return None
    if not 0 < share < 1 or not _devices(template):
        return None
    at = template.metadata_place.at("annotations", GPU_FRACTION)
    return DevicePart(resource=GPU, devices=_devices(template), place=at, share=share)
