"""KAI's queues as a neutral quota tree; a shard is a pool.

The quotas of the topmost queues are promised; if one of these is unlimited, the quotas of its children instead.
Everything that a queue does not use is lent to the others.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.kai import UNLIMITED, Dimension, KaiQueue, KaiTerms
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import view
from qcheck.packing.pod_shape import PodShape, pod_request
from qcheck.quota.tree import Cell, QuotaNode, QuotaTree
from qcheck.schedulers.kai.gates import barriers
from qcheck.schedulers.kai.jobs import job_of, jobs_of
from qcheck.schedulers.kai.shards import RESOURCES, Shard, shard_of, shards_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.kai.jobs import KaiJob

WORD = "Queue"


@view
def quota_tree(cluster: Cluster) -> QuotaTree:
    """Return all queues that some scheduler of KAI sees; those without a known parent are at the top."""
    shards = shards_of(cluster)
    nodes = tuple(_node(shard, queue) for shard in shards for queue in shard.queues)
    cycles = tuple(ring for shard in shards for ring in _rings(shard))
    return QuotaTree(SchedulerName.KAI, nodes, tuple(shard.pool for shard in shards), cycles)


def _rings(shard: Shard) -> Iterator[tuple[str, ...]]:
    """Yield the queues that are their own ancestors, each cycle once."""
    for queue in shard.queues:
        ring = shard.path(queue.name)
        if ring[-1].parent == queue.name and queue.name == min(q.name for q in ring):
            yield tuple(q.name for q in ring)


def _node(shard: Shard, queue: KaiQueue) -> QuotaNode:
    return QuotaNode(
        name=queue.name,
        word=WORD,
        parent=f"{WORD}/{queue.parent}" if queue.parent in shard.queue else None,
        admits=queue.name not in shard.inner,
        cells=tuple(_cell(shard, queue, terms) for terms in queue.terms.values()),
        id=queue.id,
        place=queue.place,
    )


def _cell(shard: Shard, queue: KaiQueue, terms: KaiTerms) -> Cell:
    quota = _entitled(shard, terms)
    limits = [q.terms[terms.dimension].limit for q in shard.path(queue.name)]
    finite = [limit for limit in limits if limit != UNLIMITED]
    return Cell(
        pool=shard.pool.key,
        resource=RESOURCES[terms.dimension],
        promised=quota if _counts(shard, queue, terms.dimension) else 0,
        entitled=quota,
        lendable=quota,
        limit=max(0, int(min(finite))) if finite else None,
        holder=queue.name,
        place=terms.quota_place if terms.quota_place.exists else queue.name_place,
        name_place=terms.place.key() if terms.place.exists else queue.name_place,
        limit_place=terms.limit_place if terms.limit_place.exists else None,
        is_declared=terms.quota_place.exists,
    )


def _entitled(shard: Shard, terms: KaiTerms) -> int:
    """Return the quota in whole base units; unlimited quota is the static capacity."""
    if terms.quota == UNLIMITED:
        return shard.static(terms.dimension)
    return int(max(terms.quota, Fraction(0)))


def _counts(shard: Shard, queue: KaiQueue, dimension: Dimension) -> bool:
    """Return whether a quota is itself promised: it is finite, and all its ancestors' quotas are unlimited."""
    path = shard.path(queue.name)
    own, *above = [q.terms[dimension].quota for q in path]
    return own != UNLIMITED and all(quota == UNLIMITED for quota in above)


def queue_of(cluster: Cluster, workload: Workload) -> str | None:
    """Return the queue of a KAI workload; None if KAI does not schedule it."""
    job = job_of(cluster, workload)
    return job.queue.name if job is not None and job.is_scheduled else None


@view
def workload_shapes(cluster: Cluster) -> dict[str, tuple[PodShape, ...]]:
    """Return the pods of jobs that pass their gates, by shard."""
    found: dict[str, list[PodShape]] = {}
    for job in jobs_of(cluster):
        shard = shard_of(cluster, job.partition)
        if not job.is_scheduled or shard is None or job.queue.name not in {q.name for q in shard.leaves}:
            continue
        if not any(barriers(job, shard)):
            found.setdefault(shard.pool.key, []).extend(_shapes(cluster, job))
    return {pool: tuple(shapes) for pool, shapes in found.items()}


def _shapes(cluster: Cluster, job: KaiJob) -> Iterator[PodShape]:
    workload = job.workload
    for pod_set in workload.pod_sets:
        name = workload.name if len(workload.pod_sets) == 1 else f"{workload.name}/{pod_set.name}"
        request = pod_request(cluster, workload, pod_set)
        shape = PodShape(
            name=name,
            request=request,
            queue=job.queue.name,
            template=pod_set.template,
            count=pod_set.count * workload.groups,
        )
        if shape.accelerator:
            yield replace(shape, place=pod_set.template.place_of(shape.accelerator))
