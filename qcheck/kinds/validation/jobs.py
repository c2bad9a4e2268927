"""Checks of kinds that Kueue manages, by the webhooks of its integrations: JOB-W."""

from __future__ import annotations

import re

from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.pod_sets import job_pods, pod_sets, ray_cluster_of
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import label_fault, subdomain_fault
from qcheck.kinds.validation.resources import pod_resources, requests_invalid, requirements
from qcheck.kinds.validation.target import refuse
from qcheck.kinds.validation.topology import BASES, PREFIX, TRUTHS, topology

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.pod_sets import WrittenPodSet
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

KUEUE = "kueue.x-k8s.io/"
ELASTIC_KINDS = frozenset({"Job", "RayCluster", "RayJob", "RayService"})
SERVING_KINDS = frozenset({"Deployment", "StatefulSet", "LeaderWorkerSet"})
"""Kinds of which only the queue name is checked on creation; their pods are checked later."""
RAY_KINDS = frozenset({"RayCluster", "RayJob", "RayService"})
CHECKED_WHEN_CREATED = frozenset({"Pod", "Job", "CronJob", "Deployment", "StatefulSet"})
"""Kinds whose pod templates the API server checks with the object (`builtin`); for other kinds it checks each pod."""
MOST_POD_SETS = 18
ELASTIC_GATE = "ElasticJobsViaWorkloadSlices"
PREBUILT_KINDS = frozenset(
    {
        "Job", "CronJob", "JobSet", "TFJob", "PaddleJob", "PyTorchJob", "XGBoostJob", "TrainJob", "MPIJob", "RayJob", "Pod",
        "RayCluster", "RayService", "AppWrapper",
    }
)  # fmt: skip
"""Kinds that may have a prebuilt Workload."""
_LONGEST_GATE = 63
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
"""The path of a domain-prefixed name (k8s.io/apimachinery `IsDomainPrefixedPath`)."""


def managed(root: Cursor, target: Target) -> Iterator[Failure]:
    """Yield the failures common to all kinds, then those of this kind."""
    kind = root["kind"].text() or ""
    at = root["spec"]["jobTemplate"] if kind == "CronJob" else root
    yield from _labels(at, kind, target)
    yield from gates(at, target)
    sets = list(_pod_sets(root, kind))
    yield from topology(sets, target)
    if kind not in CHECKED_WHEN_CREATED:
        yield from _pods_refused_later(sets)
    if kind in ("Job", "CronJob"):
        yield from _job(at, target)
    elif kind in RAY_KINDS:
        yield from _ray(root, kind, target)
    elif kind == "Pod":
        yield from _pod(root, target)
    elif kind == "AppWrapper":
        yield from _app_wrapper(root)
    elif kind == "TrainJob":
        yield from requirements(root["spec"]["trainer"]["resourcesPerNode"])
    elif kind == "LeaderWorkerSet":
        replicas = root["spec"]["replicas"].integer()
        if replicas is not None and not 0 <= replicas <= 1_000_000:
            yield refuse(root["spec"]["replicas"], "JOB-W50", f"Invalid value: {replicas}: must be from 0 to 1000000")


def _pod_sets(root: Cursor, kind: str) -> Iterator[WrittenPodSet]:
    if kind != "AppWrapper":
        return pod_sets(root)
    from qcheck.kinds.appwrapper import wrapped_pod_sets  # 0.3 ms

    return wrapped_pod_sets(root)


def _pods_refused_later(sets: Iterable[WrittenPodSet]) -> Iterator[Failure]:
    """Check requests that the API server accepts in the object but rejects in each pod that its controller creates."""
    for each in sets:
        yield from pod_resources(each.template["spec"])


