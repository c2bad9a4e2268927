"""Workloads as KAI's pod grouper sees them: queue, priority, and the number of pods that start together.

Source: KAI 0.17 `pkg/podgrouper`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from qcheck.cluster.cluster import SYSTEM_PRIORITIES
from qcheck.cluster.kai import Dimension, KaiNames, KaiPodGroup
from qcheck.cluster.place import follow
from qcheck.cluster.policy import KAI_CLASSES
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import ByIdentity, view
from qcheck.schedulers.kai.gangs import KaiGang, first_pods
from qcheck.schedulers.kai.requests import Request, device_part, request_of, whole_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload

DEFAULT_QUEUE = "default-queue"
PROJECT_LABEL = "project"
PRIORITY_LABEL = "priorityClassName"
RAY_PRIORITY_LABEL = "ray.io/priority-class-name"
PREEMPTIBILITY_LABEL = "kai.scheduler/preemptibility"
PREEMPTIBILITY = ("preemptible", "non-preemptible")
"""The valid values of that label. KAI ignores all others."""
FORMER_QUEUE_LABEL = "runai/queue"
"""The queue label of KAI's predecessor. No release of KAI reads it by default."""
POD_GROUP_ANNOTATION = "pod-group-name"
NON_PREEMPTIBLE_FROM = 100
"""The priority from which jobs stay within quota and are never evicted for others."""
CLASS_OF_KIND = {"Deployment": "inference", "Service": "inference", "SpotRequest": "inference", "Notebook": "build"}
"""The class of kinds whose objects name none; all other kinds have `train`."""


class PlacedName(Value):
    """A name and its place; `place` is None if the name is a default."""

    name: str
    place: Place | None = None


class KaiJob(Value, cached=True):
    """A workload of KAI, or of another scheduler but with a queue of KAI (then `is_scheduled` is False).

    `unknown_class` is a class that a label names but that does not exist; KAI ignores it. `priority` is None if the
    value of its class is unknown.
    """

    workload: Workload
    is_scheduled: bool
    queue: PlacedName
    partition: str
    priority_class: PlacedName
    unknown_class: PlacedName | None
    priority: int | None
    preemptibility: str
    pod_group: KaiPodGroup | None

    @property
    def is_preemptible(self) -> bool | None:
        """Return whether others may evict it, and whether it may exceed its queue's quota; None if unknown."""
        if self.preemptibility in PREEMPTIBILITY:
            return self.preemptibility == "preemptible"
        return None if self.priority is None else self.priority < NON_PREEMPTIBLE_FROM

    @cached_property
    def gang(self) -> KaiGang:
        """The pods that start together."""
        least = None if self.pod_group is None else self.pod_group.min_member
        return first_pods(self.workload, least)

    @cached_property
    def first(self) -> dict[Dimension, Fraction]:
        """The least that the pods that start together request, in base units."""
        return self._sum(self.gang.counts)

    @cached_property
    def first_memory(self) -> int:
        """The GPU memory that the pods that start together request, in MiB."""
        sets = zip(self.gang.counts, self.workload.pod_sets, strict=True)
        return sum(count * whole_memory(p.template) for count, p in sets)

    @cached_property
    def whole(self) -> dict[Dimension, Fraction]:
        """The requests of all pods, in base units."""
        return self._sum(tuple(p.count * self.workload.groups for p in self.workload.pod_sets))

    def _sum(self, counts: tuple[int, ...]) -> dict[Dimension, Fraction]:
        total = dict.fromkeys(Dimension, Fraction(0))
        for count, request in zip(counts, self.requests, strict=True):
            for dimension in Dimension:
                total[dimension] += count * request.amounts[dimension]
        return total

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The requests of a pod of each pod set."""
        return tuple(request_of(p.template) for p in self.workload.pod_sets)

    def place_of(self, dimension: Dimension) -> Place:
        """Return the place at which the first pod set that requests a resource requests it."""
        for request in self.requests:
            if request.amounts[dimension]:
                return request.places[dimension]
        for pod_set in self.workload.pod_sets:
            part = device_part(pod_set.template)
            if dimension is Dimension.GPU and part is not None:
                return part.place
        return self.workload.name_place


def former_queue(workload: Workload) -> PlacedName | None:
    """Return the queue that a workload names in the label of KAI's predecessor."""
    return _found(list(_labels(workload)), FORMER_QUEUE_LABEL)


@view
def jobs_of(cluster: Cluster) -> tuple[KaiJob, ...]:
    """Return the workloads that KAI schedules or that name one of its queues, in order."""
    names, groups = cluster.kai_names, _pod_groups(cluster)
    found = (_job(cluster, names, workload, groups) for workload in cluster.workloads)
    return tuple(job for job in found if job is not None)


def job_of(cluster: Cluster, workload: Workload) -> KaiJob | None:
    """Return a workload, even one that is not among the files, as a job of KAI; None if KAI is not involved."""
    known = _by_workload(cluster)
    if ByIdentity(workload) in known:
        return known[ByIdentity(workload)]
    return _job(cluster, cluster.kai_names, workload, _pod_groups(cluster))


@view
def _by_workload(cluster: Cluster) -> dict[ByIdentity, KaiJob | None]:
    """Return KAI's job, if any, of each workload among the files."""
    found: dict[ByIdentity, KaiJob | None] = {ByIdentity(workload): None for workload in cluster.workloads}
    found.update((ByIdentity(job.workload), job) for job in jobs_of(cluster))
    return found


