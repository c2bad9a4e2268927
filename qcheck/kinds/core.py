"""The built-in groups: namespaces, priorities, limits, and everything with a pod template.

Nodes are node-pool facts and are read in `qcheck.nodepools`.
"""

from __future__ import annotations

from qcheck.cluster import kueue as queues
from qcheck.cluster import workloads
from qcheck.cluster.objects import Namespace
from qcheck.cluster.pods import larger, smaller
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.workloads import PRIORITY_CLASS, QUEUE_NAME, PodSet, Workload
from qcheck.kinds.pods import pod_template, topology_request
from qcheck.kinds.shared_fields import metadata, object_id, place, quantities, tolerations

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.cluster.pods import Quantities
    from qcheck.documents.cursor import Cursor

    Merge = Callable[[Quantities, Quantities], Quantities]


def namespace(root: Cursor) -> Object:
    identity = object_id(root)
    labels, annotations = metadata(root)
    labels = {**labels, "kubernetes.io/metadata.name": identity.name}
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
    """A LimitRange with the API server's own defaults: a max is also the default limit, that the default request."""
    limits = root["spec"]["limits"].items()
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
    """A workload whose queue and priority class are labels on `labelled` (the object itself, or a job template)."""
    labels, annotations = metadata(root)
    own, _ = metadata(labelled)
    return Workload(
        object_id(root),
        place(root),
        labels,
        annotations,
        framework=framework,
        queue=own.get(QUEUE_NAME) or None,
        queue_place=place(labelled["metadata"]["labels"][QUEUE_NAME]),
        priority_class=own.get(PRIORITY_CLASS),
        priority_class_place=place(labelled["metadata"]["labels"][PRIORITY_CLASS]),
        pod_sets=pod_sets,
        **more,  # type: ignore[arg-type]
    )


def pod_set(name: str, template: Cursor, count: int, count_at: Cursor, minimum: int | None = None) -> PodSet:
    decoded = pod_template(template)
    return PodSet(name, decoded, count, place(count_at), minimum=minimum, topology=topology_request(decoded))


def job(root: Cursor) -> Object:
    return _job(root, root)


def cron_job(root: Cursor) -> Object:
    return _job(root, root["spec"]["jobTemplate"])


def _job(root: Cursor, at: Cursor) -> Workload:
    """A Job, or a CronJob whose `jobTemplate` is `at`; completions below parallelism run fewer pods at once."""
    spec = at["spec"]
    parallelism, completions = spec["parallelism"].count(), spec["completions"].count()
    count = 1 if parallelism is None else parallelism
    count = count if completions is None else min(count, completions)
    _, annotations = metadata(at)
    minimum = annotations.get("kueue.x-k8s.io/job-min-parallelism", "")
    main = pod_set("main", spec["template"], count, spec["parallelism"], whole(minimum))
    return queued(
        root,
        "batch/job",
        at,
        (main,),
        elastic=annotations.get("kueue.x-k8s.io/elastic-job") == "true",
        retries=spec["backoffLimit"].count(),
        retries_place=place(spec["backoffLimit"]),
        on_disruption=_on_disruption(spec["podFailurePolicy"]),
    )


def _on_disruption(policy: Cursor) -> str | None:
    """The action of the first rule that meets evicted pods; they carry the condition DisruptionTarget."""
    for each in policy["rules"].items():
        if any(c["type"].text() == "DisruptionTarget" for c in each["onPodConditions"].items()):
            return each["action"].text()
    return None


def pod(root: Cursor) -> Object:
    return queued(root, "pod", root, (pod_set("main", root, 1, root),))


def _replicated(framework: str | None, each_pod_alone: bool) -> Callable[[Cursor], Object]:
    def decode(root: Cursor) -> Object:
        spec = root["spec"]
        replicas = spec["replicas"].count()
        main = pod_set("main", spec["template"], 1 if replicas is None else replicas, spec["replicas"])
        return queued(root, framework, root, (main,), each_pod_alone=each_pod_alone)

    return decode


DECODERS: dict[tuple[str, str], Callable[[Cursor], Object]] = {
    ("", "Namespace"): namespace,
    ("", "LimitRange"): limit_range,
    ("", "ResourceQuota"): resource_quota,
    ("", "Pod"): pod,
    ("scheduling.k8s.io", "PriorityClass"): priority_class,
    ("node.k8s.io", "RuntimeClass"): runtime_class,
    ("apps", "DaemonSet"): daemon_set,
    ("apps", "Deployment"): _replicated("deployment", each_pod_alone=True),
    ("apps", "StatefulSet"): _replicated("statefulset", each_pod_alone=False),
    ("apps", "ReplicaSet"): _replicated(None, each_pod_alone=True),
    ("batch", "Job"): job,
    ("batch", "CronJob"): cron_job,
}
