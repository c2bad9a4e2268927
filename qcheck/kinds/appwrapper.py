"""Group `workload.codeflare.dev`: AppWrapper, which wraps other objects and says where their pods are."""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workloads import PodSet, Workload
from qcheck.kinds.core import pod_set, queued

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor

_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]{1,9})\]")


def app_wrapper(root: Cursor) -> Object:
    """Pod sets are named after the AppWrapper and counted through."""
    name = root["metadata"]["name"].text() or ""
    found = [p for c in root["spec"]["components"].items() for p in _component(c)]
    named = tuple(replace(p, name=f"{name}-{index}") for index, p in enumerate(found))
    return queued(root, "workload.codeflare.dev/appwrapper", root, named)


def _component(component: Cursor) -> Iterator[PodSet]:
    """The declared pod sets of a component, else those of the kind it wraps."""
    declared = component["podSets"].items() or component["declaredPodSets"].items()
    for each in declared:
        replicas = each["replicas"].count()
        template = at_path(component, each["path"].text() or "")
        yield pod_set("", template, 1 if replicas is None else replicas, each["replicas"])
    if not declared:
        yield from _inferred(component["template"])


def _inferred(wrapped: Cursor) -> Iterator[PodSet]:
    from qcheck.kinds.decode import decoder  # it imports this module

    group = (wrapped["apiVersion"].text() or "").rpartition("/")[0]
    read = decoder(group, wrapped["kind"].text() or "")
    inner = read(wrapped) if read is not None else None
    if isinstance(inner, Workload):
        yield from inner.pod_sets


def at_path(start: Cursor, path: str) -> Cursor:
    """The value at a path such as `template.spec.replicatedJobs[0].template`."""
    at = start
    for name, index in _STEP.findall(path):
        at = at[int(index)] if index else at[name]
    return at


DECODERS: dict[str, Callable[[Cursor], Object]] = {"AppWrapper": app_wrapper}
