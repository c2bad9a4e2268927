"""The workloads of Volcano, each with its queue: jobs, pod groups from manifests, gangs of operators, and other pods.

Source: Volcano 1.15, `pkg/controllers/{job,podgroup}`.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.place import Place
from qcheck.cluster.pods import Amounts, in_base_units
from qcheck.cluster.policy import VOLCANO_SCHEDULER
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import ByIdentity, view
from qcheck.cluster.volcano import (
    DEFAULT,
    GROUP_ANNOTATIONS,
    QUEUE_ANNOTATION,
    VolcanoJob,
    VolcanoPodGroup,
)
from qcheck.schedulers.volcano.operator_gangs import names_queue, operator_gang

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.volcano import NetworkTopology
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.schedulers.volcano.operator_gangs import OperatorGang

MIN_MEMBER_ANNOTATION = "scheduling.volcano.sh/group-min-member"


class Task(Value, cached=True):
    """The pods of a pod set, of which `least` must start with the gang."""

    pod_set: PodSet
    least: int

    @property
    def template(self) -> PodTemplate:
        return self.pod_set.template

    @property
    def count(self) -> int:
        return self.pod_set.count

    @cached_property
    def request(self) -> Amounts:
        """The requests of one pod, in base units."""
        return self.template.amounts()


class VolcanoGang(Value, cached=True):
    """Pods that start together or not at all. `together`: their number. `place`: that of the number, or of the gang.

    `is_job`: the webhook for jobs has checked the gang. `fixed`: the minimum request that a pod group states.
    `workloads`: the owners of the pods; a pod group from a manifest may have several.
    """

    id: ObjectId
    place: Place
    queue: str
    queue_place: Place
    together: int
    tasks: tuple[Task, ...]
    is_job: bool
    fixed: Amounts | None = None
    workloads: tuple[Workload, ...] = ()
    topology: NetworkTopology | None = None

    @cached_property
    def least(self) -> Amounts:
        """The least that the gang requests when it starts, resource by resource, in base units."""
        if self.fixed is not None:
            return self.fixed
        return {r: self._least(r) for r in sorted({r for t in self.tasks for r in t.request})}

    def _least(self, resource: str) -> int:
        """Return the request of the pods that must start, plus the smallest others up to the gang's size."""
        least = [t.least for t in self.tasks]
        if sum(least) > self.together:
            least = [0] * len(self.tasks)
        total = sum(n * t.request.get(resource, 0) for n, t in zip(least, self.tasks, strict=True))
        left = self.together - sum(least)
        spare = sorted((t.request.get(resource, 0), t.count - n) for n, t in zip(least, self.tasks, strict=True))
        for each, count in spare:
            total += each * min(left, max(0, count))
            left -= min(left, max(0, count))
        return total

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """The resources that some of its pods request."""
        if self.fixed is not None:
            return tuple(r for r, a in self.fixed.items() if a > 0)
        return tuple(sorted({r for t in self.tasks for r, a in t.request.items() if a > 0 and t.count}))

    def largest(self, resource: str) -> int:
        """Return the request of its largest pod for a resource."""
        return max((t.request.get(resource, 0) for t in self.tasks if t.count), default=0)


@view
def gangs_of(cluster: Cluster) -> tuple[VolcanoGang, ...]:
    """Return everything that Volcano schedules, in the order of the files; pods of a pod group count with the group."""
    groups = {(g.namespace, g.name): g for g in cluster.volcano_pod_groups}
    members: dict[tuple[str, str], list[Workload]] = {}
    found: list[VolcanoGang] = []
    for workload in cluster.workloads:
        if isinstance(workload, VolcanoJob):
            if workload.scheduler == VOLCANO_SCHEDULER:
                found.append(_of_job(workload))
        elif (group := _group(workload)) and (workload.namespace, group) in groups:
            members.setdefault((workload.namespace, group), []).append(workload)
        elif is_scheduled(workload) or joins_by_queue(workload):
            gang = operator_gang(workload)
            found += _of_pods(cluster, workload) if gang is None else (_of_operator(cluster, workload, gang),)
    return (*found, *(_of_group(g, members.get(key, [])) for key, g in groups.items()))


def gangs_with(cluster: Cluster, workload: Workload) -> tuple[VolcanoGang, ...]:
    """Return the gangs that pods of a workload belong to; empty if Volcano does not schedule it."""
    return _by_workload(cluster).get(ByIdentity(workload), ())


