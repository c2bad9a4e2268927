"""Checks of the metadata of every kind.

Source: k8s.io/apimachinery `pkg/api/validation/objectmeta.go`.
"""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, label_fault, near_name, subdomain_fault
from qcheck.kinds.validation.selectors import annotation_keys, label_map
from qcheck.kinds.validation.target import by_field, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import FieldCheck

_MOST_ANNOTATION_BYTES = 256 * 1024


def metadata(at: Cursor) -> Iterator[Failure]:
    """Check name, namespace, labels, annotations and finalizers."""
    yield from _name(at)
    yield from by_field(at, _OF_METADATA)


def _name(at: Cursor) -> Iterator[Failure]:
    name = at["name"]
    if not name.exists and not at["generateName"].exists:
        yield refuse(name, "META-V01", "Required value: name or generateName is required")
    elif isinstance(name.data, str) and (fault := subdomain_fault(name.data)):
        near = near_name(name.data)
        yield refuse(name, "META-V01", f'Invalid value: "{name.data}": {fault}', f"write {near}" if near else "")


def labels_and_annotations(at: Cursor, check: str) -> Iterator[Failure]:
    """Check keys, label values, and the total size of annotations, also of templates."""
    yield from label_map(at["labels"], check)
    yield from _annotations(at["annotations"], check)


def _annotations(at: Cursor, check: str) -> Iterator[Failure]:
    yield from annotation_keys(at, check)
    size = sum(len(k.encode()) + len((v.text() or "").encode()) for k, v in at.mapping())
    if size > _MOST_ANNOTATION_BYTES:
        yield refuse(at, check, f"Too long: may not be more than {_MOST_ANNOTATION_BYTES} bytes")


def _namespace(at: Cursor) -> Iterator[Failure]:
    text = at.text()
    if text and (fault := label_fault(text)):
        near = near_name(text)
        fix = f"write {near}" if near and not label_fault(near) else ""
        yield refuse(at, "META-V02", f"Invalid value: {show(text)}: {fault}", fix)


def _finalizers(at: Cursor) -> Iterator[Failure]:
    for finalizer in at.items():
        if finalizer.text() is not None and (fault := key_fault(finalizer.text() or "")):
            yield refuse(finalizer, "META-V04", f"Invalid value: {show(finalizer.data)}: {fault}")


_OF_METADATA: dict[str, FieldCheck] = {
    "namespace": _namespace,
    "labels": partial(label_map, check="META-V03"),
    "annotations": partial(_annotations, check="META-V03"),
    "finalizers": _finalizers,
}
"""Checks of single fields of metadata."""
