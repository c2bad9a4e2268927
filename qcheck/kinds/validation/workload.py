"""Checks of handwritten (prebuilt) Workloads: WL-C and WL-W."""

from __future__ import annotations

from qcheck.cluster.quantity import integer
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.validation.containers import all_containers
from qcheck.kinds.validation.jobs import gates
from qcheck.kinds.validation.queues import amount
from qcheck.kinds.validation.selectors import annotation_keys, label_map
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

ELASTIC = "kueue.x-k8s.io/elastic-job"
BOOST = "kueue.x-k8s.io/priority-boost"
_KIND_OF_GROUP = {"scheduling.k8s.io": "PriorityClass", "kueue.x-k8s.io": "WorkloadPriorityClass"}


def workload(root: Cursor, target: Target) -> Iterator[Failure]:
    spec = root["spec"]
    yield from _pod_sets(root, spec.items_at("podSets"))
    yield from _priority(spec)
    yield from gates(root, target)
    for pod_set in spec.items_at("podSets"):
        yield from _pod_set(pod_set, target)
    boost = root["metadata"]["annotations"][BOOST]
    if target.has_gate("PriorityBoost") and boost.text() is not None and not _is_int32(boost.text() or ""):
        yield refuse(boost, "WL-W07", f"Invalid value: {show(boost.data)}: must be a 32-bit integer")


def _is_int32(text: str) -> bool:
    number = integer(text)
    return number is not None and -(2**31) <= number < 2**31


def _pod_sets(root: Cursor, pod_sets: list[Cursor]) -> Iterator[Failure]:
    partial = [p["minCount"] for p in pod_sets if p["minCount"].exists]
    for extra in partial[1:]:
        text = "Invalid value: at most one podSet can use minCount"
        yield refuse(extra, "WL-W01", text, on_key=True, related=(partial[0].route,))
    if partial and root["metadata"]["annotations"][ELASTIC].text() == "true":
        yield refuse(partial[0], "WL-W02", "Invalid value: an elastic workload cannot use minCount", on_key=True)


def _priority(spec: Cursor) -> Iterator[Failure]:
    for name in ("priorityClassRef", "priorityClassName"):
        if spec[name].exists and not spec["priority"].exists:
            text = f"Invalid value: priority should not be nil when {name} is set"
            yield refuse(spec[name], "WL-C02", text, on_key=True)
    ref = spec["priorityClassRef"]
    wanted = _KIND_OF_GROUP.get(ref["group"].text() or "")
    if wanted and ref["kind"].text() in _KIND_OF_GROUP.values() and ref["kind"].text() != wanted:
        text = f"Invalid value: only the {wanted} kind is allowed for the {ref['group'].text()} group"
        yield refuse(ref["kind"], "WL-C03", text, f"write {wanted}")


def _pod_set(at: Cursor, target: Target) -> Iterator[Failure]:
    count = at["count"].integer()
    count, minimum = 1 if count is None else count, at["minCount"].integer()
    if minimum is not None and minimum > count:
        text = f"Invalid value: minCount should be positive and less or equal to count: {minimum} > {count}"
        yield refuse(at["minCount"], "WL-C01", text)
    yield from _resources(at["template"]["spec"], target)
    request = at["topologyRequest"]
    if target.has_gate("TASValidateWorkloadSliceSize"):
        yield from _slices(request)
    if target.has_gate("WorkloadValidationForPodSetMetadata"):
        yield from label_map(at["template"]["metadata"]["labels"], "WL-W06")
        yield from annotation_keys(at["template"]["metadata"]["annotations"], "WL-W06")


def _resources(spec: Cursor, target: Target) -> Iterator[Failure]:
    containers = all_containers(spec)
    for holder in (*(c["resources"] for c in containers), spec["resources"]):
        for part in ("requests", "limits"):
            for name, value in holder[part].mapping():
                quantity = amount(value)
                if name == "pods":
                    text = "Invalid value: the key is reserved for internal Kueue use"
                    yield refuse(value, "WL-W03", text, on_key=True)
                elif (
                    quantity is not None
                    and quantity.nanos < 0
                    and target.has_gate("WorkloadValidateResourcesAreNonNegative")
                ):
                    text = f"Invalid value: {show(quantity.text)}: must be greater than or equal to 0"
                    yield refuse(value, "WL-W04", text)


def _slices(request: Cursor) -> Iterator[Failure]:
    level, size = request["podSetSliceRequiredTopology"], request["podSetSliceSize"]
    if level.exists and not size.exists:
        yield refuse(size, "WL-W05", "Required value: must be set when podSetSliceRequiredTopology is specified")
    elif size.exists and not level.exists:
        text = "Forbidden: may not be set when podSetSliceRequiredTopology is not specified"
        yield refuse(size, "WL-W05", text, on_key=True)
