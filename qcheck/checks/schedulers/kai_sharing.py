"""QC915: requests for fractions of GPUs that KAI's admission rejects."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.quantity import QuantityError, integer, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import finding
from qcheck.schedulers.kai.jobs import jobs_of
from qcheck.schedulers.kai.requests import GPU_FRACTION, GPU_MEMORY, NUM_DEVICES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import PodTemplate
    from qcheck.findings.finding import Finding

MPS = "mps"
GPU = "nvidia.com/gpu"


class SharingFault(Value):
    """The reason why a pod is rejected, its place, and the fix."""

    place: Place
    why: str
    fix: str


@rule("QC915")
def gpu_sharing_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report pods with annotations for fractions of GPUs that are out of range, combined, or not allowed."""
    for job in jobs_of(cluster):
        for pod_set in job.workload.pod_sets if job.is_scheduled else ():
            faults = list(_faults(pod_set.template))
            for fault in faults[:1]:
                message = f"KAI's admission rejects the pods of {job.workload.id}: {fault.why}"
                found = finding(fault.place, message).about(job.workload.id).fixed_by(fault.fix)
                for other in faults[1:]:
                    found = found.near(other.place, other.why)
                yield found.with_data(annotation=str(fault.place.route[-1]))
            if not faults and _shares(pod_set.template):
                yield from _off(cluster, pod_set.template, str(job.workload.id))


def _shares(template: PodTemplate) -> bool:
    return GPU_FRACTION in template.annotations or GPU_MEMORY in template.annotations


def _faults(template: PodTemplate) -> Iterator[SharingFault]:
    """Yield every fault that the admission reports, in its order."""
    notes = template.annotations
    whole = next((c.place.at("resources", "limits", GPU) for c in template.all_containers() if GPU in c.limits), None)
    if notes.get(MPS) == "true" and not _shares(template):
        yield SharingFault(
            _at(template, MPS), "mps needs gpu-fraction or gpu-memory", f"Add {GPU_FRACTION}, or remove mps."
        )
    for name in (GPU_FRACTION, GPU_MEMORY):
        if name in notes and whole is not None:
            why = f"{name} and a limit of whole GPUs exclude each other"
            yield SharingFault(_at(template, name), why, f"Remove the limit of {GPU}, or the annotation.")
    if GPU_FRACTION in notes and GPU_MEMORY in notes:
        why = "gpu-fraction and gpu-memory exclude each other"
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


def _off(cluster: Cluster, template: PodTemplate, who: str) -> Iterator[Finding]:
    """Report sharing that is off: the settings or the operator's configuration must turn it on."""
    name = next(n for n in (GPU_FRACTION, GPU_MEMORY) if n in template.annotations)
    setting = cluster.policy.kai.gpu_sharing
    config = next(iter(cluster.kai_configs), None)
    on = setting if setting is not None else (config.gpu_sharing if config else None)
    if on:
        return
    is_known = setting is not None or config is not None
    unless = ": GPU sharing is off" if is_known else " unless GPU sharing is enabled, which KAI's chart does not do"
    message = f"KAI's admission rejects the pods of {who}{unless}"
    found = finding(_at(template, name), message)
    if config is not None and setting is None:
        found = found.near(config.place.at("spec", "admission", "gpuSharing"), "disabled unless this is true")
    yield (
        found.likely(not is_known)
        .fixed_by("Set global.gpuSharing of the chart, and kai.gpuSharing: true in qcheck.yaml so that qcheck knows.")
        .with_data(annotation=name)
    )