@view
def _by_workload(cluster: Cluster) -> dict[ByIdentity, tuple[VolcanoGang, ...]]:
    found: dict[ByIdentity, tuple[VolcanoGang, ...]] = {}
    for gang in gangs_of(cluster):
        for workload in gang.workloads:
            found[ByIdentity(workload)] = (*found.get(ByIdentity(workload), ()), gang)
    return found


def is_scheduled(workload: Workload) -> bool:
    """Return whether the pods name Volcano as their scheduler."""
    return any(p.template.scheduler_name == VOLCANO_SCHEDULER for p in workload.pod_sets)


def joins_by_queue(workload: Workload) -> bool:
    """Return whether an operator sends a workload to a queue of Volcano although its pods name no scheduler."""
    names_other = any(p.template.scheduler_name for p in workload.pod_sets)
    return names_queue(workload) and workload.queue is None and not names_other


def _group(workload: Workload) -> str | None:
    """Return the pod group that the pods name."""
    annotated = (p.template.annotations for p in workload.pod_sets)
    return next((a[key] for a in annotated for key in GROUP_ANNOTATIONS if a.get(key)), None)


def _of_job(job: VolcanoJob) -> VolcanoGang:
    tasks = tuple(Task(p, least) for p, least in zip(job.pod_sets, job.minimums, strict=True))
    return VolcanoGang(
        id=job.id,
        place=job.together_place or job.place,
        queue=job.volcano_queue,
        queue_place=job.queue_place,
        together=job.min_available,
        tasks=tasks,
        is_job=job.id.kind == "Job",
        workloads=(job,),
        topology=job.topology,
    )


def _of_operator(cluster: Cluster, workload: Workload, gang: OperatorGang) -> VolcanoGang:
    queue, place = (gang.queue, gang.queue_place) if gang.queue else _annotated_queue(workload)
    return VolcanoGang(
        id=workload.id,
        place=gang.place,
        queue=queue or _of_namespace(cluster, workload.namespace),
        queue_place=place or workload.name_place,
        together=gang.together,
        tasks=tuple(Task(p, least) for p, least in zip(workload.pod_sets, gang.counts, strict=True)),
        is_job=False,
        fixed=gang.fixed,
        workloads=(workload,),
    )


def _annotated_queue(workload: Workload) -> tuple[str | None, Place | None]:
    """Return the queue that the pods of a workload name, and its place."""
    for each in workload.pod_sets:
        queue = each.template.annotations.get(QUEUE_ANNOTATION)
        if queue:
            return queue, each.template.metadata_place.at("annotations", QUEUE_ANNOTATION)
    return None, None


def _of_pods(cluster: Cluster, workload: Workload) -> Iterator[VolcanoGang]:
    """Yield one gang per pod set, with as many pods as the owner's annotation says, else each pod separately."""
    together = whole(workload.annotations.get(MIN_MEMBER_ANNOTATION, "")) or 1
    for each in workload.pod_sets:
        queue = each.template.annotations.get(QUEUE_ANNOTATION)
        place = each.template.metadata_place.at("annotations", QUEUE_ANNOTATION)
        yield VolcanoGang(
            id=workload.id,
            place=each.template.place,
            queue=queue or _of_namespace(cluster, workload.namespace),
            queue_place=place if queue else each.template.place,
            together=together,
            tasks=(Task(each, 0),),
            is_job=False,
            workloads=(workload,),
        )


def _of_namespace(cluster: Cluster, name: str) -> str:
    """Return the queue of pods that name none: the one that their namespace names, else `default`."""
    namespace = cluster.namespace.get(name)
    return (namespace.annotations.get(QUEUE_ANNOTATION) if namespace else None) or DEFAULT


def _of_group(group: VolcanoPodGroup, members: list[Workload]) -> VolcanoGang:
    tasks = tuple(Task(p, 0) for m in members for p in m.pod_sets)
    fixed = None if group.min_resources is None else in_base_units(group.min_resources)
    return VolcanoGang(
        id=group.id,
        place=group.place.at("spec", "minMember"),
        queue=group.queue,
        queue_place=group.queue_place,
        together=group.min_member,
        tasks=tasks,
        is_job=False,
        fixed=fixed if fixed is not None or tasks else {},
        workloads=tuple(members),
        topology=group.topology,
    )
