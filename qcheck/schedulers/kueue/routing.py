"""Routing of a workload to its queue: by its label, to the namespace's default queue, or to none.

Source: Kueue 0.19 `pkg/controller/jobframework`, `pkg/cache/queue`.
"""

from __future__ import annotations

from qcheck.cluster.kueue import ClusterQueue, LocalQueue
from qcheck.cluster.place import Place
from qcheck.cluster.reasons import Reason, ReasonCause, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import answered_once
from qcheck.schedulers.kueue.gates import DEFAULT_QUEUE, is_on
from qcheck.schedulers.kueue.inactive_queues import InactivityReason, inactive
from qcheck.schedulers.kueue.namespaces import is_managed_namespace, selects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload

DEFAULT = "default"
MOST_NAMED = 20
"""The number of queues that a reason lists."""
KUEUE_GROUP = "kueue.x-k8s.io"
_BUILT_IN_FRAMEWORK = "batch/job"
_ALWAYS_THERE = ("system-node-critical", "system-cluster-critical")


class Destination(Value):
    """The destination of a workload.

    `queue_name` is the local queue that it names or gets by default; None if Kueue does not manage it. `blocked` are
    proofs that it is not admitted, `doubts` facts that may be elsewhere.
    """

    queue_name: str | None
    local: LocalQueue | None = None
    queue: ClusterQueue | None = None
    blocked: tuple[Reason, ...] = ()
    doubts: tuple[Reason, ...] = ()


def at_home(cluster: Cluster, workload: Workload) -> Workload:
    """Return the workload in its namespace.

    A manifest without a namespace goes to the only local queue with the name that it gives.
    """
    homes = cluster.local_queues_named.get(workload.queue, ()) if workload.queue is not None else ()
    if len(homes) != 1 or homes[0].namespace == workload.namespace:
        return workload
    if workload.place.at("metadata", "namespace").exists:
        return workload
    return replace(workload, id=replace(workload.id, namespace=homes[0].namespace))


def queue_of(cluster: Cluster, workload: Workload) -> str | None:
    """Return the ClusterQueue behind the local queue that a workload names."""
    local = cluster.local_queue.get((workload.namespace, workload.queue or ""))
    return local.cluster_queue if local is not None else None


@answered_once
def destination(cluster: Cluster, workload: Workload) -> Destination:
    """Return the queue of a workload, as far as the repository shows it, cached by workload."""
    workload = at_home(cluster, workload)
    if not is_integrated(cluster, workload):
        return _unmanaged(workload, _why_outside(workload))
    name = workload.queue or _default_queue(cluster, workload)
    if name is None:
        return _without_queue(cluster, workload)
    found = list(_obstacles(cluster, workload, name))
    local = cluster.local_queue.get((workload.namespace, name))
    return Destination(
        queue_name=name,
        local=local,
        queue=cluster.queue.get(local.cluster_queue or "") if local else None,
        blocked=tuple(reason for certain, reason in found if certain),
        doubts=tuple(reason for certain, reason in found if not certain),
    )


def is_integrated(cluster: Cluster, workload: Workload) -> bool:
    """Return whether Kueue manages workloads of this kind.

    Without a Configuration every integration counts as enabled.
    """
    if workload.framework is None:
        return workload.id.group == KUEUE_GROUP
    manager = cluster.configuration
    if manager is None:
        return True
    if not manager.frameworks:
        return workload.framework == _BUILT_IN_FRAMEWORK
    external = f"{workload.id.kind}.{workload.id.version}.{workload.id.group}"
    return workload.framework in manager.frameworks or external in manager.external_frameworks


def _default_queue(cluster: Cluster, workload: Workload) -> str | None:
    local = cluster.local_queue.get((workload.namespace, DEFAULT))
    if local is None or local.is_stopped or not is_on(cluster, DEFAULT_QUEUE):
        return None
    return DEFAULT if is_managed_namespace(cluster, workload.namespace) else None


