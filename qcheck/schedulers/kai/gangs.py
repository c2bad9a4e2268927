"""The number of pods of a workload that KAI starts together, by kind.

Source: KAI 0.17 `pkg/podgrouper/podgrouper/plugins`.
"""

from __future__ import annotations

from qcheck.cluster.place import follow
from qcheck.cluster.quantity import integer
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload

MIN_MEMBER = "kai.scheduler/batch-min-member"
TOGETHER = ("kubeflow.org", "ray.io", "leaderworkerset.x-k8s.io", "jobset.x-k8s.io")
"""API groups whose pods all start together unless the object requests fewer."""
MIN_AVAILABLE = ("runPolicy", "schedulingPolicy", "minAvailable")
ELASTIC = (("elasticPolicy", "minReplicas"),)
"""The fields of a Kubeflow job, and of a PyTorchJob, that lower the number of pods to start."""
RAY_CLUSTER = {"RayCluster": (), "RayJob": ("rayClusterSpec",), "RayService": ("rayClusterConfig",)}
"""The field below `spec` with the cluster, by kind of `ray.io`."""


class KaiGang(Value):
    """The number of pods of each pod set that start together, and its place."""

    counts: tuple[int, ...]
    place: Place

    @property
    def size(self) -> int:
        """The number of pods that start together."""
        return sum(self.counts)


def first_pods(workload: Workload, of_group: int | None = None) -> KaiGang:
    """Return the pods that start together; `of_group` is the minimum of a pod group from a manifest.

    If the minimum is below the number of pods, those of the last pod sets are omitted.
    """
    if of_group is None and workload.id.group == "ray.io" and workload.id.kind in RAY_CLUSTER:
        return KaiGang(tuple(_of_ray(workload)), workload.name_place)
    pods = [p.count for p in workload.pod_sets]
    least, place = _minimum(workload, sum(pods)) if of_group is None else (of_group, workload.name_place)
    counts = []
    for count in pods:
        counts.append(min(count, least))
        least -= counts[-1]
    return KaiGang(tuple(counts), place)


def _of_ray(workload: Workload) -> Iterator[int]:
    """Yield the head and the minimum pods of each worker group (`minReplicas`, by default `replicas`), without submitter."""
    at = workload.place.at("spec", *RAY_CLUSTER[workload.id.kind], "workerGroupSpecs")
    written = follow(at.origin.data, at.route)
    groups = written if isinstance(written, list) else []
    for index, pod_set in enumerate(workload.pod_sets):
        if index == 0:
            yield pod_set.count
        elif index <= len(groups):
            yield _least_workers(groups[index - 1], pod_set.count)
        else:
            yield 0


def _least_workers(group: object, count: int) -> int:
    if not isinstance(group, dict):
        return count
    least, hosts = group.get("minReplicas"), group.get("numOfHosts")
    per_replica = hosts if isinstance(hosts, int) and hosts > 1 else 1
    return least * per_replica if isinstance(least, int) and least > 0 else count


def _minimum(workload: Workload, pods: int) -> tuple[int, Place]:
    """Return how many pods must start together."""
    if workload.id.group == "batch" and workload.id.kind == "Job":
        least = integer(workload.annotations.get(MIN_MEMBER))
        place = workload.place.at("metadata", "annotations", MIN_MEMBER)
        return (1, workload.name_place) if least is None else (max(0, min(least, pods)), place)
    if workload.id.group not in TOGETHER:
        return min(1, pods), workload.name_place
    elastic = ELASTIC if workload.id.kind == "PyTorchJob" else ()
    for route in (MIN_AVAILABLE, *elastic) if workload.id.group == "kubeflow.org" else ():
        place = workload.place.at("spec", *route)
        written = follow(place.origin.data, place.route)
        if isinstance(written, int):
            return min(written, pods), place
    if workload.id.kind == "JobSet" and _starts_in_steps(workload):
        return min(workload.pod_sets[0].count, pods), workload.name_place
    return sum(
        p.count if p.minimum is None else min(p.minimum, p.count) for p in workload.pod_sets
    ), workload.name_place


def _starts_in_steps(jobset: Workload) -> bool:
    """Return whether fewer than all replicated jobs may start first."""
    place = jobset.place.at("spec", "startupPolicy", "startupPolicyOrder")
    is_ordered = follow(place.origin.data, place.route) == "InOrder"
    return bool(jobset.pod_sets) and (is_ordered or MIN_MEMBER in jobset.annotations)
