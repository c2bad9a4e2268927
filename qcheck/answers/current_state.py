"""The current state of a cluster: quota in use, admitted pods that wait, and pods outside any queue."""

from __future__ import annotations

from qcheck.answers.judge import judge
from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.workloads import QUEUE_NAME, PodSet, Workload
from qcheck.supply.occupied import occupied
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.running import Key, RunningPod, State

MANAGED = (
    "kueue.x-k8s.io/podset",
    "kueue.x-k8s.io/managed",
    QUEUE_NAME,
    "kai.scheduler/queue",
    "volcano.sh/queue-name",
)
"""Labels of pods that belong to a queue."""
QUEUED_BY = ("kueue.x-k8s.io/workload", "scheduling.k8s.io/group-name", "pod-group-name")
"""Annotations of pods that belong to a queue."""
DEFAULT_SCHEDULER = "default-scheduler"


class QuotaUse(Value):
    """The quota of a queue in use: by admitted workloads, and `reserved` including those that only reserve it.

    `nominal` is None if the queue has no quota.
    """

    queue: str
    flavor: str
    resource: str
    used: int
    reserved: int
    nominal: int | None


class OverusedFlavor(Value):
    """A flavor whose usage exceeds the capacity of its current nodes."""

    flavor: str
    resource: str
    used: int
    held: int


class StuckPods(Value):
    """Pods of one object that Kueue admitted but kube-scheduler does not place.

    `reason` is qcheck's, empty if the pod fits; `event` is kube-scheduler's message.
    """

    owner: Key
    pods: tuple[str, ...]
    reason: str
    event: str


class UnqueuedPods(Value):
    """Pods of one object that hold accelerators and belong to no queue."""

    owner: Key
    pods: int
    devices: dict[str, int]


class InactiveQueue(Value):
    """A queue that admits nothing, and the reason."""

    queue: str
    reason: str
    message: str
    pending: int


class CurrentState(Value):
    """The state of a cluster."""

    uses: tuple[QuotaUse, ...]
    over: tuple[OverusedFlavor, ...]
    stuck: tuple[StuckPods, ...]
    outside: tuple[UnqueuedPods, ...]
    inactive: tuple[InactiveQueue, ...]


def current_state(cluster: Cluster) -> CurrentState | None:
    """Return the current state; None if the inputs are only files."""
    state = cluster.state
    if state is None or not (state.pods or state.workloads or state.queues):
        return None
    uses = tuple(_uses(cluster, state))
    return CurrentState(
        uses=uses,
        over=tuple(_over(cluster, uses)),
        stuck=tuple(_stuck(cluster, state)),
        outside=tuple(_outside(state)),
        inactive=tuple(_inactive(state)),
    )


def _uses(cluster: Cluster, state: State) -> Iterator[QuotaUse]:
    for name, status in sorted(state.queues.items()):
        quota = {q.key: q.nominal for q in cluster.queue[name].quotas()} if name in cluster.queue else {}
        for key in sorted({*status.usage, *status.reserved}):
            used, reserved = status.usage.get(key, 0), status.reserved.get(key, 0)
            if used or reserved:
                flavor, resource = key
                yield QuotaUse(
                    queue=name,
                    flavor=flavor,
                    resource=resource,
                    used=used,
                    reserved=max(used, reserved),
                    nominal=quota.get(key),
                )


def _over(cluster: Cluster, uses: Iterable[QuotaUse]) -> Iterator[OverusedFlavor]:
    """Yield sums over the queues that exceed the ready nodes that the flavor selects."""
    total: dict[tuple[str, str], int] = {}
    for use in uses:
        total[use.flavor, use.resource] = total.get((use.flavor, use.resource), 0) + use.used
    supply = supply_of(cluster)
    for (flavor, resource), used in sorted(total.items()):
        has_nodes = bool(cluster.nodes) and flavor in cluster.flavor and not supply.is_virtual(resource)
        held = supply.static(flavor, resource) if has_nodes and supply.is_known(flavor, resource) else None
        if held is not None and used > held:
            yield OverusedFlavor(flavor, resource, used, held)


def _stuck(cluster: Cluster, state: State) -> Iterator[StuckPods]:
    """Yield pods grouped by their owner; the first pod of each group represents it."""
    admitted = {state.origin(w.owner) for w in state.workloads if w.holds("Admitted")}
    waiting: dict[Key, list[RunningPod]] = {}
    for pod in state.pods:
        origin = state.origin(pod.nearest)
        if pod.node is None and pod.blocked and origin in admitted and not pod.template.scheduling_gates:
            waiting.setdefault(origin, []).append(pod)
    if not waiting:
        return
    full = occupied(cluster)
    for origin, pods in sorted(waiting.items()):
        first = min(pods, key=lambda p: p.key)
        event = state.events.get(first.key) or first.blocked or ""
        yield StuckPods(origin, tuple(sorted(p.name for p in pods)), _why(full, first), event)


def _why(cluster: Cluster, pod: RunningPod) -> str:
    """Return why a pod finds no node now; empty if it finds one."""
    if pod.scheduler != DEFAULT_SCHEDULER:
        return f"{pod.scheduler} places it, which is not modelled for single pods"
    nowhere = pod.place
    alone = Workload(
        pod.id, pod.place, {}, {}, framework=None, queue=None, queue_place=nowhere, priority_class=None,
        priority_class_place=nowhere, pod_sets=(PodSet("main", pod.template, 1, nowhere),),
    )  # fmt: skip
    verdict = judge(cluster, alone)
    return (
        "; ".join(r.message for r in verdict.reasons if r.code is not ReasonCode.UNMANAGED)
        if verdict.runs is not True
        else ""
    )


def _outside(state: State) -> Iterator[UnqueuedPods]:
    queued = {state.origin(w.owner) for w in state.workloads}
    found: dict[Key, list[RunningPod]] = {}
    for pod in state.pods:
        origin = state.origin(pod.nearest)
        if pod.node is not None and origin not in queued and not _names_queue(pod) and _devices([pod]):
            found.setdefault(origin, []).append(pod)
    for origin, pods in sorted(found.items()):
        yield UnqueuedPods(origin, len(pods), _devices(pods))


def _names_queue(pod: RunningPod) -> bool:
    return any(k in pod.labels for k in MANAGED) or any(k in pod.annotations for k in QUEUED_BY)


def _devices(pods: Iterable[RunningPod]) -> dict[str, int]:
    """Return the accelerators that pods request in total."""
    found: dict[str, int] = {}
    for pod in pods:
        for resource, amount in pod.template.amounts().items():
            if is_compute(resource) and amount:
                found[resource] = found.get(resource, 0) + amount
    return found


def _inactive(state: State) -> Iterator[InactiveQueue]:
    for name, status in sorted(state.queues.items()):
        if status.active is not None and not status.active.holds:
            yield InactiveQueue(name, status.active.reason, status.active.message, status.pending)
