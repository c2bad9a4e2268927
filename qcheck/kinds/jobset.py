"""Group `jobset.x-k8s.io`: one pod set per replicated job."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.core import pod_set, queued

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor


def job_set(root: Cursor) -> Object:
    spec = root["spec"]
    pod_sets = tuple(replicated_job(j) for j in spec["replicatedJobs"].items())
    return queued(root, "jobset.x-k8s.io/jobset", root, pod_sets)


def replicated_job(at: Cursor) -> PodSet:
    """`replicas` Jobs of `parallelism` pods each; fewer completions than parallelism run fewer pods."""
    job = at["template"]["spec"]
    replicas, parallelism = at["replicas"].count(), job["parallelism"].count()
    completions = job["completions"].count()
    each = 1 if parallelism is None else parallelism
    each = each if completions is None else min(each, completions)
    count = each * (1 if replicas is None else replicas)
    count_at = at["replicas"] if at["replicas"].exists else job["parallelism"]
    return pod_set((at["name"].text() or "").lower(), job["template"], count, count_at)


DECODERS: dict[str, Callable[[Cursor], Object]] = {"JobSet": job_set}
