"""Fields of workloads that only schedulers other than Kueue read, from the objects as written."""

from __future__ import annotations

from qcheck.cluster.place import follow
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import Workload

RAY_CLUSTER = {"RayCluster": (), "RayJob": ("rayClusterSpec",), "RayService": ("rayClusterConfig",)}
"""The field below `spec` that contains the cluster, by kind of `ray.io`."""
SCHEDULING_POLICY = ("runPolicy", "schedulingPolicy")
"""The field in which a job of `kubeflow.org` specifies its gang."""


def written(workload: Workload, *route: str | int) -> object:
    """Return a value below the spec of an object, as written; None if there is none."""
    place = place_in(workload, *route)
    return follow(place.origin.data, place.route)


def place_in(workload: Workload, *route: str | int) -> Place:
    """Return a place below the spec of an object."""
    return workload.place.at("spec", *route)


def written_number(workload: Workload, *route: str | int) -> int | None:
    """Return an integer below the spec of an object; None if the value is missing or another type."""
    return number(written(workload, *route))


def number(given: object) -> int | None:
    """Return a value if it is an integer."""
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def is_ray(workload: Workload) -> bool:
    """Return whether an object describes a cluster of Ray."""
    return workload.id.group == "ray.io" and workload.id.kind in RAY_CLUSTER


def worker_groups(workload: Workload) -> Sequence[Mapping[str, object]]:
    """Return the worker groups of a Ray object, in the order of its pod sets after the head."""
    found = written(workload, *RAY_CLUSTER[workload.id.kind], "workerGroupSpecs")
    groups = found if isinstance(found, list) else []
    return [group if isinstance(group, dict) else {} for group in groups]
