"""The supported schedulers as peers: each offers the same few functions.

To add a scheduler, write its package with a module `peer` that has these functions, a test whether a cluster uses it,
and a row in the table.
"""

from __future__ import annotations

from importlib import import_module

from qcheck.cluster.policy import KAI_QUEUE_LABEL, KAI_SCHEDULER, VOLCANO_JOBS, VOLCANO_SCHEDULER
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.packing.pod_shape import PodShape
from qcheck.quota.promises import Promises
from qcheck.supply.pod_requests import PODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set
    from typing import Protocol

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kai import KaiConfig
    from qcheck.cluster.policy import KaiPolicy
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.quota.start_decision import StartDecision
    from qcheck.quota.tree import QuotaNode, QuotaTree

    class Peer(Protocol):
        """The functions of one scheduler."""

        def quota_tree(self, cluster: Cluster) -> QuotaTree:
            """Return its queues and what they are promised."""
            ...

        def queue_of(self, cluster: Cluster, workload: Workload) -> str | None:
            """Return the queue to which a workload's manifest sends it; None for a workload of another scheduler."""
            ...

        def decide(self, cluster: Cluster, workload: Workload) -> StartDecision | None:
            """Return whether a workload's queue lets it start, and which pods; None if another scheduler decides."""
            ...

        def workload_shapes(self, cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
            """Return the pods of workloads that it would admit, by pool; a shape's `queue` names a node of the tree."""
            ...


def has_kueue(_cluster: Cluster) -> bool:
    """Return True: Kueue decides on every workload, because one without a queue also needs an answer."""
    return True


@view
def has_kai(cluster: Cluster) -> bool:
    """Return whether there are objects of KAI, or pods that use it or have its queue label."""
    if cluster.kai_queues or cluster.kai_shards or cluster.kai_pod_groups or cluster.kai_topologies:
        return True
    named: tuple[KaiPolicy | KaiConfig, ...] = (cluster.policy.kai, *cluster.kai_configs)
    labels = {KAI_QUEUE_LABEL, *(n.queue_label for n in named)} - {None}
    schedulers = {KAI_SCHEDULER, *(n.scheduler_name for n in named)} - {None}
    templates = [p.template for w in cluster.workloads for p in w.pod_sets]
    labelled = (
        labels & known.keys() for known in (*(w.labels for w in cluster.workloads), *(t.labels for t in templates))
    )
    return any(t.scheduler_name in schedulers for t in templates) or any(labelled)


@view
def has_volcano(cluster: Cluster) -> bool:
    """Return whether there are objects of Volcano, a configuration of its scheduler, or pods that use it."""
    if cluster.volcano_queues or cluster.volcano_pod_groups or cluster.hyper_nodes or cluster.volcano_scheduler:
        return True
    return any(
        w.id.group == VOLCANO_JOBS or p.template.scheduler_name == VOLCANO_SCHEDULER
        for w in cluster.workloads
        for p in w.pod_sets
    )


class Scheduler(Value):
    """A scheduler by name, a test whether a cluster uses it, and the function that imports its `Peer`."""

    name: SchedulerName
    title: str
    is_here: Callable[[Cluster], bool]
    peer: Callable[[], Peer]


def _module(name: SchedulerName) -> Callable[[], Peer]:
    """Return an importer of a scheduler's functions, which runs only if a cluster uses the scheduler."""

    def load() -> Peer:
        found: Peer = import_module(f"qcheck.schedulers.{name}.peer")
        return found

    return load


SCHEDULERS = (
    Scheduler(SchedulerName.KUEUE, "Kueue", has_kueue, _module(SchedulerName.KUEUE)),
    Scheduler(SchedulerName.KAI, "KAI", has_kai, _module(SchedulerName.KAI)),
    Scheduler(SchedulerName.VOLCANO, "Volcano", has_volcano, _module(SchedulerName.VOLCANO)),
)


@view
def peers(cluster: Cluster) -> tuple[Peer, ...]:
    """Return the functions of the schedulers that a cluster uses."""
    return tuple(s.peer() for s in SCHEDULERS if s.is_here(cluster))


def start_decision_of(cluster: Cluster, workload: Workload) -> StartDecision | None:
    """Return the decision of the scheduler that starts a workload's pods itself; None if Kueue or none decides."""
    return next((p for peer in peers(cluster) if (p := peer.decide(cluster, workload)) is not None), None)


def title_of(name: SchedulerName) -> str:
    """Return the name of a scheduler as people write it."""
    return next(s.title for s in SCHEDULERS if s.name is name)


@view
def trees_of(cluster: Cluster) -> tuple[QuotaTree, ...]:
    """Return the quota tree of each scheduler that has queues or pools in a cluster."""
    return tuple(t for peer in peers(cluster) if (t := peer.quota_tree(cluster)).nodes or t.pools)


@view
def promises_of(cluster: Cluster) -> Promises:
    """Return the quota of all schedulers compared with the supply of their nodes."""
    return Promises(cluster, trees_of(cluster))


@view
def workload_shapes(cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
    """Return the pods of admissible workloads by the pool that they get."""
    return {pool: shapes for peer in peers(cluster) for pool, shapes in peer.workload_shapes(cluster).items()}


@view
def queue_shapes(cluster: Cluster) -> dict[tuple[str, str], tuple[PodShape, ...]]:
    """Return the same by pool and queue."""
    found: dict[tuple[str, str], list[PodShape]] = {}
    for pool, shapes in workload_shapes(cluster).items():
        for shape in shapes:
            found.setdefault((pool, shape.queue or ""), []).append(shape)
    return {key: tuple(shapes) for key, shapes in found.items()}


def declared_shapes(cluster: Cluster, pool: str) -> tuple[PodShape, ...]:
    """Return the settings' shapes for a pool: those that name it, or name none and request what it has.

    Pod sizes decide whether a quota can be used up, but queues do not state them.
    """
    found = []
    name = cluster.quota_pools[pool].name if pool in cluster.quota_pools else pool
    for shape in cluster.policy.shapes:
        asked = PodShape(
            shape.name, {PODS: 1, **{r: n for r, n in shape.requests.items() if n}}, shape.pods, shape.level
        )
        devices = [r for r in asked.request if is_compute(r)]
        covered = all((pool, r) in promises_of(cluster).cells for r in devices)
        if name in shape.flavors or (not shape.flavors and covered):
            found.append(asked)
    return tuple(found)


def queue_node(cluster: Cluster, queue: str) -> QuotaNode | None:
    """Return the node that admits the workloads of a queue, by the queue's name."""
    return next((t.queue[queue] for t in trees_of(cluster) if queue in t.queue), None)


@view
def _queues_of_workloads(cluster: Cluster) -> tuple[tuple[Workload, frozenset[str]], ...]:
    """Return each workload with the queues to which its manifest sends it, one for each scheduler that knows one."""
    named = ((w, (peer.queue_of(cluster, w) for peer in peers(cluster))) for w in cluster.workloads)
    return tuple((workload, frozenset(q for q in queues if q is not None)) for workload, queues in named)


def workloads_of(cluster: Cluster, queues: Set[str]) -> Iterator[Workload]:
    """Yield the workloads whose manifests send them to one of some queues."""
    return (workload for workload, named in _queues_of_workloads(cluster) if not named.isdisjoint(queues))


def asking(cluster: Cluster, queues: Set[str], resource: str, size: int) -> Iterator[tuple[Workload, PodSet]]:
    """Yield the pod sets of the workloads of some queues whose pods request `size` of a resource each."""
    for workload in workloads_of(cluster, queues):
        for pod_set in workload.pod_sets:
            if pod_set.template.amounts().get(resource) == size:
                yield workload, pod_set
