"""What holds of every object's metadata, whichever kind it is.

Source: k8s.io/apimachinery `pkg/api/validation/objectmeta.go`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, label_fault, near_name, subdomain_fault
from qcheck.kinds.validation.selectors import annotation_keys, label_map
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

_MOST_ANNOTATION_BYTES = 256 * 1024


def metadata(at: Cursor) -> Iterator[Failure]:
    """Name, namespace, labels, annotations and finalizers."""
    yield from _name(at)
    namespace = at["namespace"]
    if namespace.text() and (fault := label_fault(namespace.text() or "")):
        near = near_name(namespace.text() or "")
        text = f"Invalid value: {show(namespace.data)}: {fault}"
        yield refuse(namespace, "META-V02", text, f"write {near}" if near and not label_fault(near) else "")
    yield from labels_and_annotations(at, "META-V03")
    for finalizer in at["finalizers"].items():
        if finalizer.text() is not None and (fault := key_fault(finalizer.text() or "")):
            yield refuse(finalizer, "META-V04", f"Invalid value: {show(finalizer.data)}: {fault}")


def _name(at: Cursor) -> Iterator[Failure]:
    name = at["name"]
    if not name.exists and not at["generateName"].exists:
        yield refuse(name, "META-V01", "Required value: name or generateName is required")
    elif isinstance(name.data, str) and (fault := subdomain_fault(name.data)):
        near = near_name(name.data)
        yield refuse(name, "META-V01", f'Invalid value: "{name.data}": {fault}', f"write {near}" if near else "")


def labels_and_annotations(at: Cursor, check: str) -> Iterator[Failure]:
    """Also those of templates: keys, label values, and how much annotations may hold in all."""
    yield from label_map(at["labels"], check)
    yield from annotation_keys(at["annotations"], check)
    size = sum(len(k.encode()) + len((v.text() or "").encode()) for k, v in at["annotations"].mapping())
    if size > _MOST_ANNOTATION_BYTES:
        yield refuse(at["annotations"], check, f"Too long: may not be more than {_MOST_ANNOTATION_BYTES} bytes")
