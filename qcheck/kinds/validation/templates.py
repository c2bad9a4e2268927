"""Where the kinds that Kueue manages hold their pod templates, and how many pods of each."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.kinds.replica_specs import REPLICA_SPECS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor


class Set(Value):
    """One pod set: its name in the Workload, its template, and how many pods (None if that is not known).

    `holder` holds the annotations of its pods, where that is not the template's metadata.
    """

    name: str
    template: Cursor
    count: int | None
    holder: Cursor | None = None

    @property
    def annotations(self) -> Cursor:
        return (self.holder or self.template["metadata"])["annotations"]


_RAY = {"RayCluster": (), "RayJob": ("rayClusterSpec",), "RayService": ("rayClusterConfig",)}
_SINGLE = frozenset({"StatefulSet", "Deployment", "ReplicaSet"})


def pod_sets(root: Cursor, kind: str) -> Iterator[Set]:
    """The pod sets of an object, in the order of its Workload; nothing for kinds that have none."""
    spec = root["spec"]
    if kind == "Pod":
        yield Set("main", root, 1)
    elif kind == "Job":
        yield Set("main", spec["template"], job_pods(spec))
    elif kind == "CronJob":
        yield Set("main", spec["jobTemplate"]["spec"]["template"], job_pods(spec["jobTemplate"]["spec"]))
    elif kind in _SINGLE:
        yield Set("main", spec["template"], _count(spec["replicas"]))
    elif kind == "JobSet":
        for each in spec["replicatedJobs"].items():
            inner = each["template"]["spec"]
            yield Set(each["name"].text() or "", inner["template"], _count(each["replicas"]) * job_pods(inner))
    elif kind in _RAY:
        yield from _ray(ray_spec(root, kind))
    elif kind in REPLICA_SPECS:
        for name, replica in spec[REPLICA_SPECS[kind][0]].mapping():
            yield Set(name.lower(), replica["template"], _count(replica["replicas"]))
    elif kind == "LeaderWorkerSet":
        yield from _leader_worker(spec["leaderWorkerTemplate"])
    elif kind == "SparkApplication":
        driver, executor = spec["driver"], spec["executor"]
        yield Set("driver", driver["template"], 1, driver)
        yield Set("executor", executor["template"], executor["instances"].integer(), executor)


def ray_spec(root: Cursor, kind: str) -> Cursor:
    """The RayCluster spec inside any of the Ray kinds."""
    at = root["spec"]
    for step in _RAY[kind]:
        at = at[step]
    return at


def job_pods(spec: Cursor) -> int:
    """Pods of a Job at once: the smaller of parallelism (1 by default) and completions."""
    parallelism, completions = _count(spec["parallelism"]), spec["completions"].integer()
    return parallelism if completions is None else min(parallelism, completions)


def _count(at: Cursor) -> int:
    number = at.integer()
    return 1 if number is None else number


def _ray(spec: Cursor) -> Iterator[Set]:
    if spec["headGroupSpec"].exists:
        yield Set("head", spec["headGroupSpec"]["template"], 1)
    for group in spec["workerGroupSpecs"].items():
        count = _count(group["replicas"]) * max(1, _count(group["numOfHosts"]))
        yield Set(group["groupName"].text() or "", group["template"], count)


def _leader_worker(at: Cursor) -> Iterator[Set]:
    size = _count(at["size"])
    if at["leaderTemplate"].exists:
        yield Set("leader", at["leaderTemplate"], 1)
        yield Set("worker", at["workerTemplate"], size - 1)
    else:
        yield Set("main", at["workerTemplate"], size)
