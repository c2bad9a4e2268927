"""The schedulers whose queues are judged, as peers: each offers the same few functions.

To add one, write its package with these functions and give it a row here.
"""

from __future__ import annotations

from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.quota.promises import Promises
from qcheck.schedulers.kai import passage as kai_passage
from qcheck.schedulers.kai import quota_tree as kai_tree
from qcheck.schedulers.kueue import quota_tree as kueue_tree
from qcheck.schedulers.kueue import routing as kueue_routing
from qcheck.schedulers.kueue import shapes as kueue_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.packing.pod_shape import PodShape
    from qcheck.quota.passage import Passage
    from qcheck.quota.tree import QuotaNode, QuotaTree


def _leaves_it(_cluster: Cluster, _workload: Workload) -> Passage | None:
    return None


class Scheduler(Value):
    """A scheduler's functions.

    * `quota_tree`: its queues and what they are promised.
    * `queue_of`: the queue that a workload's manifest sends it to, by name; None for a workload that is not its business.
    * `decide`: whether a workload's queue lets it pass, and which pods start; None for one that is not its business. Kueue,
      which hands out flavors first, decides by itself.
    * `workload_shapes`: the pods of the workloads that it would admit, by pool; `queue` of a shape names a node of the tree.
    """

    name: SchedulerName
    title: str
    quota_tree: Callable[[Cluster], QuotaTree]
    queue_of: Callable[[Cluster, Workload], str | None]
    workload_shapes: Callable[[Cluster], dict[str, tuple[PodShape, ...]]]
    decide: Callable[[Cluster, Workload], Passage | None] = _leaves_it


SCHEDULERS = (
    Scheduler(
        name=SchedulerName.KUEUE,
        title="Kueue",
        quota_tree=kueue_tree.quota_tree,
        queue_of=kueue_routing.queue_of,
        workload_shapes=kueue_shapes.workload_shapes,
    ),
    Scheduler(
        name=SchedulerName.KAI,
        title="KAI",
        quota_tree=kai_tree.quota_tree,
        queue_of=kai_tree.queue_of,
        workload_shapes=kai_tree.workload_shapes,
        decide=kai_passage.decide,
    ),
)


def passage_of(cluster: Cluster, workload: Workload) -> Passage | None:
    """Return the answer of the scheduler that starts a workload's pods itself; None where Kueue or nobody is asked."""
    return next((p for s in SCHEDULERS if (p := s.decide(cluster, workload)) is not None), None)


def title_of(name: SchedulerName) -> str:
    """Return how people write a scheduler's name."""
    return next(s.title for s in SCHEDULERS if s.name is name)


@view
def trees_of(cluster: Cluster) -> tuple[QuotaTree, ...]:
    """Return the quota tree of each scheduler that has queues or pools in a cluster."""
    return tuple(t for s in SCHEDULERS if (t := s.quota_tree(cluster)).nodes or t.pools)


@view
def promises_of(cluster: Cluster) -> Promises:
    """Return the quota of all schedulers beside the supply of their nodes."""
    return Promises(cluster, trees_of(cluster))


@view
def workload_shapes(cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
    """Return the pods of admissible workloads by the pool that they get."""
    return {pool: shapes for s in SCHEDULERS for pool, shapes in s.workload_shapes(cluster).items()}


@view
def queue_shapes(cluster: Cluster) -> dict[tuple[str, str], tuple[PodShape, ...]]:
    """Return the same by pool and queue."""
    found: dict[tuple[str, str], list[PodShape]] = {}
    for pool, shapes in workload_shapes(cluster).items():
        for shape in shapes:
            found.setdefault((pool, shape.queue or ""), []).append(shape)
    return {key: tuple(shapes) for key, shapes in found.items()}


def queue_node(cluster: Cluster, queue: str) -> QuotaNode | None:
    """Return the node that takes the workloads of a queue, by the queue's name."""
    return next((t.queue[queue] for t in trees_of(cluster) if queue in t.queue), None)


def workloads_of(cluster: Cluster, queues: Container[str]) -> Iterator[Workload]:
    """Yield the workloads whose manifests send them to one of some queues."""
    for workload in cluster.workloads:
        if any(s.queue_of(cluster, workload) in queues for s in SCHEDULERS):
            yield workload


def asking(cluster: Cluster, queues: Container[str], resource: str, size: int) -> Iterator[tuple[Workload, PodSet]]:
    """Yield the pod sets of the workloads of some queues whose pods ask for `size` of a resource each."""
    for workload in workloads_of(cluster, queues):
        for pod_set in workload.pod_sets:
            if pod_set.template.amounts().get(resource) == size:
                yield workload, pod_set