def _labels(at: Cursor, kind: str, target: Target) -> Iterator[Failure]:
    labels, annotations = at["metadata"]["labels"], at["metadata"]["annotations"]
    queue = labels.text_at(KUEUE + "queue-name")
    if queue and (fault := subdomain_fault(queue)):
        yield refuse(labels[KUEUE + "queue-name"], "JOB-W01", f"Invalid value: {show(queue)}: {fault}")
    elastic = annotations[KUEUE + "elastic-job"]
    if elastic.text() == "true" and kind not in ELASTIC_KINDS and target.has_gate(ELASTIC_GATE):
        text = f"Invalid value: a {kind} cannot be elastic; supported: {', '.join(sorted(ELASTIC_KINDS))}"
        yield refuse(elastic, "JOB-W04", text, on_key=True)
    if kind in SERVING_KINDS:
        return
    yield from _prebuilt(labels, annotations, kind, target)
    longest = labels[KUEUE + "max-exec-time-seconds"]
    if longest.text() is not None and not _is_positive(longest.text() or ""):
        yield refuse(longest, "JOB-W03", f"Invalid value: {show(longest.data)}: must be an integer greater than 0")


def _prebuilt(labels: Cursor, annotations: Cursor, kind: str, target: Target) -> Iterator[Failure]:
    """Check the prebuilt Workload: the annotation takes precedence over the label if the release supports it."""
    at = _identifier(labels, annotations, KUEUE + "prebuilt-workload-name", target)
    name = at.text() or ""
    if name and kind not in PREBUILT_KINDS:
        yield refuse(at, "JOB-W02", f"Forbidden: a {kind} cannot have a prebuilt Workload", on_key=True)
    if at.text() is not None and (fault := subdomain_fault(name)):
        yield refuse(at, "JOB-W02", f"Invalid value: {show(name)}: {fault}")


def _identifier(labels: Cursor, annotations: Cursor, key: str, target: Target) -> Cursor:
    """Return the annotation with a key if it counts, else the label."""
    annotated = annotations[key]
    return annotated if annotated.text() and target.has_gate("WorkloadIdentifierAnnotations") else labels[key]


def _is_positive(text: str) -> bool:
    return 0 < (whole(text) or 0) < 2**31


def gates(at: Cursor, target: Target) -> Iterator[Failure]:
    """Check gates: comma-separated names with spaces around, each a DNS name, a slash and a path (KEP-6915)."""
    annotation = at["metadata"]["annotations"][KUEUE + "admission-gated-by"]
    written = annotation.text() or ""
    if not written.strip() or not target.has_gate("AdmissionGatedBy"):
        return
    seen: set[str] = set()
    for name in (each.strip() for each in written.split(",")):
        if fault := _gate_fault(name, seen):
            yield refuse(annotation, "JOB-W05", f"Invalid value: {show(written)}: {fault}")
        seen.add(name)


def _gate_fault(name: str, seen: set[str]) -> str | None:
    domain, slash, path = name.partition("/")
    if not name:
        return "cannot contain empty gate names"
    if name in seen:
        return f"duplicate gate name: {name}"
    if not slash or not path or subdomain_fault(domain) or not re.fullmatch(_PATH, path):
        return f"{name} must be a DNS name, '/' and a path, such as example.com/gate"
    if len(name.encode()) > _LONGEST_GATE:
        return f"{name} must have at most {_LONGEST_GATE} bytes"
    return None


def _job(at: Cursor, target: Target) -> Iterator[Failure]:
    spec, annotations = at["spec"], at["metadata"]["annotations"]
    is_elastic = annotations[KUEUE + "elastic-job"].text() == "true"
    minimum = annotations[KUEUE + "job-min-parallelism"]
    if minimum.text() is not None:
        yield from _minimum(minimum, job_pods(spec), is_elastic)
    synced = annotations[KUEUE + "job-completions-equal-parallelism"]
    if synced.text() is not None:
        yield from _synced(synced, spec)
    if is_elastic and target.has_gate("ElasticJobsViaWorkloadSlices"):
        for base in BASES[:2]:
            asked = spec["template"]["metadata"]["annotations"][PREFIX + base]
            if asked.exists:
                text = "Invalid value: an elastic Job can request only unconstrained topology"
                yield refuse(asked, "JOB-W22", text, on_key=True)


