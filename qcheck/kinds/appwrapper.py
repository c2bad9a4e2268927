"""Group `workload.codeflare.dev`: AppWrapper, which wraps other objects and lists the paths of their pod templates."""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.pod_sets import WrittenPodSet, count_of, pod_sets, ray_cluster_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor

_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]{1,9})\]")


def app_wrapper(root: Cursor) -> Object:
    """Return an AppWrapper as a workload; its pod sets are named after it and numbered consecutively."""
    name = root["metadata"]["name"].text() or ""
    found = [pod_set(each) for each in wrapped_pod_sets(root)]
    named = tuple(
        replace(p, name=f"{name}-{index}", template=replace(p.template, is_wrapped=True))
        for index, p in enumerate(found)
    )
    return queued(root, "workload.codeflare.dev/appwrapper", root, named)


def wrapped_pod_sets(root: Cursor) -> Iterator[WrittenPodSet]:
    """Yield the pod sets of all components as they are written."""
    for component in root["spec"].items_at("components"):
        yield from _component(component)


def _component(component: Cursor) -> Iterator[WrittenPodSet]:
    """Yield the declared pod sets of a component, else those that AppWrapper finds in the kind that it wraps."""
    declared = component.items_at("podSets") or component.items_at("declaredPodSets")
    for each in declared:
        template = at_path(component, each["path"].text() or "")
        if template.exists:
            yield WrittenPodSet("", template, count_of(each["replicas"]), each["replicas"])
    if not declared:
        yield from _inferred(component["template"])


def _inferred(wrapped: Cursor) -> Iterator[WrittenPodSet]:
    """Return the pod sets that AppWrapper itself finds in a wrapped object.

    It counts neither pods that an operator adds nor the hosts of a Ray worker, and takes 1 if no number is written. It
    finds no pod sets in other kinds.
    """
    kind = wrapped.text_at("apiVersion"), wrapped.text_at("kind")
    found = _ray(wrapped) if kind in _RAY else pod_sets(wrapped) if kind in _KINDS else ()
    return (each for each in found if each.template.exists)


def _ray(wrapped: Cursor) -> Iterator[WrittenPodSet]:
    cluster = ray_cluster_of(wrapped)
    yield WrittenPodSet("head", cluster["headGroupSpec"]["template"], 1, cluster["headGroupSpec"])
    for group in cluster.items_at("workerGroupSpecs"):
        yield WrittenPodSet("", group["template"], count_of(group["replicas"]), group["replicas"])


_RAY = frozenset({("ray.io/v1", "RayCluster"), ("ray.io/v1", "RayJob")})
_KINDS = frozenset(
    {
        ("v1", "Pod"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "Job"),
        ("jobset.x-k8s.io/v1alpha2", "JobSet"),
        ("kubeflow.org/v1", "PyTorchJob"),
    }
)


def at_path(start: Cursor, path: str) -> Cursor:
    """Return the value at a path such as `template.spec.replicatedJobs[0].template`."""
    at = start
    for name, index in _STEP.findall(path):
        at = at[int(index)] if index else at[name]
    return at


DECODERS: dict[str, Callable[[Cursor], Object]] = {"AppWrapper": app_wrapper}
