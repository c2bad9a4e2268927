"""Group `ray.io`: RayCluster, RayJob, RayService.

KubeRay adds containers that no manifest shows: the autoscaler beside the head, the submitter of a RayJob. Kueue counts
them from release 0.19 (`pkg/controller/jobs/ray`); kube-scheduler always does.
"""

from __future__ import annotations

from qcheck.cluster.pods import Container, Injected
from qcheck.cluster.quantity import parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.shared_fields import metadata, place, quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.cluster.pods import Quantities
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor

COUNTED_SINCE = 19
_FAULT_TOLERANCE = "ray.io/ft-enabled"


def _amounts(cpu: str, memory: str) -> Quantities:
    return {"cpu": parse_quantity(cpu), "memory": parse_quantity(memory)}


def ray_cluster(root: Cursor) -> Object:
    pod_sets = tuple(_cluster_pods(root, root["spec"], beside_head=False))
    return _ray(root, "ray.io/raycluster", pod_sets)


def ray_service(root: Cursor) -> Object:
    pod_sets = tuple(_cluster_pods(root, root["spec"]["rayClusterConfig"], beside_head=False))
    return _ray(root, "ray.io/rayservice", pod_sets)


def ray_job(root: Cursor) -> Object:
    """A RayJob; one that only selects an existing cluster is left alone by Kueue."""
    spec = root["spec"]
    mode = spec["submissionMode"].text() or "K8sJobMode"
    pod_sets = tuple(_cluster_pods(root, spec["rayClusterSpec"], beside_head=mode == "SidecarMode"))
    if mode == "K8sJobMode":
        pod_sets = (*pod_sets, _submitter(spec))
    selects_only = spec["clusterSelector"].exists and not spec["rayClusterSpec"].exists
    return _ray(root, None if selects_only else "ray.io/rayjob", pod_sets)


def _ray(root: Cursor, framework: str | None, pod_sets: tuple[PodSet, ...]) -> Object:
    _, annotations = metadata(root)
    elastic = annotations.get("kueue.x-k8s.io/elastic-job") == "true"
    return queued(root, framework, root, pod_sets, elastic=elastic)


def _cluster_pods(root: Cursor, cluster: Cursor, beside_head: bool) -> Iterator[PodSet]:
    if not cluster["headGroupSpec"].exists:
        return
    head = pod_set("head", cluster["headGroupSpec"]["template"], 1, cluster["headGroupSpec"])
    added = tuple(_added_to_head(root, cluster, beside_head))
    yield replace(head, template=replace(head.template, injected=added))
    grows = cluster["enableInTreeAutoscaling"].boolean() or False
    for group in cluster["workerGroupSpecs"].items():
        yield _workers(group, grows)


def _workers(group: Cursor, grows: bool) -> PodSet:
    """`replicas` (0 by the CRD's default) times the hosts of each."""
    hosts = max(1, group["numOfHosts"].count() or 1)
    count = (group["replicas"].count() or 0) * hosts
    found = pod_set((group["groupName"].text() or "").lower(), group["template"], count, group["replicas"])
    most = group["maxReplicas"].count()
    return replace(found, maximum=most * hosts) if grows and most is not None else found


def _submitter(spec: Cursor) -> PodSet:
    template = spec["submitterPodTemplate"]
    found = pod_set("submitter", template, 1, spec["submissionMode"])
    if template.exists:
        return found
    container = Container("ray-job-submitter", place(spec), _amounts("500m", "200Mi"), _amounts("1", "1Gi"))
    return replace(found, template=replace(found.template, containers=(container,)))


def _added_to_head(root: Cursor, cluster: Cursor, with_submitter: bool) -> Iterator[Injected]:
    if cluster["enableInTreeAutoscaling"].boolean():
        yield Injected(COUNTED_SINCE, _autoscaler(cluster))
    if with_submitter:
        requests, limits = _amounts("500m", "200Mi"), _amounts("1", "1Gi")
        yield Injected(COUNTED_SINCE, Container("ray-job-submitter", place(cluster), requests, limits))
    _, annotations = metadata(root)
    if cluster["gcsFaultToleranceOptions"].exists or annotations.get(_FAULT_TOLERANCE) == "true":
        least = _amounts("200m", "256Mi")
        yield Injected(COUNTED_SINCE, Container("ray-head", place(cluster), least, {}), is_floor=True)


def _autoscaler(cluster: Cursor) -> Container:
    chosen = cluster["autoscalerOptions"]["resources"]
    if chosen.exists:
        return Container("autoscaler", place(chosen), quantities(chosen["requests"]), quantities(chosen["limits"]))
    usual = _amounts("500m", "512Mi")
    return Container("autoscaler", place(cluster["enableInTreeAutoscaling"]), usual, usual)


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "RayCluster": ray_cluster,
    "RayJob": ray_job,
    "RayService": ray_service,
}
