"""Checks of the volumes of a pod and of their mounts in containers.

Source: kubernetes 1.36 `pkg/apis/core/validation` (`ValidateVolumes`, `ValidateVolumeMounts`).
"""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import label_fault
from qcheck.kinds.validation.queues import amount
from qcheck.kinds.validation.target import by_field, one_of, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import FieldCheck

_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_MODES = 0o777
_NAMED = {"secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}
"""The field in which a source names its object."""
_WITH_MODE = frozenset({"configMap", "secret", "downwardAPI", "projected"})


def volumes(at: Cursor) -> Iterator[Failure]:
    """Check the name and the source of each volume."""
    for each in at.items():
        name = each["name"].text()
        if name is not None and (fault := label_fault(name)):
            yield refuse(each["name"], "POD-V21", f"Invalid value: {show(name)}: {fault}")
        sources = [(k, v) for k, v in each.mapping() if k != "name" and v.exists]
        for _, extra in sources[1:]:
            yield refuse(extra, "POD-V21", "Forbidden: may not specify more than 1 volume type", on_key=True)
        for kind, source in sources:
            yield from _source(kind, source)


def _source(kind: str, at: Cursor) -> Iterator[Failure]:
    if kind == "emptyDir":
        yield from _size_limit(at["sizeLimit"])
    elif kind == "hostPath":
        yield from _host_path(at)
    elif kind in _NAMED:
        name = at[_NAMED[kind]]
        if not name.text() and (kind != "persistentVolumeClaim" or name.exists):
            yield refuse(name, "POD-V21", "Required value")
    mode = at["defaultMode"].integer() if kind in _WITH_MODE else None
    if mode is not None and not 0 <= mode <= _MODES:
        text = f"Invalid value: {mode}: must be a number between 0 and 0777 (octal), both inclusive"
        yield refuse(at["defaultMode"], "POD-V21", text)


def _size_limit(at: Cursor) -> Iterator[Failure]:
    size = amount(at) if at.exists else None
    if size is not None and size.nanos < 0:
        text = f"Forbidden: {show(size.text)}: SizeLimit field must be a valid resource quantity"
        yield refuse(at, "POD-V21", text)


def _host_path(at: Cursor) -> Iterator[Failure]:
    yield from one_of(at["type"], "POD-V21", _HOST_PATHS)
    path = at["path"]
    if ".." in (path.text() or "").split("/"):
        yield refuse(path, "POD-V21", f"Invalid value: {show(path.data)}: must not contain '..'")


def mounts(spec: Cursor, listed: list[Cursor], claimed: frozenset[str]) -> Iterator[Failure]:
    """Check the mounts of some containers: each names a volume of the pod, or one `claimed` for it."""
    known = {v["name"].text() for v in spec.items_at("volumes")} | claimed
    for container in listed:
        for each in container.items_at("volumeMounts"):
            yield from _known_volume(each["name"], known)
            yield from by_field(each, _OF_MOUNT)
            if each.text_at("subPath") and each.text_at("subPathExpr"):
                text = "Invalid value: subPathExpr and subPath are mutually exclusive"
                yield refuse(each["subPathExpr"], "POD-V22", text)
        for device in container.items_at("volumeDevices"):
            yield from _known_volume(device["name"], known)


def _known_volume(name: Cursor, known: Set[str | None]) -> Iterator[Failure]:
    if name.text() is not None and name.text() not in known:
        yield refuse(name, "POD-V22", f"Not found: {show(name.data)}: the pod has no volume of that name")


def _mount_path(at: Cursor) -> Iterator[Failure]:
    if at.text() == "":
        yield refuse(at, "POD-V22", "Required value")


def _sub_path(at: Cursor) -> Iterator[Failure]:
    path = at.text() or ""
    if path.startswith("/") or ".." in path.split("/"):
        yield refuse(at, "POD-V22", f"Invalid value: {show(path)}: must be a relative path without '..'")


_OF_MOUNT: dict[str, FieldCheck] = {
    "mountPath": _mount_path,
    "subPath": _sub_path,
    "subPathExpr": _sub_path,
    "mountPropagation": partial(one_of, check="POD-V22", values=("Bidirectional", "HostToContainer", "None")),
}
"""Checks of single fields of a mount."""
