"""Group `workload.codeflare.dev`: AppWrapper, which wraps other objects and says where their pods are."""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.core import pod_set, queued

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor

    Found = tuple[Cursor, int, Cursor]
    """A pod template, how many pods, and where that is written."""

_STEP = re.compile(r"([^.\[\]]+)|\[([0-9]{1,9})\]")


def app_wrapper(root: Cursor) -> Object:
    """Pod sets are named after the AppWrapper and counted through."""
    name = root["metadata"]["name"].text() or ""
    found = [p for c in root["spec"]["components"].items() for p in _component(c)]
    named = tuple(
        replace(p, name=f"{name}-{index}", template=replace(p.template, is_wrapped=True))
        for index, p in enumerate(found)
    )
    return queued(root, "workload.codeflare.dev/appwrapper", root, named)


def _component(component: Cursor) -> Iterator[PodSet]:
    """The declared pod sets of a component, else those that AppWrapper finds in the kind it wraps."""
    declared = component["podSets"].items() or component["declaredPodSets"].items()
    for each in declared:
        template = at_path(component, each["path"].text() or "")
        if template.exists:
            yield pod_set("", template, _count(each["replicas"]), each["replicas"])
    if not declared:
        yield from _inferred(component["template"])


def _count(at: Cursor) -> int:
    found = at.count()
    return 1 if found is None else found


def _inferred(wrapped: Cursor) -> Iterator[PodSet]:
    """AppWrapper counts for itself: neither what an operator adds to a pod nor the hosts of a worker, and 1 where no number
    is written. Other kinds have no pod sets that it sees.
    """
    found = _FINDERS.get((wrapped.text_at("apiVersion"), wrapped.text_at("kind")))
    return (pod_set("", t, count, at) for t, count, at in (found(wrapped) if found else ()) if t.exists)


def _pod(wrapped: Cursor) -> Iterator[Found]:
    yield wrapped, 1, wrapped


def _replicas(wrapped: Cursor) -> Iterator[Found]:
    spec = wrapped["spec"]
    yield spec["template"], _count(spec["replicas"]), spec["replicas"]


def _job(wrapped: Cursor) -> Iterator[Found]:
    spec = wrapped["spec"]
    count, completions = _count(spec["parallelism"]), spec["completions"].count()
    yield spec["template"], count if completions is None else min(count, completions), spec["parallelism"]


def _job_set(wrapped: Cursor) -> Iterator[Found]:
    for job in wrapped["spec"]["replicatedJobs"].items():
        for template, count, at in _job(job["template"]):
            yield template, count * _count(job["replicas"]), job["replicas"] if job["replicas"].exists else at


def _pytorch(wrapped: Cursor) -> Iterator[Found]:
    for name in ("Master", "Worker"):
        part = wrapped["spec"]["pytorchReplicaSpecs"][name]
        yield part["template"], _count(part["replicas"]), part["replicas"]


def _ray_cluster(wrapped: Cursor) -> Iterator[Found]:
    return _ray(wrapped["spec"])


def _ray_job(wrapped: Cursor) -> Iterator[Found]:
    return _ray(wrapped["spec"]["rayClusterSpec"])


def _ray(cluster: Cursor) -> Iterator[Found]:
    yield cluster["headGroupSpec"]["template"], 1, cluster["headGroupSpec"]
    for group in cluster["workerGroupSpecs"].items():
        yield group["template"], _count(group["replicas"]), group["replicas"]


_FINDERS: dict[tuple[str, str], Callable[[Cursor], Iterator[Found]]] = {
    ("v1", "Pod"): _pod,
    ("apps/v1", "Deployment"): _replicas,
    ("apps/v1", "StatefulSet"): _replicas,
    ("batch/v1", "Job"): _job,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _job_set,
    ("kubeflow.org/v1", "PyTorchJob"): _pytorch,
    ("ray.io/v1", "RayCluster"): _ray_cluster,
    ("ray.io/v1", "RayJob"): _ray_job,
}


def at_path(start: Cursor, path: str) -> Cursor:
    """The value at a path such as `template.spec.replicatedJobs[0].template`."""
    at = start
    for name, index in _STEP.findall(path):
        at = at[int(index)] if index else at[name]
    return at


DECODERS: dict[str, Callable[[Cursor], Object]] = {"AppWrapper": app_wrapper}
