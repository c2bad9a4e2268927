"""The number of pods of a workload that KAI starts together, by kind.

Source: KAI 0.17 `pkg/podgrouper/podgrouper/plugins`.
"""

from __future__ import annotations

from qcheck.cluster.quantity import integer
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.written_fields import (
    SCHEDULING_POLICY,
    is_ray,
    number,
    place_in,
    worker_groups,
    written,
    written_number,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload

MIN_MEMBER = "kai.scheduler/batch-min-member"
ROLES = {
    "PyTorchJob": ("pytorchReplicaSpecs", ()),
    "TFJob": ("tfReplicaSpecs", ()),
    "XGBoostJob": ("xgbReplicaSpecs", ("Master", "Worker")),
    "JAXJob": ("jaxReplicaSpecs", ("Worker",)),
    "MPIJob": ("mpiReplicaSpecs", ("Launcher", "Worker")),
}
"""The jobs of `kubeflow.org` that start as one gang: the field with the replicas, and the required replica types."""
MIN_AVAILABLE = (*SCHEDULING_POLICY, "minAvailable")
MIN_REPLICAS = ("elasticPolicy", "minReplicas")
INVALID = "is not an integer above 0, so KAI creates no pod group"


class GangFault(Value):
    """The reason why KAI creates no pod group or the gang is never complete, and the change that fixes it."""

    why: str
    change: str


class KaiGang(Value):
    """The number of pods of each pod set that start together, and the place of the minimum or of the workload's name.

    `fault` is None if the gang can start.
    """

    counts: tuple[int, ...]
    place: Place
    fault: GangFault | None = None

    @property
    def size(self) -> int:
        """The number of pods that start together."""
        return sum(self.counts)


def first_pods(workload: Workload, of_group: int | None = None) -> KaiGang:
    """Return the pods that start together; `of_group` is the minimum of a pod group from a manifest.

    If the minimum is below the number of pods, those of the last pod sets are omitted.
    """
    if of_group is not None:
        return _least(workload, of_group, workload.name_place)
    if is_ray(workload):
        return _of_ray(workload)
    group, kind = workload.id.group, workload.id.kind
    if group == "kubeflow.org" and kind in ROLES:
        return _of_training(workload)
    if (group, kind) in (("jobset.x-k8s.io", "JobSet"), ("trainer.kubeflow.org", "TrainJob")):
        return _of_job_set(workload)
    if group == "leaderworkerset.x-k8s.io":
        return KaiGang(tuple(p.count for p in workload.pod_sets), workload.name_place)
    if (group, kind) == ("batch", "Job") and MIN_MEMBER in workload.annotations:
        return _of_job(workload)
    return _least(workload, 1, workload.name_place)


def _least(workload: Workload, least: int, place: Place, fault: GangFault | None = None) -> KaiGang:
    counts = []
    for pod_set in workload.pod_sets:
        counts.append(max(0, min(pod_set.count, least)))
        least -= counts[-1]
    return KaiGang(tuple(counts), place, fault)


def _of_job(job: Workload) -> KaiGang:
    """Return the minimum that the annotation of a Job states."""
    place, text = job.place.at("metadata", "annotations", MIN_MEMBER), job.annotations[MIN_MEMBER]
    least, pods = integer(text), sum(p.count for p in job.pod_sets)
    if least is None:
        why = f"{MIN_MEMBER} is {text!r}, which is not an integer, so KAI creates no pod group"
        return _least(job, 1, place, GangFault(why, f"set {MIN_MEMBER} to an integer of at most {pods}"))
    return _least(job, least, place, _beyond(MIN_MEMBER, least, pods))


def _beyond(field: str, least: int, pods: int) -> GangFault | None:
    if least <= pods:
        return None
    run = "1 pod runs" if pods == 1 else f"{pods} pods run"
    return GangFault(f"{field} is {least}, but only {run} at a time", f"lower {field} to {pods}, or run more pods")


def _invalid(field: str) -> GangFault:
    return GangFault(f"{field} {INVALID}", f"set {field} to an integer above 0")


def _negative(field: str, least: int) -> GangFault | None:
    """Return the fault of a minimum below 0, which the API server rejects in the pod group that KAI creates."""
    if least >= 0:
        return None
    return GangFault(
        f"{field} is {least}, so the API server rejects the pod group that KAI creates", f"set {field} to 0 or more"
    )


def _of_training(job: Workload) -> KaiGang:
    """Return all replicas of a job of `kubeflow.org`, or its stated minimum. PyTorchJobs always need the master."""
    routes = (MIN_AVAILABLE, MIN_REPLICAS) if job.id.kind == "PyTorchJob" else (MIN_AVAILABLE,)
    pods = sum(p.count for p in job.pod_sets)
    fault = None if written_number(job, *MIN_AVAILABLE) is not None else _without_replicas(job)
    for route in routes:
        least = written_number(job, *route)
        if least is not None:
            fault = fault or _negative(route[-1], least) or _beyond(route[-1], least, pods)
            masters = sum(p.count for p in job.pod_sets if p.name == "master" and job.id.kind == "PyTorchJob")
            return _least(job, max(least, masters), place_in(job, *route), fault)
    return _least(job, pods, job.name_place, fault)


def _without_replicas(job: Workload) -> GangFault | None:
    """Return why KAI cannot count the pods of a job: a replica type is missing, or its `replicas` is 0 or not set.

    The operator's default of 1 is not in the object that KAI reads.
    """
    field, required = ROLES[job.id.kind]
    specs = written(job, field)
    known = specs if isinstance(specs, dict) else {}
    missing = next((role for role in required if role not in known), None)
    if missing is not None:
        why = f"KAI creates no pod group without {field}.{missing}"
        return GangFault(why, f"add {field}.{missing}")
    for role, spec in known.items():
        replicas = spec.get("replicas") if isinstance(spec, dict) else None
        if not replicas:
            state = "is not set" if replicas is None else "is 0"
            why = f"KAI creates no pod group because {field}.{role}.replicas {state}"
            return GangFault(why, f"set {field}.{role}.replicas to 1 or more")
    return None


def _of_job_set(job: Workload) -> KaiGang:
    """Return the replicated jobs that start together: all, the annotated number, or the first if they start in order."""
    first, fault = len(job.pod_sets), None
    if MIN_MEMBER in job.annotations:
        stated = integer(job.annotations[MIN_MEMBER])
        fault = None if stated is not None and stated >= 1 else _invalid(MIN_MEMBER)
        first = min(first, stated or 1)
    elif written(job, "startupPolicy", "startupPolicyOrder") == "InOrder":
        first = 1
    each = [_of_replicas(job, at) for at in range(len(job.pod_sets))]
    counts = [count if at < first else 0 for at, (count, _) in enumerate(each)]
    wrong = (why for at, (_, why) in enumerate(each) if why and (at < first or INVALID in why.why))
    return KaiGang(tuple(counts), job.name_place, fault or next(wrong, None))


def _of_replicas(job: Workload, at: int) -> tuple[int, GangFault | None]:
    """Return the pods of a replicated job that start together (all, or each Job's minimum), and a fault."""
    count = job.pod_sets[at].count
    text = written(job, "replicatedJobs", at, "template", "metadata", "annotations", MIN_MEMBER)
    if not isinstance(text, str) or not text:
        return count, None
    least = integer(text)
    if least is None or least < 1:
        return count, _invalid(f"{MIN_MEMBER} of replicated job {job.pod_sets[at].name}")
    replicas = number(written(job, "replicatedJobs", at, "replicas"))
    wanted = least * (1 if replicas is None else replicas)
    return min(count, wanted), _beyond(f"{MIN_MEMBER} of the Jobs of {job.pod_sets[at].name}", wanted, count)


def _of_ray(workload: Workload) -> KaiGang:
    """Return the head and the minimum of each worker group (`minReplicas` or else `replicas`), without the submitter."""
    groups, counts, fault = worker_groups(workload), [], None
    for index, pod_set in enumerate(workload.pod_sets):
        if index > len(groups):
            counts.append(0)
            continue
        counts.append(pod_set.count if index == 0 else _least_workers(groups[index - 1], pod_set.count))
        fault = fault or (_above_replicas(groups[index - 1]) if index else None)
    return KaiGang(tuple(counts), workload.name_place, fault)


def _least_workers(group: Mapping[str, object], count: int) -> int:
    least, hosts = number(group.get("minReplicas")) or 0, number(group.get("numOfHosts")) or 1
    return least * max(1, hosts) if least > 0 else count


def _above_replicas(group: Mapping[str, object]) -> GangFault | None:
    least, replicas = number(group.get("minReplicas")) or 0, number(group.get("replicas")) or 0
    if least <= replicas:
        return None
    name = group.get("groupName") or "a worker group"
    why = f"KAI creates no pod group because minReplicas of {name} ({least}) exceeds its replicas ({replicas})"
    return GangFault(why, f"lower minReplicas of {name} to {replicas}")
