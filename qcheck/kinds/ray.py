"""Group `ray.io`: RayCluster, RayJob, RayService.

KubeRay adds containers that no manifest shows: the autoscaler beside the head, the submitter of a RayJob. Kueue counts
them from release 0.19 (`pkg/controller/jobs/ray`); kube-scheduler always does.
"""

from __future__ import annotations

from qcheck.cluster.pods import Container, Injected
from qcheck.cluster.quantity import parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.pod_sets import pod_sets, ray_cluster_of, ray_submission
from qcheck.kinds.shared_fields import metadata, place, quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.cluster.pods import Quantities
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.pod_sets import WrittenPodSet

COUNTED_SINCE = 19
_FAULT_TOLERANCE = "ray.io/ft-enabled"


def _amounts(cpu: str, memory: str) -> Quantities:
    return {"cpu": parse_quantity(cpu), "memory": parse_quantity(memory)}


def ray_cluster(root: Cursor) -> Object:
    return _ray(root, "ray.io/raycluster")


def ray_service(root: Cursor) -> Object:
    return _ray(root, "ray.io/rayservice")


def ray_job(root: Cursor) -> Object:
    """Return a RayJob; Kueue does not manage one that only selects an existing cluster."""
    spec = root["spec"]
    selects_only = spec["clusterSelector"].exists and not spec["rayClusterSpec"].exists
    return _ray(root, None if selects_only else "ray.io/rayjob")


def _ray(root: Cursor, framework: str | None) -> Object:
    _, annotations = metadata(root)
    elastic = annotations.get("kueue.x-k8s.io/elastic-job") == "true"
    return queued(root, framework, root, tuple(_pod_set(root, each) for each in pod_sets(root)), elastic=elastic)


def _pod_set(root: Cursor, written: WrittenPodSet) -> PodSet:
    """Return a pod set with the containers that KubeRay adds.

    A worker group may have the name of the head or submitter.
    """
    found, at = pod_set(written), written.template.route
    if at == ray_cluster_of(root)["headGroupSpec"]["template"].route:
        return replace(found, template=replace(found.template, injected=tuple(_added_to_head(root))))
    if at == root["spec"]["submitterPodTemplate"].route and not written.template.exists:
        return replace(found, template=replace(found.template, containers=(_submitter(root["spec"]),)))
    return found


def _submitter(at: Cursor) -> Container:
    return Container("ray-job-submitter", place(at), _amounts("500m", "200Mi"), _amounts("1", "1Gi"))


def _added_to_head(root: Cursor) -> Iterator[Injected]:
    cluster = ray_cluster_of(root)
    if cluster["enableInTreeAutoscaling"].boolean():
        yield Injected(COUNTED_SINCE, _autoscaler(cluster))
    if root.text_at("kind") == "RayJob" and ray_submission(root["spec"]) == "SidecarMode":
        yield Injected(COUNTED_SINCE, _submitter(cluster))
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
