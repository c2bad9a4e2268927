"""Obstacles between a workload and its ClusterQueue, in Kueue's order.

Source: Kueue 0.19 `pkg/controller/jobframework`, `pkg/cache/queue`.
"""

from __future__ import annotations

from qcheck.cluster.cluster import SYSTEM_PRIORITIES
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.gates import SELECTOR_RESPECTED, is_on
from qcheck.schedulers.kueue.inactive_queues import InactivityReason, inactive
from qcheck.schedulers.kueue.namespaces import is_managed_namespace, selects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, LocalQueue
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.kueue.inactive_queues import Inactivity

    Obstacle = tuple[bool, Reason]
    """Its certainty, and the reason."""

MOST_NAMED = 20
"""The number of queues that a reason lists."""


def obstacles(cluster: Cluster, workload: Workload, name: str) -> Iterator[Obstacle]:
    """Yield what keeps a workload from being considered in the local queue `name`."""
    yield from _excluded(cluster, workload)
    yield from _priority(cluster, workload)
    local = cluster.local_queue.get((workload.namespace, name))
    place = workload.queue_place if workload.queue else workload.name_place
    if local is None:
        yield _no_local_queue(cluster, workload, name, place)
        return
    if local.is_stopped:
        yield True, _stopped(local, place)
    queue = cluster.queue.get(local.cluster_queue or "")
    if queue is None:
        yield cluster.has_all("ClusterQueue") or not local.cluster_queue, _no_cluster_queue(local, place)
        return
    yield from ((each.certain, _inactive(queue, each, place)) for each in inactive(cluster, queue))
    yield from _namespace(cluster, workload, queue)


def _no_local_queue(cluster: Cluster, workload: Workload, name: str, place: Place) -> Obstacle:
    message = f"the LocalQueue {name} does not exist in namespace {workload.namespace}"
    change = _local_queue_change(cluster, workload, name)
    certain = (
        cluster.has_all("LocalQueue")
        and not cluster.generates("LocalQueue")
        and not _elsewhere(cluster, workload, name)
    )
    return certain, Reason(ReasonCode.MISCONFIGURED, "local-queue-missing", message, place, change=change)


def _no_cluster_queue(local: LocalQueue, place: Place) -> Reason:
    return Reason(
        code=ReasonCode.MISCONFIGURED,
        cause="cluster-queue-missing",
        message=f"the ClusterQueue {local.cluster_queue} of LocalQueue {local.name} does not exist",
        place=place,
        near=(local.place.at("spec", "clusterQueue"),),
    )


def _inactive(queue: ClusterQueue, each: Inactivity, place: Place) -> Reason:
    is_stopped = each.reason is InactivityReason.STOPPED
    return Reason(
        code=ReasonCode.SUSPENDED,
        cause="queue-stopped" if is_stopped else "queue-inactive",
        message=f"ClusterQueue {queue.name} is inactive ({each.reason}): {each.message}",
        place=place,
        near=(each.place,),
        change=each.change,
    )


def _stopped(local: LocalQueue, place: Place) -> Reason:
    message = (
        f"the LocalQueue {local.name} is stopped (stopPolicy {local.stop_policy}): nothing starts until it is released"
    )
    near = (local.place.at("spec", "stopPolicy"),)
    change = f"set stopPolicy of LocalQueue {local.name} to None"
    return Reason(
        code=ReasonCode.SUSPENDED,
        cause="local-queue-stopped",
        message=message,
        place=place,
        near=near,
        change=change,
    )


def _elsewhere(cluster: Cluster, workload: Workload, name: str) -> bool:
    """Return whether the queue exists in another namespace and the manifest states no namespace."""
    open_ended = not workload.place.at("metadata", "namespace").exists
    return open_ended and name in cluster.local_queues_named


def _local_queue_change(cluster: Cluster, workload: Workload, name: str) -> str:
    """Return what to do about a missing queue: another namespace, another queue, or a new queue."""
    homes = sorted(each.namespace for each in cluster.local_queues_named.get(name, ()))
    if _elsewhere(cluster, workload, name):
        return f"create it, or set metadata.namespace to a namespace that has it: {_first_of(homes)}"
    others = cluster.local_queue_names.get(workload.namespace, [])
    return f"create it, or name one of: {_first_of(others)}" if others else "create it"


def _first_of(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])


def _excluded(cluster: Cluster, workload: Workload) -> Iterator[Obstacle]:
    """Yield an obstacle if the manager ignores the namespace.

    The webhook still suspends jobs with a queue label there, unless Kueue's chart limits it to the same namespaces.
    """
    manager = cluster.configuration
    if manager is None or is_managed_namespace(cluster, workload.namespace) is not False:
        return
    if not is_on(cluster, SELECTOR_RESPECTED):
        return
    message = (
        f"managedJobsNamespaceSelector excludes the namespace {workload.namespace}: the job stays suspended if Kueue "
        "was installed from its release manifests, and starts outside any quota if it was installed from its chart"
    )
    near = (manager.place.at("managedJobsNamespaceSelector"),)
    yield (
        False,
        Reason(
            code=ReasonCode.UNMANAGED,
            cause="namespace-excluded",
            message=message,
            place=workload.queue_place,
            near=near,
        ),
    )


def _priority(cluster: Cluster, workload: Workload) -> Iterator[Obstacle]:
    wanted = workload.priority_class
    if wanted is not None:
        if wanted not in cluster.workload_priority_class:
            message = f"the WorkloadPriorityClass {wanted} does not exist, so no Workload is created"
            place = workload.priority_class_place
            yield (
                cluster.has_all("WorkloadPriorityClass"),
                Reason(ReasonCode.MISCONFIGURED, "priority-class-missing", message, place),
            )
        return
    named = [(p.template.priority_class, p.template.place.at("priorityClassName")) for p in workload.pod_sets]
    if workload.job_pod_priority_class is not None:
        at = workload.place.at("spec", "runPolicy", "schedulingPolicy", "priorityClass")
        named.insert(0, (workload.job_pod_priority_class, at))
    for name, place in named:
        if name is not None and name not in cluster.priority_class and name not in SYSTEM_PRIORITIES:
            message = f"the PriorityClass {name} does not exist, so no Workload is created"
            yield (
                cluster.has_all("PriorityClass"),
                Reason(ReasonCode.MISCONFIGURED, "priority-class-missing", message, place),
            )
            return


def _namespace(cluster: Cluster, workload: Workload, queue: ClusterQueue) -> Iterator[Obstacle]:
    near: tuple[Place, ...] = (queue.place.at("spec", "namespaceSelector"),)
    selector = queue.namespace_selector
    if selector is None:
        message = f"{queue.name} has no namespaceSelector, so it accepts workloads of no namespace"
        change = f"set namespaceSelector of {queue.name} to {{}}"
        yield (
            True,
            Reason(
                code=ReasonCode.MISCONFIGURED,
                cause="namespace-not-selected",
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
            cause="namespace-not-selected",
            message=message,
            place=workload.name_place,
            near=near,
        ),
    )
