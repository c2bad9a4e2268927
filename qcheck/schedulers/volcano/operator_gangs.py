"""Gangs that the training operator, the MPI operator and KubeRay create in Volcano for their jobs.

Sources: training-operator 1.9 `pkg/controller.v1/common`, mpi-operator 0.6 `pkg/controller`, KubeRay 1.6
`controllers/ray/batchscheduler/volcano`. All three operators need an option for this, which a job's
manifest does not show.
"""

from __future__ import annotations

from qcheck.cluster.pods import in_base_units
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.written_fields import (
    RAY_CLUSTER,
    SCHEDULING_POLICY,
    is_ray,
    number,
    place_in,
    worker_groups,
    written,
    written_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.workloads import Workload

RAY_QUEUE = "volcano.sh/queue-name"
"""The label of a Ray object that names its queue."""
TRAINING = "kubeflow.org"
ROLES_TOGETHER = frozenset({"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"})


class OperatorGang(Value):
    """All pods of a workload as one pod group. `counts`: the pods of each pod set that must start with it.

    `together`: the number of pods that must start. `place`: the place of that number. `queue` is None if the workload
    names none. `fixed`: the minimum request as written.
    """

    counts: tuple[int, ...]
    together: int
    place: Place
    queue: str | None
    queue_place: Place | None
    fixed: Amounts | None = None


def names_queue(workload: Workload) -> bool:
    """Return whether a workload names a queue for the pod group that its operator creates."""
    if is_ray(workload):
        return bool(workload.labels.get(RAY_QUEUE))
    return _is_training(workload) and bool(written(workload, *SCHEDULING_POLICY, "queue"))


def operator_gang(workload: Workload) -> OperatorGang | None:
    """Return the gang that an operator creates for a workload; None for kinds that get one pod group per owner."""
    if is_ray(workload):
        return _of_ray(workload)
    return _of_training(workload) if _is_training(workload) else None


def _is_training(workload: Workload) -> bool:
    return workload.id.group == TRAINING and workload.id.kind in ROLES_TOGETHER


def _of_training(workload: Workload) -> OperatorGang:
    pods = sum(p.count for p in workload.pod_sets)
    least, queue = written_number(workload, *SCHEDULING_POLICY, "minAvailable"), _text(workload, "queue")
    return OperatorGang(
        counts=tuple(p.count if least is None else 0 for p in workload.pod_sets),
        together=pods if least is None else least,
        place=workload.name_place if least is None else place_in(workload, *SCHEDULING_POLICY, "minAvailable"),
        queue=queue,
        queue_place=place_in(workload, *SCHEDULING_POLICY, "queue") if queue else None,
        fixed=_minimum_request(workload),
    )


def _text(workload: Workload, field: str) -> str | None:
    found = written(workload, *SCHEDULING_POLICY, field)
    return found if isinstance(found, str) and found else None


def _minimum_request(workload: Workload) -> Amounts | None:
    """Return `minResources` of the scheduling policy in base units; None if it is missing or unreadable."""
    found = written(workload, *SCHEDULING_POLICY, "minResources")
    if not isinstance(found, dict) or not found:
        return None
    try:
        return in_base_units({str(name): parse_quantity(str(amount)) for name, amount in found.items()})
    except QuantityError:
        return None


def _of_ray(workload: Workload) -> OperatorGang:
    """Return the head, the workers and the submitter. KubeRay counts the submitter's request but not its pod."""
    counts = tuple(_ray_counts(workload))
    queue = workload.labels.get(RAY_QUEUE) or None
    return OperatorGang(
        counts=counts,
        together=sum(counts),
        place=workload.name_place,
        queue=queue,
        queue_place=workload.place.at("metadata", "labels", RAY_QUEUE) if queue else None,
    )


def _ray_counts(workload: Workload) -> Iterator[int]:
    groups = worker_groups(workload)
    grows = written(workload, *RAY_CLUSTER[workload.id.kind], "enableInTreeAutoscaling") is True
    for index, pod_set in enumerate(workload.pod_sets):
        is_worker = 0 < index <= len(groups)
        yield _workers(groups[index - 1], grows) if is_worker else pod_set.count


def _workers(group: Mapping[str, object], grows: bool) -> int:
    """Return the workers of a group in the gang: its replicas within bounds, or the minimum if it autoscales."""
    if group.get("suspend") is True:
        return 0
    least, most = number(group.get("minReplicas")) or 0, number(group.get("maxReplicas"))
    replicas = max(least, number(group.get("replicas")) or 0)
    replicas = least if grows else replicas if most is None else min(replicas, most)
    return replicas * max(1, number(group.get("numOfHosts")) or 1)
