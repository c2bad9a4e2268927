"""The built-in groups, JobSet and LeaderWorkerSet: namespaces, priorities, limits, and all kinds with a pod template.

Nodes are node-pool facts; `qcheck.nodepools` reads them.
"""

from __future__ import annotations

from qcheck.cluster import kueue as queues
from qcheck.cluster import workloads
from qcheck.cluster.objects import NAMESPACE_NAME_LABEL, Namespace
from qcheck.cluster.pods import larger, smaller
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.workloads import PRIORITY_CLASS, QUEUE_NAME, PodSet, Workload
from qcheck.kinds.pod_sets import count_of, pod_sets
from qcheck.kinds.pods import pod_template, topology_request
from qcheck.kinds.shared_fields import metadata, object_id, place, quantities, tolerations

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.cluster.pods import Quantities
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.pod_sets import WrittenPodSet

    Merge = Callable[[Quantities, Quantities], Quantities]

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a mirror pod, which represents a node's static pod on the API server."""


def namespace(root: Cursor) -> Object:
    identity = object_id(root)
    labels, annotations = metadata(root)
    labels = {**labels, NAMESPACE_NAME_LABEL: identity.name}
    return Namespace(identity, place(root), labels, annotations)


def priority_class(root: Cursor) -> Object:
    return queues.PriorityClass(
        object_id(root),
        place(root),
        *metadata(root),
        value=root["value"].integer() or 0,
        is_global_default=root["globalDefault"].boolean() or False,
        preemption_policy=root["preemptionPolicy"].text() or "PreemptLowerPriority",
    )


def limit_range(root: Cursor) -> Object:
    """Return a LimitRange with the API server's defaults: max is the default limit, that the default request."""
    limits = root["spec"].items_at("limits")
    most, least = _merged(limits, "Container", "max", smaller), _merged(limits, "Container", "min", larger)
    default_limits = {**most, **_first(limits, "Container", "default")}
    return workloads.LimitRange(
        object_id(root),
        place(root),
        *metadata(root),
        default_requests={**least, **default_limits, **_first(limits, "Container", "defaultRequest")},
        default_limits=default_limits,
        container_max=most,
        container_min=least,
        pod_max=_merged(limits, "Pod", "max", smaller),
        pod_min=_merged(limits, "Pod", "min", larger),
        pod_default_requests=_first(limits, "Pod", "defaultRequest"),
        pod_default_limits=_first(limits, "Pod", "default"),
    )


def _of_type(limits: list[Cursor], kind: str, field: str) -> list[Quantities]:
    return [quantities(entry[field]) for entry in limits if entry["type"].text() == kind]


def _first(limits: list[Cursor], kind: str, field: str) -> Quantities:
    result: Quantities = {}
    for found in _of_type(limits, kind, field):
        result = {**found, **result}
    return result


def _merged(limits: list[Cursor], kind: str, field: str, choose: Merge) -> Quantities:
    result: Quantities = {}
    for found in _of_type(limits, kind, field):
        result = choose(result, found)
    return result


def resource_quota(root: Cursor) -> Object:
    hard = quantities(root["spec"]["hard"])
    is_scoped = root["spec"]["scopes"].exists or root["spec"]["scopeSelector"].exists
    return workloads.ResourceQuota(object_id(root), place(root), *metadata(root), hard=hard, is_scoped=is_scoped)


def runtime_class(root: Cursor) -> Object:
    scheduling = root["scheduling"]
    return workloads.RuntimeClass(
        object_id(root),
        place(root),
        *metadata(root),
        overhead=quantities(root["overhead"]["podFixed"]),
        node_selector=scheduling["nodeSelector"].strings(),
        tolerations=tolerations(scheduling["tolerations"]),
    )


def daemon_set(root: Cursor) -> Object:
    spec = root["spec"]
    return workloads.DaemonSet(
        object_id(root),
        place(root),
        *metadata(root),
        template=pod_template(spec["template"]),
    )


