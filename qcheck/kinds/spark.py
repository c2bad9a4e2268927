"""Group `sparkoperator.k8s.io`: SparkApplication, whose pods are described in Spark's own terms."""

from __future__ import annotations

from qcheck.cluster.pods import Container
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workloads import PodSet
from qcheck.kinds.core import queued
from qcheck.kinds.pod_sets import pod_sets
from qcheck.kinds.pods import container, pod_template, topology_request
from qcheck.kinds.shared_fields import node_selection, place, quantity, tolerations

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.cluster.pods import PodTemplate, Quantities
    from qcheck.cluster.quantity import Quantity
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.pod_sets import WrittenPodSet

_UNITS = {"k": "Ki", "kb": "Ki", "m": "Mi", "mb": "Mi", "g": "Gi", "gb": "Gi", "t": "Ti", "tb": "Ti"}


def spark_application(root: Cursor) -> Object:
    return queued(root, "sparkoperator.k8s.io/sparkapplication", root, tuple(map(_pod_set, pod_sets(root))))


def _pod_set(written: WrittenPodSet) -> PodSet:
    template = _template(written.holder or written.template)
    return PodSet(
        written.name, template, written.count or 0, place(written.count_at), topology=topology_request(template)
    )


def _template(at: Cursor) -> PodTemplate:
    """Return the pod that the operator builds: cpu from `coreRequest` and `coreLimit`, memory without overhead."""
    main = Container(
        "spark",
        place(at),
        _given(cpu=quantity(at["coreRequest"]), memory=spark_memory(at["memory"].text())),
        _given(cpu=quantity(at["coreLimit"]), memory=spark_memory(at["memoryLimit"].text())) | _devices(at["gpu"]),
    )
    return replace(
        pod_template(at["template"]),
        place=place(at),
        labels=at["labels"].strings(),
        annotations=at["annotations"].strings(),
        metadata_place=place(at),
        containers=(main, *(container(c) for c in at.items_at("sidecars"))),
        init_containers=tuple(container(c) for c in at.objects_at("initContainers")),
        selection=node_selection(at),
        tolerations=tolerations(at["tolerations"]),
        priority_class=at["priorityClassName"].text() or None,
    )


def _given(**amounts: Quantity | None) -> Quantities:
    return {name: amount for name, amount in amounts.items() if amount is not None}


def _devices(at: Cursor) -> Quantities:
    name, many = at["name"].text(), quantity(at["quantity"])
    return {name: many} if name and many is not None and many.nanos > 0 else {}


def spark_memory(text: str | None) -> Quantity | None:
    """Return memory as the JVM writes it (`4g`, `512m`: powers of 1024); None if it is invalid."""
    digits = (text or "").rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = (text or "")[len(digits) :].lower()
    try:
        return parse_quantity(digits + _UNITS.get(unit, unit))
    except QuantityError:
        return None


DECODERS: dict[str, Callable[[Cursor], Object]] = {"SparkApplication": spark_application}