def selects_cluster(workload: Workload) -> bool:
    """Return whether it is a RayJob that runs on an existing cluster, so that Kueue ignores it."""
    return workload.framework is None and workload.id.kind == "RayJob"


def _why_outside(workload: Workload) -> str:
    if selects_cluster(workload):
        return "its clusterSelector selects an existing cluster, so Kueue does not manage it"
    return f"no integration for {workload.id.kind} is enabled in Kueue's Configuration"


def _unmanaged(workload: Workload, message: str) -> Destination:
    return Destination(
        None, doubts=(Reason(ReasonCode.UNMANAGED, ReasonCause.UNMANAGED, message, workload.name_place),)
    )


def _without_queue(cluster: Cluster, workload: Workload) -> Destination:
    manager = cluster.configuration
    if (
        manager is None
        or not manager.manage_without_queue_name
        or not is_managed_namespace(cluster, workload.namespace)
    ):
        return _unmanaged(workload, "it names no queue, so it runs outside Kueue and its quota")
    message = "it names no queue, so manageJobsWithoutQueueName keeps it suspended"
    near = (manager.place.at("manageJobsWithoutQueueName"),)
    reason = Reason(
        code=ReasonCode.SUSPENDED,
        cause=ReasonCause.NO_QUEUE,
        message=message,
        place=workload.name_place,
        near=near,
        change="label it with a queue",
    )
    return Destination(None, blocked=(reason,))


def _obstacles(cluster: Cluster, workload: Workload, name: str) -> Iterator[tuple[bool, Reason]]:
    """Yield what keeps the workload from being considered, each with whether it is certain, in Kueue's order."""
    yield from _excluded(cluster, workload)
    yield from _priority(cluster, workload)
    local = cluster.local_queue.get((workload.namespace, name))
    place = workload.queue_place if workload.queue else workload.name_place
    if local is None:
        message = f"the LocalQueue {name} does not exist in namespace {workload.namespace}"
        change = f"create it, or name one of: {_others(cluster, workload.namespace)}"
        certain = (
            cluster.has_all("LocalQueue")
            and not cluster.generates("LocalQueue")
            and not _elsewhere(cluster, workload, name)
        )
        yield certain, Reason(ReasonCode.MISCONFIGURED, ReasonCause.LOCAL_QUEUE_MISSING, message, place, change=change)
        return
    if local.is_stopped:
        yield True, _stopped(local, place)
    queue = cluster.queue.get(local.cluster_queue or "")
    if queue is None:
        message = f"the ClusterQueue {local.cluster_queue} of LocalQueue {name} does not exist"
        near = (local.place.at("spec", "clusterQueue"),)
        certain = cluster.has_all("ClusterQueue") or not local.cluster_queue
        yield (
            certain,
            Reason(
                code=ReasonCode.MISCONFIGURED,
                cause=ReasonCause.CLUSTER_QUEUE_MISSING,
                message=message,
                place=place,
                near=near,
            ),
        )
        return
    for each in inactive(cluster, queue):
        message = f"ClusterQueue {queue.name} is inactive ({each.reason}): {each.message}"
        cause = ReasonCause.QUEUE_STOPPED if each.reason is InactivityReason.STOPPED else ReasonCause.QUEUE_INACTIVE
        yield (
            each.certain,
            Reason(
                code=ReasonCode.SUSPENDED,
                cause=cause,
                message=message,
                place=place,
                near=(each.place,),
                change=each.change,
            ),
        )
    yield from _namespace(cluster, workload, queue)


def _stopped(local: LocalQueue, place: Place) -> Reason:
    message = (
        f"the LocalQueue {local.name} is stopped (stopPolicy {local.stop_policy}): nothing starts until it is released"
    )
    near = (local.place.at("spec", "stopPolicy"),)
    change = f"set stopPolicy of LocalQueue {local.name} to None"
    return Reason(
        code=ReasonCode.SUSPENDED,
        cause=ReasonCause.LOCAL_QUEUE_STOPPED,
        message=message,
        place=place,
        near=near,
        change=change,
    )


