"""The state of a running cluster: pods, the workloads in Kueue's queues, and the conditions set by its controllers."""

from __future__ import annotations

from qcheck.cluster.objects import Object
from qcheck.cluster.pods import Amounts, PodTemplate
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.workloads import PodSet

    Key = tuple[str, str, str]
    """Kind, namespace and name."""
    Usage = dict[tuple[str, str], int]
    """Amounts by flavor and resource, in base units."""


class Condition(Value):
    """One entry of `status.conditions`. `since` is its last change, as written."""

    holds: bool
    reason: str
    message: str
    since: str = ""


class RunningPod(Object):
    """A pod that has not ended.

    `owner` is the object that created it; `blocked` is the message of kube-scheduler in the condition PodScheduled,
    None if the pod is placed or was not tried.
    """

    template: PodTemplate
    owner: Key | None
    scheduler: str
    blocked: str | None

    @property
    def node(self) -> str | None:
        return self.template.node_name

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    @property
    def nearest(self) -> Key:
        """The object that created the pod; the pod itself if a person did."""
        return self.owner or ("Pod", self.namespace, self.name)


class QuotaReservation(Value):
    """The reservation of one pod set: a flavor for each resource, and the amount."""

    pod_set: str
    count: int
    flavors: dict[str, str]
    usage: Amounts


class QueuedWorkload(Object):
    """A Workload object of Kueue. `owner` is the object that it represents, or itself if a person wrote it.

    `cluster_queue` and `assignments` are set once it has quota.
    """

    owner: Key
    queue: str | None
    cluster_queue: str | None
    assignments: tuple[QuotaReservation, ...]
    conditions: dict[str, Condition]
    priority: int
    created: str
    pod_sets: tuple[PodSet, ...]

    def holds(self, condition: str) -> bool:
        found = self.conditions.get(condition)
        return found is not None and found.holds

    @property
    def usage(self) -> Usage:
        """Return the amount that it holds of each flavor and resource."""
        held: Usage = {}
        for each in self.assignments:
            for resource, flavor in each.flavors.items():
                if resource in each.usage:
                    held[flavor, resource] = held.get((flavor, resource), 0) + each.usage[resource]
        return held


class QueueStatus(Value):
    """The status of a ClusterQueue: quota in use and reserved, pending workloads, and whether it is active."""

    usage: Usage
    reserved: Usage
    pending: int
    admitted: int
    active: Condition | None


class State(Value):
    """A cluster's runtime state.

    `made` maps each object that a controller created to its owner; `events` holds kube-scheduler's last message about
    each pod, by namespace and name.
    """

    pods: tuple[RunningPod, ...]
    workloads: tuple[QueuedWorkload, ...]
    queues: dict[str, QueueStatus]
    made: dict[Key, Key]
    events: dict[tuple[str, str], str]

    def origin(self, key: Key) -> Key:
        """Return the object at the top of an object's chain of owners, the one that a person created."""
        met: set[Key] = set()
        while key in self.made and key not in met:
            met.add(key)
            key = self.made[key]
        return key
