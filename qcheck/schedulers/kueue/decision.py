"""Kueue's decision on a workload, as values; `admission.py` makes it."""

from __future__ import annotations

from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import Workload
from qcheck.schedulers.kueue.assignment import Assigned, AssignmentTerms

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue

    Look = Callable[[Cluster, ClusterQueue, AssignmentTerms, tuple[Assigned, ...]], "Looked"]


class PlacedPodSets(Value):
    """The domain of a flavor's topology that gets `count` pods of a pod set; `key` is the leaf's key in the tree."""

    pod_set: str
    flavor: str
    key: str
    count: int


class Looked(Value):
    """The result of checking the nodes for pod sets with flavors: reasons against them, or domains.

    `certain`: proved.
    """

    reasons: tuple[Reason, ...] = ()
    placed: tuple[PlacedPodSets, ...] = ()
    certain: bool = True


class Decision(Value):
    """The decision of Kueue. `admitted` None: unknown; `reasons` explain why.

    * `queue` is the local queue's name, `cluster_queue` that of its ClusterQueue.
    * `assigned`: the pod sets of one workload with their flavors; `placed` with their domains, if they have a topology.
    * `copies`: how many equal workloads the object creates (pods of a Deployment, groups of a LeaderWorkerSet);
      `admitted_copies`: how many of them get quota at the same time.
    """

    workload: Workload
    queue: str | None
    cluster_queue: str | None
    admitted: bool | None
    assigned: tuple[Assigned, ...] = ()
    reasons: tuple[Reason, ...] = ()
    code: ReasonCode | None = None
    copies: int = 1
    admitted_copies: int = 0
    placed: tuple[PlacedPodSets, ...] = ()

    def of(self, workload: Workload) -> Decision:
        """Return the same decision for another workload of its class."""
        own = {id(mine): other for mine, other in zip(self.workload.unit, workload.unit, strict=True)}
        return replace(self, workload=workload, assigned=tuple(a.of(own[id(a.pod_set)]) for a in self.assigned))

    @property
    def is_managed(self) -> bool:
        """Return whether Kueue decides; otherwise the pods start at once."""
        return not any(r.code is ReasonCode.UNMANAGED for r in self.reasons)

    @property
    def runs_elsewhere(self) -> bool:
        """Return whether its pods run in another cluster, chosen by MultiKueue."""
        return any(r.cause == "multikueue" for r in self.reasons)

    @property
    def is_in_part(self) -> bool:
        """Return whether only some of its equal workloads are admitted."""
        return self.admitted is False and self.admitted_copies > 0
