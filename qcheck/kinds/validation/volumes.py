"""Volumes of a pod and where containers mount them.

Source: kubernetes 1.36 `pkg/apis/core/validation` (`ValidateVolumes`, `ValidateVolumeMounts`).
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import label_fault
from qcheck.kinds.validation.queues import amount
from qcheck.kinds.validation.target import one_of, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_MODES = 0o777
_NAMED = {"secret": "secretName", "configMap": "name", "persistentVolumeClaim": "claimName"}
"""Where a source names what it takes."""
_WITH_MODE = frozenset({"configMap", "secret", "downwardAPI", "projected"})


def volumes(spec: Cursor) -> Iterator[Failure]:
    for each in spec["volumes"].items():
        name = each["name"].text()
        if name is not None and (fault := label_fault(name)):
            yield refuse(each["name"], "POD-V21", f"Invalid value: {show(name)}: {fault}")
        sources = [k for k, v in each.mapping() if k != "name" and v.data is not None]
        for extra in sources[1:]:
            yield refuse(each[extra], "POD-V21", "Forbidden: may not specify more than 1 volume type", on_key=True)
        for kind in sources:
            yield from _source(kind, each[kind])


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


def mounts(spec: Cursor, claimed: frozenset[str]) -> Iterator[Failure]:
    """Mounts name a volume of the pod, or one of those that are `claimed` for it."""
    known = {v["name"].text() for v in spec["volumes"].items()} | claimed
    for container in (*spec["initContainers"].items(), *spec["containers"].items()):
        for each in container["volumeMounts"].items():
            name, path = each["name"], each["mountPath"]
            if name.text() is not None and name.text() not in known:
                yield refuse(name, "POD-V22", f"Not found: {show(name.data)}: the pod has no volume of that name")
            if path.text() == "":
                yield refuse(path, "POD-V22", "Required value")
            yield from _sub_path(each)
            yield from one_of(each["mountPropagation"], "POD-V22", ("Bidirectional", "HostToContainer", "None"))
        for device in container["volumeDevices"].items():
            if device["name"].text() is not None and device["name"].text() not in known:
                text = f"Not found: {show(device['name'].data)}: the pod has no volume of that name"
                yield refuse(device["name"], "POD-V22", text)


def _sub_path(at: Cursor) -> Iterator[Failure]:
    if at["subPath"].text() and at["subPathExpr"].text():
        yield refuse(at["subPathExpr"], "POD-V22", "Invalid value: subPathExpr and subPath are mutually exclusive")
    for field in ("subPath", "subPathExpr"):
        path = at[field].text() or ""
        if path.startswith("/") or ".." in path.split("/"):
            text = f"Invalid value: {show(path)}: must be a relative path without '..'"
            yield refuse(at[field], "POD-V22", text)