def _minimum(at: Cursor, count: int, is_elastic: bool) -> Iterator[Failure]:
    if not _is_positive(at.text() or ""):
        yield refuse(at, "JOB-W20", f"Invalid value: {show(at.data)}: must be an integer greater than 0")
    elif (whole(at.text() or "") or 0) >= count:
        text = f"Invalid value: {at.data}: must be less than the Job's {count} parallel pod{'s' * (count != 1)}"
        yield refuse(at, "JOB-W20", text)
    if is_elastic:
        yield refuse(at, "JOB-W20", "Invalid value: an elastic Job cannot have a minimum", on_key=True)


def _synced(at: Cursor, spec: Cursor) -> Iterator[Failure]:
    if at.text() not in TRUTHS:
        yield refuse(at, "JOB-W21", f"Invalid value: {show(at.data)}: must be true or false")
    elif (at.text() or "").lower() in ("1", "t", "true"):
        if spec["completionMode"].text() != "Indexed":
            yield refuse(
                spec["completionMode"],
                "JOB-W21",
                "Invalid value: must be Indexed for completions to follow parallelism",
            )
        parallelism, completions = spec["parallelism"].integer(), spec["completions"].integer()
        if completions != (1 if parallelism is None else parallelism):
            text = f"Invalid value: {completions}: completions must equal parallelism, which is {parallelism or 1}"
            yield refuse(spec["completions"], "JOB-W21", text)


def _ray(root: Cursor, kind: str, target: Target) -> Iterator[Failure]:
    """Check an object with a queue. Kueue does not manage a RayJob that only selects an existing cluster."""
    if not _has_queue(root):
        return
    spec = ray_cluster_of(root)
    if kind == "RayJob":
        yield from _ray_job(root)
        if root["spec"]["clusterSelector"].data:
            return
    groups = spec.items_at("workerGroupSpecs")
    if len(groups) + 1 > MOST_POD_SETS:
        text = f"Too many: {len(groups)}: must have at most {MOST_POD_SETS - 1} worker groups"
        yield refuse(spec["workerGroupSpecs"], "JOB-W31", text)
    for group in groups:
        if group["groupName"].text() == "head":
            yield refuse(group["groupName"], "JOB-W32", 'Forbidden: "head" is reserved for the head group')
        yield from _pod_set_name(group["groupName"], (group["groupName"].text() or "").lower())
    is_elastic = root["metadata"]["annotations"][KUEUE + "elastic-job"].text() == "true"
    scaling = spec["enableInTreeAutoscaling"]
    if scaling.boolean() and not (is_elastic and target.has_gate(ELASTIC_GATE)):
        text = f"Invalid value: a queued {kind} can use autoscaling only with {KUEUE}elastic-job"
        gate = "" if target.has_gate(ELASTIC_GATE) else f" and the feature gate {ELASTIC_GATE}"
        yield refuse(scaling, "JOB-W30", text + gate)
    by = spec["managedBy"]
    if kind == "RayCluster" and scaling.boolean() and is_elastic and by.text() == "kueue.x-k8s.io/multikueue":
        yield refuse(by, "JOB-W33", "Forbidden: an elastic, autoscaling RayCluster cannot be sent to other clusters")


def _app_wrapper(root: Cursor) -> Iterator[Failure]:
    name = root["metadata"]["name"]
    if _has_queue(root) and name.text():
        yield from _pod_set_name(name, f"{name.text()}-0")


def _pod_set_name(at: Cursor, name: str) -> Iterator[Failure]:
    """Check the name that Kueue gives to a pod set; the API server rejects the Workload if it is not a label."""
    fault = label_fault(name) if name else None
    if fault:
        yield refuse(
            at, "J12", f"Invalid value: {show(at.data)}: the Workload gets a pod set called {name}, which {fault}"
        )


def _has_queue(root: Cursor) -> bool:
    return bool(root["metadata"]["labels"][KUEUE + "queue-name"].text())


