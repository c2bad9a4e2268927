"""Workloads that never reach Kueue's scheduler, because of the API server, a webhook or the pod group's own numbers.

Source: kubernetes `pkg/apis`, Kueue 0.19 `pkg/webhooks`, `pkg/controller/jobs/pod/pod_controller.go`.
"""

from __future__ import annotations

from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.cluster.workload_parts import FAST_ADMISSION, GROUP_NAME, GROUP_TOTAL, declared_total, group_of
from qcheck.schedulers.kueue.gates import ELASTIC, is_on
from qcheck.schedulers.kueue.routing import destination

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.problems import Problem
    from qcheck.cluster.reasons import ReasonCause
    from qcheck.cluster.workloads import PodSet, Workload

_REFUSED: dict[ProblemCode, ReasonCause] = {
    ProblemCode.API_REJECTED: "api-rejected",
    ProblemCode.REQUESTS_INVALID: "requests-invalid",
    ProblemCode.API_VERSION_GONE: "api-version-gone",
}


class GroupFault(Value):
    """A fault of a pod group: its place, its owner, and what it contradicts. `found`: the number of pods."""

    place: Place
    message: str
    object: ObjectId
    near: tuple[tuple[Place, str], ...] = ()
    stated: int | None = None
    found: int | None = None


@view
def _problems_of(cluster: Cluster) -> dict[ObjectId, list[Problem]]:
    found: dict[ObjectId, list[Problem]] = {}
    for problem in cluster.problems:
        if problem.code in _REFUSED and problem.certain and problem.object is not None:
            found.setdefault(problem.object, []).append(problem)
    return found


def may_be_rejected(cluster: Cluster, workload: Workload) -> bool:
    """Return whether `refusals` or `pod_refusals` may yield anything for a workload."""
    if workload.members or workload.id in _problems_of(cluster):
        return True
    return _is_elastic_ray(workload) or _is_ungrouped(workload)


def refusals(cluster: Cluster, workload: Workload) -> Iterator[Reason]:
    """Yield why a workload as written is not created, or does not reach the scheduler."""
    yield from (_rejected(p) for p in _about(cluster, workload) if not _is_of_pods(p))
    if (away := autoscaled_elsewhere(cluster, workload)) is not None:
        yield away
    for fault in group_faults(cluster, workload):
        yield Reason(
            code=ReasonCode.MISCONFIGURED,
            cause="pod-group",
            message=fault.message,
            place=fault.place,
            near=tuple(p for p, _ in fault.near),
        )


def autoscaled_elsewhere(cluster: Cluster, workload: Workload) -> Reason | None:
    """Return why an elastic, self-scaling RayCluster is rejected in a queue that sends it to other clusters.

    Kueue sets `managedBy` first.
    """
    if not _is_elastic_ray(workload) or not is_on(cluster, ELASTIC):
        return None
    scaling, by = (workload.place.at("spec", f) for f in ("enableInTreeAutoscaling", "managedBy"))
    if not scaling.exists or by.exists or not any(_scales_itself(p) for p in workload.pod_sets):
        return None
    queue = destination(cluster, workload).queue
    for use in queue.checks if queue else ():
        check = cluster.admission_check.get(use.name)
        if check is not None and check.is_multikueue:
            text = f"the check {use.name} sends it to other clusters, where an elastic RayCluster cannot scale"
            message = f"spec.enableInTreeAutoscaling: Forbidden: {text}"
            return Reason(
                code=ReasonCode.REJECTED,
                cause="api-rejected",
                message=message,
                place=scaling,
                near=(use.place,),
            )
    return None


def _is_elastic_ray(workload: Workload) -> bool:
    return workload.elastic and workload.framework == "ray.io/raycluster"


def _scales_itself(pod_set: PodSet) -> bool:
    return any(i.container.name == "autoscaler" for i in pod_set.template.injected)


def pod_refusals(cluster: Cluster, workload: Workload) -> Iterator[Reason]:
    """Yield why the pods of a workload that gets its quota cannot be created."""
    yield from (_rejected(p) for p in _about(cluster, workload) if _is_of_pods(p))


