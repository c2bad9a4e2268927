"""Group `leaderworkerset.x-k8s.io`: each replica group is a workload of its own."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.core import pod_set, queued

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.cluster.workloads import PodSet
    from qcheck.documents.cursor import Cursor


def leader_worker_set(root: Cursor) -> Object:
    replicas = root["spec"]["replicas"].count()
    groups = 1 if replicas is None else replicas
    return queued(root, "leaderworkerset.x-k8s.io/leaderworkerset", root, _pod_sets(root), groups=groups)


def _pod_sets(root: Cursor) -> tuple[PodSet, ...]:
    """A leader and `size - 1` workers, or without a leader's template `size` equal pods."""
    group = root["spec"]["leaderWorkerTemplate"]
    given = group["size"].count()
    size = 1 if given is None else given
    if not group["leaderTemplate"].exists:
        return (pod_set("main", group["workerTemplate"], size, group["size"]),)
    leader = pod_set("leader", group["leaderTemplate"], 1, group["leaderTemplate"])
    return leader, pod_set("worker", group["workerTemplate"], max(0, size - 1), group["size"])


DECODERS: dict[str, Callable[[Cursor], Object]] = {"LeaderWorkerSet": leader_worker_set}
