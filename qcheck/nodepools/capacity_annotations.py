"""Annotations by which machine sets describe their future nodes to the cluster-autoscaler."""

from __future__ import annotations

from qcheck.cluster.quantity import QuantityError, amount, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import Figures, written_taint

if TYPE_CHECKING:
    from qcheck.cluster.labels import Labels, Taint
    from qcheck.documents.cursor import Cursor

CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
OLD_CAPACITY = "machine.openshift.io/"


def annotated_capacity(annotations: Cursor) -> dict[str, int]:
    """Return the capacity of a node stated in annotations, including the resource name and number of GPUs."""
    found: dict[str, int] = {}
    for resource, keys in (("cpu", ("cpu", "vCPU")), ("memory", ("memory",)), ("pods", ("maxPods",))):
        for key in keys:
            text = annotations[CAPACITY + key].amount() or annotations[OLD_CAPACITY + key].amount()
            if text:
                try:
                    found[resource] = amount(resource, parse_quantity(text))
                except QuantityError:
                    continue
    old_memory = Figures().whole(annotations[OLD_CAPACITY + "memoryMb"])
    if old_memory and "memory" not in found:
        found["memory"] = old_memory << 20
    gpus = Figures().whole(annotations[CAPACITY + "gpu-count"]) or Figures().whole(annotations[OLD_CAPACITY + "GPU"])
    if gpus:
        found[annotations[CAPACITY + "gpu-type"].text() or "nvidia.com/gpu"] = gpus
    return found


def annotated_labels(annotations: Cursor) -> Labels:
    text = annotations[CAPACITY + "labels"].text() or ""
    return dict(pair.strip().partition("=")[::2] for pair in text.split(",") if pair)


def annotated_taints(annotations: Cursor) -> tuple[Taint, ...]:
    text = annotations[CAPACITY + "taints"].text() or ""
    return tuple(written_taint(each.strip()) for each in text.split(",") if each)
