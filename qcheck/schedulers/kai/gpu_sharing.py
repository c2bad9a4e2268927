"""Requests for parts of GPUs: what KAI's admission rejects, and whether it allows them at all."""

from __future__ import annotations

from qcheck.cluster.quantity import QuantityError, integer, parse_quantity
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.requests import GPU_FRACTION, GPU_MEMORY, NUM_DEVICES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import PodTemplate

MPS = "mps"


class SharingFault(Value):
    """The reason why a pod is rejected, its place, and the fix."""

    place: Place
    why: str
    fix: str


def sharing_is_on(cluster: Cluster) -> bool | None:
    """Return whether GPU sharing is enabled; None if neither the settings nor an operator's configuration exist."""
    setting = cluster.policy.kai.gpu_sharing
    if setting is not None or not cluster.kai_configs:
        return setting
    return bool(cluster.kai_configs[0].gpu_sharing)


def sharing_place(template: PodTemplate) -> Place | None:
    """Return the annotation that asks for a part of a GPU."""
    name = next((n for n in (GPU_FRACTION, GPU_MEMORY) if n in template.annotations), None)
    return None if name is None else _at(template, name)


def _shares(template: PodTemplate) -> bool:
    return GPU_FRACTION in template.annotations or GPU_MEMORY in template.annotations


def sharing_faults(template: PodTemplate) -> Iterator[SharingFault]:
    """Yield every fault that the admission reports, in its order."""
    notes = template.annotations
    whole = next((c.place.at("resources", "limits", GPU) for c in template.all_containers() if GPU in c.limits), None)
    if notes.get(MPS) == "true" and not _shares(template):
        yield SharingFault(
            _at(template, MPS), "mps needs gpu-fraction or gpu-memory", f"Add {GPU_FRACTION}, or remove mps."
        )
    for name in (GPU_FRACTION, GPU_MEMORY):
        if name in notes and whole is not None:
            why = f"{name} and a limit of whole GPUs are mutually exclusive"
            yield SharingFault(_at(template, name), why, f"Remove the limit of {GPU}, or the annotation.")
    if GPU_FRACTION in notes and GPU_MEMORY in notes:
        why = "gpu-fraction and gpu-memory are mutually exclusive"
        yield SharingFault(_at(template, GPU_MEMORY), why, "Keep one of the two annotations.")
    if NUM_DEVICES in notes and not _shares(template):
        why = f"{NUM_DEVICES} needs gpu-fraction or gpu-memory"
        yield SharingFault(_at(template, NUM_DEVICES), why, f"Add {GPU_FRACTION}, or remove the annotation.")
    yield from _out_of_range(template)


def _out_of_range(template: PodTemplate) -> Iterator[SharingFault]:
    notes = template.annotations
    if GPU_MEMORY in notes and not _is_positive(notes[GPU_MEMORY]):
        why = f"gpu-memory {notes[GPU_MEMORY]!r} is not a positive whole number of MiB"
        yield SharingFault(
            _at(template, GPU_MEMORY), why, "Write the MiB of GPU memory that the pod needs, such as 4096."
        )
    if GPU_FRACTION in notes and not _is_part(notes[GPU_FRACTION]):
        why = f"gpu-fraction {notes[GPU_FRACTION]!r} is not a number above 0 and below 1"
        yield SharingFault(
            _at(template, GPU_FRACTION), why, f'Write a fraction such as "0.5", or request whole GPUs as {GPU}.'
        )
    if NUM_DEVICES in notes and not _is_positive(notes[NUM_DEVICES]):
        why = f"{NUM_DEVICES} {notes[NUM_DEVICES]!r} is not a positive whole number"
        yield SharingFault(_at(template, NUM_DEVICES), why, "Write the number of GPUs that the pod uses a part of.")


def _is_positive(text: str) -> bool:
    number = integer(text) if text[:1].isdigit() else None
    return number is not None and number > 0


def _is_part(text: str) -> bool:
    """Return whether a text is both a decimal number in (0, 1) and a quantity, so without a suffix."""
    try:
        part = parse_quantity(text)
        return 0 < float(text) < 1 and part.nanos > 0
    except (QuantityError, ValueError):
        return False


def _at(template: PodTemplate, name: str) -> Place:
    return template.metadata_place.at("annotations", name)
