"""Autoscalers of pods: HorizontalPodAutoscalers and KEDA's ScaledObjects."""

from __future__ import annotations

from qcheck.cluster.objects import Object
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.workloads import Workload

SCALED = ("Deployment", "StatefulSet", "ReplicaSet")
"""The kinds whose number of pods an autoscaler sets."""


class PodAutoscaler(Object):
    """Sets the replicas of one workload: never fewer than `minimum`, at most `maximum` (None: not written)."""

    target_kind: str
    target: str
    minimum: int
    minimum_place: Place
    maximum: int | None
    maximum_place: Place


def scaled(workloads: Iterable[Workload], autoscalers: Iterable[PodAutoscaler]) -> list[Workload]:
    """Return the workloads; those with an autoscaler get its minimum and maximum number of replicas.

    A target of several autoscalers, or with `replicas: 0`, which switches autoscaling off, stays unchanged.
    """
    by_target: dict[tuple[str, str, str], list[PodAutoscaler]] = {}
    for each in autoscalers:
        by_target.setdefault((each.namespace, each.target_kind, each.target), []).append(each)
    found: list[Workload] = []
    for workload in workloads:
        mine = by_target.get((workload.namespace, workload.id.kind, workload.name), [])
        is_scaled = len(mine) == 1 and workload.id.kind in SCALED and workload.pod_sets[0].count
        found.append(_scaled(workload, mine[0]) if is_scaled else workload)
    return found


def _scaled(workload: Workload, by: PodAutoscaler) -> Workload:
    pods = workload.pod_sets[0]
    if pods.count < by.minimum:
        pods = replace(pods, count=by.minimum, count_place=by.minimum_place)
    if by.maximum is not None:
        if pods.count > by.maximum:
            pods = replace(pods, count=by.maximum, count_place=by.maximum_place)
        pods = replace(pods, maximum=by.maximum, maximum_place=by.maximum_place)
    return replace(workload, pod_sets=(pods,))