def queued(
    root: Cursor, framework: str | None, labelled: Cursor, pod_sets: tuple[PodSet, ...], **more: object
) -> Workload:
    """Return a workload with its queue and priority class from the labels of `labelled`.

    `labelled` is the object itself, or a job template.
    """
    labels, annotations = metadata(root)
    own = labels if labelled is root else metadata(labelled)[0]
    place_of = place(labelled["metadata"]["labels"]).at
    return Workload(
        object_id(root),
        place(root),
        labels,
        annotations,
        framework=framework,
        queue=own.get(QUEUE_NAME) or None,
        queue_place=place_of(QUEUE_NAME),
        priority_class=own.get(PRIORITY_CLASS),
        priority_class_place=place_of(PRIORITY_CLASS),
        pod_sets=pod_sets,
        **more,  # type: ignore[arg-type]
    )


def pod_set(written: WrittenPodSet, minimum: int | None = None) -> PodSet:
    template = pod_template(written.template, written.added)
    return PodSet(
        written.name,
        template,
        written.count or 0,
        place(written.count_at),
        minimum=minimum,
        maximum=written.maximum,
        topology=topology_request(template),
    )


def job(root: Cursor) -> Object:
    return _job(root, root)


def cron_job(root: Cursor) -> Object:
    return _job(root, root["spec"]["jobTemplate"])


def _job(root: Cursor, at: Cursor) -> Workload:
    """Return a Job, or a CronJob whose `jobTemplate` is `at`."""
    spec = at["spec"]
    annotations, limit = at["metadata"].strings_at("annotations"), spec["backoffLimit"]
    minimum = whole(annotations.get("kueue.x-k8s.io/job-min-parallelism", ""))
    return queued(
        root,
        "batch/job",
        at,
        tuple(pod_set(each, minimum) for each in pod_sets(root)),
        elastic=annotations.get("kueue.x-k8s.io/elastic-job") == "true",
        retries=limit.count(),
        retries_place=place(limit),
        on_disruption=_on_disruption(spec["podFailurePolicy"]),
    )


def _on_disruption(policy: Cursor) -> str | None:
    """Return the action of the first rule that matches evicted pods, which have the condition DisruptionTarget."""
    for each in policy.items_at("rules"):
        if any(c["type"].text() == "DisruptionTarget" for c in each.items_at("onPodConditions")):
            return each["action"].text()
    return None


def _queued_as(framework: str | None, each_pod_alone: bool = False) -> Callable[[Cursor], Object]:
    """Return the decoder of a kind that differs from others only in its pod sets and its framework."""

    def decode(root: Cursor) -> Object:
        return queued(root, framework, root, tuple(map(pod_set, pod_sets(root))), each_pod_alone=each_pod_alone)

    return decode


def pod(root: Cursor) -> Object:
    """Return a pod as a workload, or as a static pod if it is a mirror pod."""
    owners = root["metadata"].items_at("ownerReferences")
    is_mirror = root["metadata"]["annotations"][MIRROR].exists or any(o.text_at("kind") == "Node" for o in owners)
    node = root["spec"].text_at("nodeName")
    if is_mirror and node:
        return workloads.StaticPod(
            object_id(root), place(root), *metadata(root), node=node, template=pod_template(root)
        )
    return _queued_as("pod")(root)


def leader_worker_set(root: Cursor) -> Object:
    """Return a LeaderWorkerSet, which has one workload per replica group."""
    groups = count_of(root["spec"]["replicas"])
    framework = "leaderworkerset.x-k8s.io/leaderworkerset"
    return queued(root, framework, root, tuple(map(pod_set, pod_sets(root))), groups=groups)


DECODERS: dict[tuple[str, str], Callable[[Cursor], Object]] = {
    ("", "Namespace"): namespace,
    ("", "LimitRange"): limit_range,
    ("", "ResourceQuota"): resource_quota,
    ("", "Pod"): pod,
    ("scheduling.k8s.io", "PriorityClass"): priority_class,
    ("node.k8s.io", "RuntimeClass"): runtime_class,
    ("apps", "DaemonSet"): daemon_set,
    ("apps", "Deployment"): _queued_as("deployment", each_pod_alone=True),
    ("apps", "StatefulSet"): _queued_as("statefulset"),
    ("apps", "ReplicaSet"): _queued_as(None, each_pod_alone=True),
    ("batch", "Job"): job,
    ("batch", "CronJob"): cron_job,
    ("jobset.x-k8s.io", "JobSet"): _queued_as("jobset.x-k8s.io/jobset"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): leader_worker_set,
}
