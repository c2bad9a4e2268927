"""Group `kubeflow.org`: the training operator's jobs and MPIJob, one pod set per replica type."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.read import place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor

_MPI_VERSION = "kubeflow.org/v2beta1"


def _training_job(kind: str, field: str, types: tuple[str, ...]) -> Callable[[Cursor], Object]:
    """A job whose `spec.<field>` holds replica specs; `types` in the order in which Kueue takes them."""

    def decode(root: Cursor) -> Object:
        return _of_replicas(root, f"kubeflow.org/{kind}", field, types)

    return decode


def mpi_job(root: Cursor) -> Object:
    """An MPIJob; Kueue knows v2beta1 only."""
    framework = "kubeflow.org/mpijob" if root["apiVersion"].text() == _MPI_VERSION else None
    return _of_replicas(root, framework, "mpiReplicaSpecs", ("Launcher", "Worker"))


def _of_replicas(root: Cursor, framework: str | None, field: str, types: tuple[str, ...]) -> Object:
    policy = root["spec"]["runPolicy"]
    return queued(
        root,
        framework,
        root,
        tuple(_pod_sets(root["spec"], field, types)),
        job_pod_priority_class=policy["schedulingPolicy"]["priorityClass"].text() or None,
        retries=policy["backoffLimit"].count(),
        retries_place=place(policy["backoffLimit"]),
    )


def _pod_sets(spec: Cursor, field: str, types: tuple[str, ...]) -> Iterator[PodSet]:
    for name in types:
        replica = spec[field][name]
        if not replica.exists:
            continue
        given = replica["replicas"].count()
        found = pod_set(name.lower(), replica["template"], 1 if given is None else given, replica["replicas"])
        most = spec["elasticPolicy"]["maxReplicas"].count() if name == "Worker" else None
        yield replace(found, maximum=most)


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "PyTorchJob": _training_job("pytorchjob", "pytorchReplicaSpecs", ("Master", "Worker")),
    "TFJob": _training_job("tfjob", "tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator")),
    "XGBoostJob": _training_job("xgboostjob", "xgbReplicaSpecs", ("Master", "Worker")),
    "PaddleJob": _training_job("paddlejob", "paddleReplicaSpecs", ("Master", "Worker")),
    "JAXJob": _training_job("jaxjob", "jaxReplicaSpecs", ("Worker",)),
    "MPIJob": mpi_job,
}
