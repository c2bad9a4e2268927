"""Routing of a workload to its queue: by its label, to the namespace's default queue, or to none.

Source: Kueue 0.19 `pkg/controller/jobframework`, `pkg/cache/queue`.
"""

from __future__ import annotations

from qcheck.cluster.kueue import ClusterQueue, LocalQueue
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import answered_once
from qcheck.schedulers.kueue.gates import DEFAULT_QUEUE, is_on
from qcheck.schedulers.kueue.namespaces import is_managed_namespace
from qcheck.schedulers.kueue.routing_obstacles import obstacles

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload

DEFAULT = "default"
KUEUE_GROUP = "kueue.x-k8s.io"
_BUILT_IN_FRAMEWORK = "batch/job"


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
    found = list(obstacles(cluster, workload, name))
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
    return Destination(None, doubts=(Reason(ReasonCode.UNMANAGED, "unmanaged", message, workload.name_place),))


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
        cause="no-queue",
        message=message,
        place=workload.name_place,
        near=near,
        change="label it with a queue",
    )
    return Destination(None, blocked=(reason,))