def api_refusals(cluster: Cluster, workload: Workload) -> Iterator[Reason]:
    """Yield why the API server creates neither a workload nor its pods, whichever scheduler they name."""
    return map(_rejected, _about(cluster, workload))


def _about(cluster: Cluster, workload: Workload) -> list[Problem]:
    known = _problems_of(cluster)
    return [p for i in dict.fromkeys((workload.id, *(m.id for m in workload.members))) for p in known.get(i, ())]


def _is_of_pods(problem: Problem) -> bool:
    """Return whether a device other than an accelerator lacks a limit, which does not affect queues."""
    steps = problem.place.route
    return problem.code is ProblemCode.REQUESTS_INVALID and not problem.place.exists and not is_compute(str(steps[-1]))


def _rejected(problem: Problem) -> Reason:
    return Reason(
        code=ReasonCode.REJECTED,
        cause=_REFUSED[problem.code],
        message=problem.message,
        place=problem.place,
        near=problem.related,
        change=problem.help.removesuffix("."),
    )


def group_faults(cluster: Cluster, workload: Workload) -> Iterator[GroupFault]:
    """Yield what keeps the pods of a group from becoming one workload."""
    if workload.members:
        yield from _of_group(cluster, workload)
    elif _is_ungrouped(workload):
        message = f"{workload.id} states {GROUP_TOTAL} without the label {GROUP_NAME}, so it is in no group"
        yield GroupFault(_total_place(workload), message, workload.id)


def _is_ungrouped(workload: Workload) -> bool:
    """Return whether a Pod states the size of a group but is in none."""
    return workload.framework == "pod" and not workload.members and GROUP_TOTAL in workload.annotations


def _of_group(cluster: Cluster, group: Workload) -> Iterator[GroupFault]:
    members, name = group.members, group_of(group)
    for member in members:
        if declared_total(member) is None:
            message = f"{member.id} belongs to the pod group {name} without a number of pods in {GROUP_TOTAL}"
            place = _total_place(member) if GROUP_TOTAL in member.annotations else _name_place(member)
            yield GroupFault(place, message, member.id)
            return
    first = members[0]
    odd = next((m for m in members if declared_total(m) != declared_total(first)), None)
    if odd is not None:
        message = f"pods of group {name} state different totals: {declared_total(first)} and {declared_total(odd)}"
        yield GroupFault(_total_place(odd), message, odd.id, ((_total_place(first), f"the total in {first.name}"),))
        return
    yield from _counted(cluster, group, name or "")


def _counted(cluster: Cluster, group: Workload, name: str) -> Iterator[GroupFault]:
    """Yield differences between the stated and the actual number of pods.

    A generated name may mean any number of pods.
    """
    members, total = group.members, declared_total(group)
    if total is None or any(m.id.is_generated for m in members) or group.annotations.get(FAST_ADMISSION) == "true":
        return
    if len(members) == total or (len(members) < total and not cluster.has_all("Pod")):
        return
    waits = "Kueue waits for the others" if len(members) < total else "Kueue deletes the excess pods"
    names = ", ".join(m.name for m in members[:_SHOWN]) + (" ..." if len(members) > _SHOWN else "")
    stated = f"{total} pod{'s' * (total != 1)}"
    yield GroupFault(
        place=_total_place(group),
        message=f"the pod group {name} states {stated}, but there are {len(members)} ({names}): {waits}",
        object=group.id,
        near=tuple((m.name_place, "also of this group") for m in members[1:3]),
        stated=total,
        found=len(members),
    )


_SHOWN = 4


def _total_place(member: Workload) -> Place:
    return member.place.at("metadata", "annotations", GROUP_TOTAL)


def _name_place(member: Workload) -> Place:
    for field in ("labels", "annotations"):
        at = member.place.at("metadata", field, GROUP_NAME)
        if at.exists:
            return at
    return member.name_place
