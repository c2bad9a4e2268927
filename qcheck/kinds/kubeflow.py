"""Group `kubeflow.org`: the training operator's jobs and MPIJob, one pod set per replica type."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.replica_specs import MPI_VERSION, REPLICA_SPECS
from qcheck.kinds.shared_fields import place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.objects import Object
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor


def _decoder(kind: str) -> Callable[[Cursor], Object]:
    def decode(root: Cursor) -> Object:
        is_known = kind != "MPIJob" or root["apiVersion"].text() == f"kubeflow.org/{MPI_VERSION}"
        policy = root["spec"]["runPolicy"]
        return queued(
            root,
            f"kubeflow.org/{kind.lower()}" if is_known else None,
            root,
            tuple(_pod_sets(root["spec"], *REPLICA_SPECS[kind])),
            job_pod_priority_class=policy["schedulingPolicy"]["priorityClass"].text() or None,
            retries=policy["backoffLimit"].count(),
            retries_place=place(policy["backoffLimit"]),
        )

    return decode


def _pod_sets(spec: Cursor, field: str, types: tuple[str, ...]) -> Iterator[PodSet]:
    for name in types:
        replica = spec[field][name]
        if not replica.exists:
            continue
        given = replica["replicas"].count()
        found = pod_set(name.lower(), replica["template"], 1 if given is None else given, replica["replicas"])
        most = spec["elasticPolicy"]["maxReplicas"].count() if name == "Worker" else None
        yield replace(found, maximum=most)


DECODERS: dict[str, Callable[[Cursor], Object]] = {kind: _decoder(kind) for kind in REPLICA_SPECS}
