"""The pod sets of each kind that Kueue manages: their templates and numbers of pods, with places.

Decoders read the templates of these pod sets, and validation checks them.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.documents.cursor import Cursor

    PodSets = Iterator["WrittenPodSet"]

REPLICA_SPECS: dict[str, tuple[str, tuple[str, ...]]] = {
    "PyTorchJob": ("pytorchReplicaSpecs", ("Master", "Worker")),
    "TFJob": ("tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator")),
    "XGBoostJob": ("xgbReplicaSpecs", ("Master", "Worker")),
    "PaddleJob": ("paddleReplicaSpecs", ("Master", "Worker")),
    "JAXJob": ("jaxReplicaSpecs", ("Worker",)),
    "MPIJob": ("mpiReplicaSpecs", ("Launcher", "Worker")),
}
"""The jobs of `kubeflow.org`: the field with the replicas, and their types in the order in which Kueue uses them."""
_RAY_CLUSTER = {"RayCluster": (), "RayJob": ("rayClusterSpec",), "RayService": ("rayClusterConfig",)}


class WrittenPodSet(Value):
    """A pod set: its name in the Workload, its template, and its number of pods (None if unknown).

    `count_at` is the place of the number. `maximum` is the highest `count` that an autoscaler may set. `holder` has the
    labels and annotations of the pods if that is not the template's metadata. `added` are labels that the controller adds.
    """

    name: str
    template: Cursor
    count: int | None
    count_at: Cursor
    maximum: int | None = None
    holder: Cursor | None = None
    added: dict[str, str] = {}

    @property
    def annotations(self) -> Cursor:
        return (self.holder or self.template["metadata"])["annotations"]


def pod_sets(root: Cursor) -> PodSets:
    """Return the pod sets of an object, in the order of its Workload; none for other kinds."""
    find = _POD_SETS.get(root.text_at("kind"))
    return find(root) if find else iter(())


def count_of(at: Cursor, default: int = 1) -> int:
    """Return a number of pods or groups with the API server's default."""
    found = at.count()
    return default if found is None else found


def job_pods(spec: Cursor) -> int:
    """Return the number of a Job's pods at the same time: the smaller of parallelism and completions."""
    completions = spec["completions"].count()
    parallelism = count_of(spec["parallelism"])
    return parallelism if completions is None else min(parallelism, completions)


def replicated_job(at: Cursor) -> WrittenPodSet:
    """Return the pod set of one of a JobSet's `replicatedJobs`: a number of Jobs with their pods."""
    job, replicas = at["template"]["spec"], at["replicas"]
    return WrittenPodSet(
        at.text_at("name").lower(),
        job["template"],
        job_pods(job) * count_of(replicas),
        replicas if replicas.exists else job["parallelism"],
    )


def ray_cluster_of(root: Cursor) -> Cursor:
    """Return the RayCluster spec inside any of the Ray kinds."""
    at = root["spec"]
    for step in _RAY_CLUSTER[root.text_at("kind")]:
        at = at[step]
    return at


def _pod(root: Cursor) -> PodSets:
    yield WrittenPodSet("main", root, 1, root)


def _job(root: Cursor) -> PodSets:
    """Yield the pods of a Job; they have labels with its name, unless the name is generated."""
    spec, name = root["spec"], root["metadata"].text_at("name")
    added = {"job-name": name, "batch.kubernetes.io/job-name": name} if name else {}
    yield WrittenPodSet("main", spec["template"], job_pods(spec), spec["parallelism"], added=added)


def _cron_job(root: Cursor) -> PodSets:
    return _job(root["spec"]["jobTemplate"])


def _replicas(root: Cursor) -> PodSets:
    spec = root["spec"]
    yield WrittenPodSet("main", spec["template"], count_of(spec["replicas"]), spec["replicas"])


def _job_set(root: Cursor) -> PodSets:
    name = root["metadata"].text_at("name")
    added = {"jobset.sigs.k8s.io/jobset-name": name} if name else {}
    for each in root["spec"].items_at("replicatedJobs"):
        own = {**added, "jobset.sigs.k8s.io/replicatedjob-name": each.text_at("name")}
        yield replace(replicated_job(each), added=own)


def _kubeflow(root: Cursor) -> PodSets:
    spec = root["spec"]
    field, types = REPLICA_SPECS[root.text_at("kind")]
    for name in types:
        replica = spec[field][name]
        if replica.exists:
            most = spec["elasticPolicy"]["maxReplicas"].count() if name == "Worker" else None
            count = replica["replicas"]
            yield WrittenPodSet(name.lower(), replica["template"], count_of(count), count, maximum=most)


def _leader_worker_set(root: Cursor) -> PodSets:
    """Yield a leader and `size - 1` workers, or without a leader's template `size` equal pods."""
    group = root["spec"]["leaderWorkerTemplate"]
    size = count_of(group["size"])
    if not group["leaderTemplate"].exists:
        yield WrittenPodSet("main", group["workerTemplate"], size, group["size"])
        return
    yield WrittenPodSet("leader", group["leaderTemplate"], 1, group["leaderTemplate"])
    yield WrittenPodSet("worker", group["workerTemplate"], max(0, size - 1), group["size"])


def _ray(root: Cursor) -> PodSets:
    """Yield the head and the worker groups; workers are `replicas` (by default 0) times the hosts of each."""
    cluster = ray_cluster_of(root)
    head = cluster["headGroupSpec"]
    if not head.exists:
        return
    yield WrittenPodSet("head", head["template"], 1, head)
    grows = cluster["enableInTreeAutoscaling"].boolean() or False
    for group in cluster.items_at("workerGroupSpecs"):
        hosts, most = max(1, group["numOfHosts"].count() or 1), group["maxReplicas"].count()
        yield WrittenPodSet(
            group.text_at("groupName").lower(),
            group["template"],
            count_of(group["replicas"], 0) * hosts,
            group["replicas"],
            maximum=most * hosts if grows and most is not None else None,
        )


def _ray_job(root: Cursor) -> PodSets:
    yield from _ray(root)
    spec = root["spec"]
    if ray_submission(spec) == "K8sJobMode":
        yield WrittenPodSet("submitter", spec["submitterPodTemplate"], 1, spec["submissionMode"])


def ray_submission(spec: Cursor) -> str:
    """Return the submission mode of a RayJob, with the CRD's default."""
    return spec.text_at("submissionMode") or "K8sJobMode"


def _spark(root: Cursor) -> PodSets:
    driver, executor = root["spec"]["driver"], root["spec"]["executor"]
    yield WrittenPodSet("driver", driver["template"], 1, driver, holder=driver)
    instances = executor["instances"]
    yield WrittenPodSet("executor", executor["template"], instances.count(), instances, holder=executor)


_POD_SETS: dict[str, Callable[[Cursor], PodSets]] = {
    "Pod": _pod,
    "Job": _job,
    "CronJob": _cron_job,
    "Deployment": _replicas,
    "StatefulSet": _replicas,
    "ReplicaSet": _replicas,
    "JobSet": _job_set,
    "LeaderWorkerSet": _leader_worker_set,
    "RayCluster": _ray,
    "RayService": _ray,
    "RayJob": _ray_job,
    "SparkApplication": _spark,
    **dict.fromkeys(REPLICA_SPECS, _kubeflow),
}