def _elsewhere(cluster: Cluster, workload: Workload, name: str) -> bool:
    """Return whether the queue exists in another namespace and the manifest states no namespace."""
    open_ended = not workload.place.at("metadata", "namespace").exists
    return open_ended and name in cluster.local_queues_named


def _others(cluster: Cluster, namespace: str) -> str:
    found = cluster.local_queue_names.get(namespace, [])
    more = [f"{len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    return ", ".join([*found[:MOST_NAMED], *more]) or "(there is none)"


def _excluded(cluster: Cluster, workload: Workload) -> Iterator[tuple[bool, Reason]]:
    manager = cluster.configuration
    if manager is None or is_managed_namespace(cluster, workload.namespace) is not False:
        return
    message = f"managedJobsNamespaceSelector excludes the namespace {workload.namespace}"
    near = (manager.place.at("managedJobsNamespaceSelector"),)
    yield (
        False,
        Reason(
            code=ReasonCode.UNMANAGED,
            cause=ReasonCause.NAMESPACE_EXCLUDED,
            message=message,
            place=workload.queue_place,
            near=near,
        ),
    )


def _priority(cluster: Cluster, workload: Workload) -> Iterator[tuple[bool, Reason]]:
    wanted = workload.priority_class
    if wanted is not None:
        if wanted not in cluster.workload_priority_class:
            message = f"the WorkloadPriorityClass {wanted} does not exist, so no Workload is created"
            place = workload.priority_class_place
            yield (
                cluster.has_all("WorkloadPriorityClass"),
                Reason(ReasonCode.MISCONFIGURED, ReasonCause.PRIORITY_CLASS_MISSING, message, place),
            )
        return
    named = [(p.template.priority_class, p.template.place.at("priorityClassName")) for p in workload.pod_sets]
    if workload.job_pod_priority_class is not None:
        at = workload.place.at("spec", "runPolicy", "schedulingPolicy", "priorityClass")
        named.insert(0, (workload.job_pod_priority_class, at))
    for name, place in named:
        if name is not None and name not in cluster.priority_class and name not in _ALWAYS_THERE:
            message = f"the PriorityClass {name} does not exist, so no Workload is created"
            yield (
                cluster.has_all("PriorityClass"),
                Reason(ReasonCode.MISCONFIGURED, ReasonCause.PRIORITY_CLASS_MISSING, message, place),
            )
            return


def _namespace(cluster: Cluster, workload: Workload, queue: ClusterQueue) -> Iterator[tuple[bool, Reason]]:
    near: tuple[Place, ...] = (queue.place.at("spec", "namespaceSelector"),)
    selector = queue.namespace_selector
    if selector is None:
        message = f"{queue.name} has no namespaceSelector, so it accepts workloads of no namespace"
        change = f"set namespaceSelector of {queue.name} to {{}}"
        yield (
            True,
            Reason(
                code=ReasonCode.MISCONFIGURED,
                cause=ReasonCause.NAMESPACE_NOT_SELECTED,
                message=message,
                place=workload.name_place,
                near=near,
                change=change,
            ),
        )
        return
    taken = selects(cluster, selector, workload.namespace)
    if taken:
        return
    known = cluster.namespace.get(workload.namespace)
    if known is not None:
        near = (*near, known.place.at("metadata", "labels"))
    if taken is None:
        message = f"whether {queue.name} takes namespace {workload.namespace} depends on labels that are not known"
    else:
        message = f"the namespaceSelector of {queue.name} does not match namespace {workload.namespace}"
    yield (
        taken is not None,
        Reason(
            code=ReasonCode.MISCONFIGURED,
            cause=ReasonCause.NAMESPACE_NOT_SELECTED,
            message=message,
            place=workload.name_place,
            near=near,
        ),
    )
