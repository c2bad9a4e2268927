"""Groups `autoscaling` and `keda.sh`: the autoscalers that set the replicas of a workload."""

from __future__ import annotations

from qcheck.cluster.autoscalers import PodAutoscaler
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.shared_fields import metadata, object_id, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor


def horizontal_pod_autoscaler(root: Cursor) -> Object:
    return _autoscaler(root, root["spec"]["scaleTargetRef"].text_at("kind"), "minReplicas", "maxReplicas")


def scaled_object(root: Cursor) -> Object:
    """Return a ScaledObject; its minimum counts only without an `idleReplicaCount`."""
    kind = root["spec"]["scaleTargetRef"].text_at("kind") or "Deployment"
    return _autoscaler(root, kind, "minReplicaCount", "maxReplicaCount", falls=root["spec"]["idleReplicaCount"].exists)


def _autoscaler(root: Cursor, kind: str, least: str, most: str, falls: bool = False) -> Object:
    spec = root["spec"]
    minimum, maximum = spec[least].count() or 0, spec[most].count()
    is_valid = maximum is None or maximum >= max(1, minimum)
    return PodAutoscaler(
        object_id(root),
        place(root),
        *metadata(root),
        target_kind=kind,
        target=spec["scaleTargetRef"].text_at("name"),
        minimum=minimum if is_valid and not falls else 0,
        minimum_place=place(spec[least]),
        maximum=maximum if is_valid else None,
        maximum_place=place(spec[most]),
    )


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "HorizontalPodAutoscaler": horizontal_pod_autoscaler,
    "ScaledObject": scaled_object,
}