@view
def _pod_groups(cluster: Cluster) -> dict[tuple[str, str], KaiPodGroup]:
    """Return the pod groups from manifests, by namespace and name."""
    return {(g.id.namespace or "default", g.name): g for g in cluster.kai_pod_groups}


def _job(
    cluster: Cluster, names: KaiNames, workload: Workload, groups: dict[tuple[str, str], KaiPodGroup]
) -> KaiJob | None:
    is_scheduled = any(p.template.scheduler_name == names.scheduler for p in workload.pod_sets)
    labels = list(_labels(workload))
    queue = _found(labels, names.queue_label)
    if not is_scheduled and queue is None:
        return None
    group = _pod_group(workload, groups)
    named = _named_class(workload, labels, group)
    known = named if named is None or _value(cluster, named.name) is not None else None
    priority_class = known or PlacedName(CLASS_OF_KIND.get(workload.id.kind, "train"))
    pool = _found(labels, names.node_pool_label)
    stated = (known[PREEMPTIBILITY_LABEL] for known, _ in labels if PREEMPTIBILITY_LABEL in known)
    preemptibility = next((word for word in stated if word in (*PREEMPTIBILITY, "")), "")
    return KaiJob(
        workload=workload,
        is_scheduled=is_scheduled,
        queue=_queue_of_group(group) or queue or _project_queue(labels, names) or PlacedName(DEFAULT_QUEUE),
        partition=pool.name if pool else "",
        priority_class=priority_class,
        unknown_class=named if known is None else None,
        priority=_value(cluster, priority_class.name),
        preemptibility=(group.preemptibility if group else "") or preemptibility,
        pod_group=group,
    )


def _pod_group(workload: Workload, groups: dict[tuple[str, str], KaiPodGroup]) -> KaiPodGroup | None:
    """Return the pod group from a manifest that the pods name."""
    for pod_set in workload.pod_sets:
        found = groups.get((workload.namespace, pod_set.template.annotations.get(POD_GROUP_ANNOTATION, "")))
        if found is not None:
            return found
    return None


def _queue_of_group(group: KaiPodGroup | None) -> PlacedName | None:
    return PlacedName(group.queue, group.place.at("spec", "queue")) if group and group.queue else None


def owner_metadata(workload: Workload) -> Place:
    """Return the metadata that counts as the top owner's: for a CronJob that of the Jobs it creates."""
    if workload.id.kind == "CronJob":
        return workload.place.at("spec", "jobTemplate", "metadata")
    return workload.place.at("metadata")


def _labels(workload: Workload) -> Iterator[tuple[dict[str, str], Place]]:
    """Yield labels in the order in which KAI reads them: of the top owner, then of the pods."""
    yield labels_at(owner_metadata(workload), "labels", workload.labels, workload.id.kind == "CronJob")
    for pod_set in workload.pod_sets:
        template = pod_set.template
        yield template.labels, template.metadata_place.at("labels")


def labels_at(metadata: Place, field: str, decoded: dict[str, str], is_elsewhere: bool) -> tuple[dict[str, str], Place]:
    """Return labels or annotations with their place; `is_elsewhere`: they are not those of the object itself."""
    place = metadata.at(field)
    if not is_elsewhere:
        return decoded, place
    written = follow(place.origin.data, place.route)
    return (written if isinstance(written, dict) else {}), place


def _found(labels: list[tuple[dict[str, str], Place]], key: str) -> PlacedName | None:
    """Return the first value of a label, with its place."""
    return next((PlacedName(str(known[key]), place.at(key)) for known, place in labels if known.get(key)), None)


def _project_queue(labels: list[tuple[dict[str, str], Place]], names: KaiNames) -> PlacedName | None:
    """Return the queue of a project: its name, followed by the node pool that the pods name."""
    project, pool = _found(labels, PROJECT_LABEL), _found(labels[1:], names.node_pool_label)
    if project is None:
        return None
    return PlacedName(f"{project.name}-{pool.name}" if pool else project.name, project.place)


def _named_class(
    workload: Workload, labels: list[tuple[dict[str, str], Place]], group: KaiPodGroup | None
) -> PlacedName | None:
    """Return the priority class that the user wrote: in the pod group, a label, or the pods."""
    if group is not None and group.priority_class:
        return PlacedName(group.priority_class, group.place.at("spec", "priorityClassName"))
    if workload.id.group == "ray.io" and RAY_PRIORITY_LABEL in workload.labels:
        place = workload.place.at("metadata", "labels", RAY_PRIORITY_LABEL)
        return PlacedName(workload.labels[RAY_PRIORITY_LABEL], place)
    labelled = _found(labels, PRIORITY_LABEL)
    if labelled is not None:
        return labelled
    for pod_set in workload.pod_sets:
        if pod_set.template.priority_class:
            return PlacedName(pod_set.template.priority_class, pod_set.template.place.at("priorityClassName"))
    return None


def _value(cluster: Cluster, name: str) -> int | None:
    known = cluster.priority_class.get(name)
    if known is not None:
        return known.value
    return SYSTEM_PRIORITIES.get(name, KAI_CLASSES.get(name))
