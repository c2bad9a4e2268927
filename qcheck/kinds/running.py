"""The state of a cluster, from objects that an API server returned: their `status` and their owners."""

from __future__ import annotations

from qcheck.cluster.quantity import amount
from qcheck.cluster.running import Condition, QueuedWorkload, QueueStatus, QuotaReservation, RunningPod, State
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.kueue import GROUP, pod_set
from qcheck.kinds.pods import pod_template
from qcheck.kinds.shared_fields import metadata, object_id, place, quantities, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.cluster.running import Key, Usage
    from qcheck.documents.cursor import Cursor

ENDED = ("Succeeded", "Failed")
DEFAULT_SCHEDULER = "default-scheduler"


def split(manifests: Sequence[Cursor]) -> tuple[list[Cursor], State]:
    """Return the objects that somebody configured, and the state that the rest describes.

    An object whose controller is among the objects is part of the state: only its owner counts. So are pods that ended.
    """
    known = {_key(r) for r in manifests}
    made = {_key(r): key for r in manifests if (key := owner_of(r)) in known and key is not None}
    own = [r for r in manifests if not (_key(r) in made or _is_over(r) or _is_event(r))]
    return own, State(
        pods=tuple(_pod(r) for r in manifests if _is(r, "", "Pod") and _runs(r)),
        workloads=tuple(_workload(r) for r in manifests if _is(r, GROUP, "Workload") and r["status"].exists),
        queues={r["metadata"].text_at("name"): _queue(r["status"]) for r in manifests if _is(r, GROUP, "ClusterQueue")},
        made=made,
        events=_events(manifests),
    )


def owner_of(root: Cursor) -> Key | None:
    """Return the object whose controller created this one."""
    namespace = object_id(root).namespace or ""
    for each in root["metadata"].items_at("ownerReferences"):
        if each["controller"].boolean():
            return each.text_at("kind"), namespace, each.text_at("name")
    return None


def _key(root: Cursor) -> Key:
    identity = object_id(root)
    return identity.kind, identity.namespace or "", identity.name


def _is(root: Cursor, group: str, kind: str) -> bool:
    return root.text_at("kind") == kind and root.text_at("apiVersion").rpartition("/")[0] == group


def _is_over(root: Cursor) -> bool:
    return _is(root, "", "Pod") and root["status"].text_at("phase") in ENDED


def _runs(pod: Cursor) -> bool:
    """Return whether a pod is on an API server and has not ended.

    Pods of DaemonSets, computed for every node, are excluded.
    """
    owner = owner_of(pod)
    of_every_node = owner is not None and owner[0] in ("DaemonSet", "Node")
    return pod["status"]["phase"].exists and not _is_over(pod) and not of_every_node


def _is_event(root: Cursor) -> bool:
    return root.text_at("kind") == "Event"


def _conditions(at: Cursor) -> dict[str, Condition]:
    return {
        c.text_at("type"): Condition(
            holds=c.text_at("status") == "True",
            reason=c.text_at("reason"),
            message=c.text_at("message"),
            since=c.text_at("lastTransitionTime"),
        )
        for c in at.items()
    }


def _pod(root: Cursor) -> RunningPod:
    scheduled = _conditions(root["status"]["conditions"]).get("PodScheduled")
    return RunningPod(
        object_id(root),
        place(root),
        *metadata(root),
        template=pod_template(root),
        owner=owner_of(root),
        scheduler=root["spec"].text_at("schedulerName") or DEFAULT_SCHEDULER,
        blocked=scheduled.message if scheduled and not scheduled.holds else None,
    )


def _workload(root: Cursor) -> QueuedWorkload:
    spec, admission = root["spec"], root["status"]["admission"]
    return QueuedWorkload(
        object_id(root),
        place(root),
        *metadata(root),
        owner=owner_of(root) or _key(root),
        queue=spec.text_at("queueName") or None,
        cluster_queue=admission.text_at("clusterQueue") or None,
        assignments=tuple(_assignment(a) for a in admission.items_at("podSetAssignments")),
        conditions=_conditions(root["status"]["conditions"]),
        priority=spec["priority"].integer() or 0,
        created=root["metadata"].text_at("creationTimestamp"),
        pod_sets=tuple(pod_set(p) for p in spec.items_at("podSets")),
    )


def _assignment(at: Cursor) -> QuotaReservation:
    return QuotaReservation(
        pod_set=at.text_at("name"),
        count=at["count"].count() or 0,
        flavors=at["flavors"].strings(),
        usage={r: amount(r, q) for r, q in quantities(at["resourceUsage"]).items()},
    )


def _queue(status: Cursor) -> QueueStatus:
    return QueueStatus(
        usage=_usage(status["flavorsUsage"]),
        reserved=_usage(status["flavorsReservation"]),
        pending=status["pendingWorkloads"].count() or 0,
        admitted=status["admittedWorkloads"].count() or 0,
        active=_conditions(status["conditions"]).get("Active"),
    )


def _usage(at: Cursor) -> Usage:
    return {
        (flavor.text_at("name"), name): amount(name, total)
        for flavor in at.items()
        for resource in flavor.items_at("resources")
        if (name := resource.text_at("name")) and (total := quantity(resource["total"])) is not None
    }


def _events(manifests: Iterable[Cursor]) -> dict[tuple[str, str], str]:
    """Return the last message about each pod."""
    last: dict[tuple[str, str], tuple[str, str]] = {}
    for root in manifests:
        about = root["involvedObject"]
        if _is_event(root) and about.text_at("kind") == "Pod":
            pod = (about.text_at("namespace"), about.text_at("name"))
            event = (root.text_at("lastTimestamp") or root.text_at("eventTime"), root.text_at("message"))
            last[pod] = max(last.get(pod, event), event)
    return {pod: message for pod, (_, message) in last.items()}