def _ray_job(root: Cursor) -> Iterator[Failure]:
    spec = root["spec"]
    selects, brings = bool(spec["clusterSelector"].data), spec["rayClusterSpec"].exists
    if selects and not brings:
        return
    if selects:
        text = "Invalid value: a queued RayJob cannot have both clusterSelector and rayClusterSpec"
        yield refuse(spec["clusterSelector"], "JOB-W34", text, on_key=True)
    elif not brings:
        yield refuse(spec["rayClusterSpec"], "JOB-W34", "Required value: a queued RayJob needs its rayClusterSpec")
    elif spec["shutdownAfterJobFinishes"].boolean() is not True:
        text = "Invalid value: a queued RayJob must delete its cluster after it finishes"
        yield refuse(spec["shutdownAfterJobFinishes"], "JOB-W34", text, "write shutdownAfterJobFinishes: true")


def _pod(root: Cursor, target: Target) -> Iterator[Failure]:
    labels, annotations = root["metadata"]["labels"], root["metadata"]["annotations"]
    managed_label = labels[KUEUE + "managed"]
    if managed_label.text() not in (None, "true"):
        yield refuse(
            managed_label, "JOB-W60", f"Forbidden: {show(managed_label.data)}: managed label value can only be 'true'"
        )
    group = _identifier(labels, annotations, KUEUE + "pod-group-name", target)
    total = annotations[KUEUE + "pod-group-total-count"]
    name = group.text() or ""
    if name and (fault := subdomain_fault(name)):
        yield refuse(group, "JOB-W60", f"Invalid value: {show(name)}: {fault}")
    prebuilt = _identifier(labels, annotations, KUEUE + "prebuilt-workload-name", target)
    if name and prebuilt.text() and prebuilt.text() != name:
        text = f"Invalid value: {show(prebuilt.data)}: prebuilt workload and pod group should be equal"
        yield refuse(prebuilt, "JOB-W60", text, related=(group.route,))
    if name and total.text() is not None and not _is_positive(total.text() or ""):
        text = f"Invalid value: {show(total.data)}: must be an integer greater than 0"
        yield refuse(total, "JOB-W60", text)
    if bool(name) != total.exists:
        given, missing = (group, "pod-group-total-count") if name else (total, "pod-group-name")
        text = f"Required value: both the pod-group-name and the {KUEUE}pod-group-total-count must be set; {missing} is not"
        yield refuse(given, "JOB-W60", text, on_key=True)


def spark(root: Cursor, target: Target) -> Iterator[Failure]:
    spec = root["spec"]
    for role in ("driver", "executor"):
        yield from _spark_devices(spec[role]["gpu"])
    if not target.has_gate("SparkApplicationIntegration"):
        return
    yield from _labels(root, "SparkApplication", target)
    yield from gates(root, target)
    yield from topology(pod_sets(root), target)
    if not _has_queue(root):
        return
    mode, dynamic = spec["mode"], spec["dynamicAllocation"]["enabled"]
    if mode.text() not in (None, "cluster"):
        yield refuse(mode, "JOB-W40", f'Unsupported value: {show(mode.data)}: supported values: "cluster"')
    is_elastic = root["metadata"]["annotations"][KUEUE + "elastic-job"].text() == "true"
    if dynamic.boolean() and not (is_elastic and target.has_gate(ELASTIC_GATE)):
        yield refuse(dynamic, "JOB-W40", "Forbidden: a queued SparkApplication has a fixed size")


def _spark_devices(gpu: Cursor) -> Iterator[Failure]:
    """Check values that the API server accepts, but for which the operator requests no devices and only logs an error."""
    many = gpu["quantity"].integer()
    if many is not None and many < 0:
        text = f"Invalid value: {many}: the Spark operator ignores it, so the pods get no devices"
        yield requests_invalid(gpu["quantity"], "RES-V02", text)
    if many is not None and many > 0 and gpu["name"].text() == "":
        text = 'Invalid value: "": the Spark operator ignores the quantity without a name, so the pods get no devices'
        yield requests_invalid(gpu["name"], "RES-V01", text)
