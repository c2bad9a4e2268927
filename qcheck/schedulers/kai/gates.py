"""The gates that a job must pass in KAI: the limit of each queue on the path, and the quota for non-preemptible jobs.

Source: KAI 0.17 `pkg/scheduler/plugins/proportion/capacity_policy`.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from qcheck.cluster.kai import UNLIMITED, Dimension, KaiQueue, KaiTerms
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.schedulers.kai.jobs import KaiJob
    from qcheck.schedulers.kai.shards import Shard

    Amounts = Mapping[Dimension, Fraction]


class Bound(Enum):
    """The bound of a queue that applies to a job."""

    LIMIT = "limit"
    QUOTA = "quota"


class KaiBarrier(Value):
    """A bound that a request exceeds: on an otherwise idle cluster the job never starts."""

    queue: KaiQueue
    terms: KaiTerms
    bound: Bound
    requested: Fraction

    @property
    def dimension(self) -> Dimension:
        return self.terms.dimension

    @property
    def amount(self) -> Fraction:
        """The bound in base units."""
        return self.terms.limit if self.bound is Bound.LIMIT else self.terms.quota


def barriers(job: KaiJob, shard: Shard) -> Iterator[KaiBarrier]:
    """Yield what stops a job permanently: limits, and quotas if it is certainly not preemptible."""
    yield from _over(job, shard, first_request(job, shard))


def barriers_by_node(job: KaiJob, shard: Shard) -> Iterator[KaiBarrier]:
    """Yield what stops a job if its GPU memory counts as a part of the smallest GPUs: KAI tests pods again on their node."""
    memory, smallest = job.first_memory, shard.smallest_gpu_memory
    if memory and smallest and smallest != shard.largest_gpu_memory:
        yield from _over(job, shard, _with_memory(job, memory, smallest))


def _over(job: KaiJob, shard: Shard, first: Amounts) -> Iterator[KaiBarrier]:
    path = shard.path(job.queue.name)
    yield from over(path, first, Bound.LIMIT)
    if job.is_preemptible is False:
        yield from over(path, first, Bound.QUOTA)


def first_request(job: KaiJob, shard: Shard) -> dict[Dimension, Fraction]:
    """Return the requests of the pods that start together; GPU memory counts as a part of the shard's largest GPU."""
    memory, largest = job.first_memory, shard.largest_gpu_memory
    if not memory or not largest:
        return job.first
    return _with_memory(job, memory, largest)


def _with_memory(job: KaiJob, memory: int, of_gpu: int) -> dict[Dimension, Fraction]:
    return {**job.first, Dimension.GPU: job.first[Dimension.GPU] + Fraction(memory, of_gpu)}


def over(path: Iterable[KaiQueue], request: Amounts, bound: Bound) -> Iterator[KaiBarrier]:
    """Yield each bound on a path that a request exceeds; resources that are not requested are ignored."""
    for queue in path:
        for terms in queue.terms.values():
            barrier = KaiBarrier(queue, terms, bound, request[terms.dimension])
            if barrier.requested > 0 and barrier.amount != UNLIMITED and barrier.amount < barrier.requested:
                yield barrier
