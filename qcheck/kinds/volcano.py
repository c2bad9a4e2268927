"""Groups of Volcano: `scheduling.volcano.sh`, `batch.volcano.sh`, `topology.volcano.sh` and `flow.volcano.sh`."""

from __future__ import annotations

from qcheck.cluster import volcano
from qcheck.cluster.policy import VOLCANO_SCHEDULER
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.core import pod_set
from qcheck.kinds.go_patterns import matcher
from qcheck.kinds.pod_sets import WrittenPodSet, count_of
from qcheck.kinds.shared_fields import label_selector, metadata, object_id, place, quantities, text_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def queue(root: Cursor) -> Object:
    spec = root["spec"]
    weight, priority = spec["weight"].integer(), spec["priority"].integer()
    return volcano.VolcanoQueue(
        object_id(root),
        place(root),
        *metadata(root),
        weight=weight if weight is not None and weight > 0 else 1,
        capability=quantities(spec["capability"]),
        deserved=quantities(spec["deserved"]),
        guarantee=quantities(spec["guarantee"]["resource"]),
        parent=spec["parent"].meant() or "",
        priority=priority or 0,
        reclaimable=spec["reclaimable"].boolean() is not False,
        terms=_terms(spec["affinity"]),
        state=root["status"].text_at("state"),
    )


def _terms(affinity: Cursor) -> volcano.NodeGroupTerms | None:
    if not affinity.exists:
        return None
    near, away = affinity["nodeGroupAffinity"], affinity["nodeGroupAntiAffinity"]
    return volcano.NodeGroupTerms(
        required=text_list(near[_REQUIRED]),
        preferred=text_list(near[_PREFERRED]),
        forbidden=text_list(away[_REQUIRED]),
        avoided=text_list(away[_PREFERRED]),
    )


def pod_group(root: Cursor) -> Object:
    spec = root["spec"]
    return volcano.VolcanoPodGroup(
        object_id(root),
        place(root),
        *metadata(root),
        queue=spec.text_at("queue") or volcano.DEFAULT,
        queue_place=place(spec["queue"]),
        min_member=spec["minMember"].count() or 0,
        min_resources=quantities(spec["minResources"]) if spec["minResources"].exists else None,
        priority_class=spec.text_at("priorityClassName") or None,
        topology=_topology(spec["networkTopology"]),
    )


def job(root: Cursor) -> Object:
    return _job(root, root["spec"])


def cron_job(root: Cursor) -> Object:
    return _job(root, root["spec"]["jobTemplate"]["spec"])


def _job(root: Cursor, spec: Cursor) -> volcano.VolcanoJob:
    """Return a job with the defaults of the mutating webhook: all replicas of a task, and the minimums of all tasks."""
    tasks = spec.items_at("tasks")
    pod_sets = tuple(
        pod_set(WrittenPodSet(t.text_at("name") or f"default{i}", t["template"], _replicas(t), t["replicas"]))
        for i, t in enumerate(tasks)
    )
    minimums = tuple(_minimum(t) for t in tasks)
    together = spec["minAvailable"].count()
    priority_class = spec["priorityClassName"]
    return volcano.VolcanoJob(
        object_id(root),
        place(root),
        *metadata(root),
        framework=None,
        queue=None,
        queue_place=place(spec["queue"]),
        priority_class=None,
        priority_class_place=place(priority_class),
        pod_sets=pod_sets,
        job_pod_priority_class=priority_class.text() or None,
        volcano_queue=spec.text_at("queue") or volcano.DEFAULT,
        min_available=together or sum(minimums),
        together_place=place(spec["minAvailable"]),
        minimums=minimums,
        scheduler=spec.text_at("schedulerName") or VOLCANO_SCHEDULER,
        topology=_topology(spec["networkTopology"]),
    )


def _replicas(task: Cursor) -> int:
    return count_of(task["replicas"], 0)


def _minimum(task: Cursor) -> int:
    """Return how many pods of a task must start together: those of its minimum partitions if it sets them, else all."""
    written, partitions = task["minAvailable"].count(), task["partitionPolicy"]
    if written is not None:
        return written
    fewest, size = partitions["minPartitions"].count() or 0, partitions["partitionSize"].count() or 0
    return fewest * size or _replicas(task)


def _topology(at: Cursor) -> volcano.NetworkTopology | None:
    if not at.exists:
        return None
    return volcano.NetworkTopology(
        place=place(at),
        is_hard=at.text_at("mode") != "soft",
        highest_tier=at["highestTierAllowed"].count(),
        highest_tier_name=at.text_at("highestTierName") or None,
    )


def hyper_node(root: Cursor) -> Object:
    spec = root["spec"]
    return volcano.HyperNode(
        object_id(root),
        place(root),
        *metadata(root),
        tier=spec["tier"].integer() or 0,
        tier_name=spec.text_at("tierName"),
        members=tuple(_member(m) for m in spec.items_at("members")),
    )


def _member(at: Cursor) -> volcano.HyperNodeMember:
    selector = at["selector"]
    pattern = selector["regexMatch"]["pattern"].text()
    return volcano.HyperNodeMember(
        place=place(at),
        is_node=at.text_at("type") == "Node",
        exact=selector["exactMatch"]["name"].text(),
        pattern=None if pattern is None else volcano.NamePattern(pattern, matcher(pattern)),
        labels=label_selector(selector["labelMatch"]),
    )


def job_flow(root: Cursor) -> Object:
    flows = tuple(
        volcano.Flow(f.text_at("name"), place(f), text_list(f["dependsOn"]["targets"]))
        for f in root["spec"].items_at("flows")
    )
    return volcano.JobFlow(object_id(root), place(root), *metadata(root), flows=flows)


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "Queue": queue,
    "PodGroup": pod_group,
    "Job": job,
    "CronJob": cron_job,
    "JobTemplate": job,
    "HyperNode": hyper_node,
    "JobFlow": job_flow,
}
