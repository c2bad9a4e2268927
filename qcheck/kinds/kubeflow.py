"""Group `kubeflow.org`: the training operator's jobs and MPIJob, with one pod set per replica type."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.core import pod_set, queued
from qcheck.kinds.pod_sets import REPLICA_SPECS, pod_sets
from qcheck.kinds.shared_fields import place

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor


MPI_VERSION = "v2beta1"
"""The only version of MPIJob that Kueue supports."""


def _decoder(kind: str) -> Callable[[Cursor], Object]:
    def decode(root: Cursor) -> Object:
        is_known = kind != "MPIJob" or root["apiVersion"].text() == f"kubeflow.org/{MPI_VERSION}"
        policy = root["spec"]["runPolicy"]
        return queued(
            root,
            f"kubeflow.org/{kind.lower()}" if is_known else None,
            root,
            tuple(map(pod_set, pod_sets(root))),
            job_pod_priority_class=policy["schedulingPolicy"]["priorityClass"].text() or None,
            retries=policy["backoffLimit"].count(),
            retries_place=place(policy["backoffLimit"]),
        )

    return decode


DECODERS: dict[str, Callable[[Cursor], Object]] = {kind: _decoder(kind) for kind in REPLICA_SPECS}
