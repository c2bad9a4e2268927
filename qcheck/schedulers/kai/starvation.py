"""Test whether a job larger than its queue's quota can ever start by reclaim while all queues are busy.

A queue may reclaim up to its fair share. Past usage raises the share of a queue that held little, at the expense of one
that held much; with three or more busy queues the starving queues share what that one loses. The most favourable past
is assumed: the job's queue holds only what it never gives up, and one rival holds everything else.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.kai import Dimension
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.division import Claim, divide
from qcheck.schedulers.kai.shards import double

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qcheck.cluster.kai import KaiQueue
    from qcheck.schedulers.kai.shards import Shard

ANY_K = 1e6
"""A k beyond which no share changes."""
STEP = Fraction(1, 100)
"""The precision of the smallest reported k."""


class Reach(Value):
    """The largest share of a queue while all are busy, in GPUs."""

    at_k: float
    at_any_k: float
    smallest_k: Fraction | None
    """The smallest k, in hundredths, at which the share covers the need; None if there is none."""


def reach(shard: Shard, queue: KaiQueue, need: Fraction, held: Fraction, total: int, capacity: int) -> Reach:
    """Return how large the share of `queue` can become.

    `need` is what the queue holds with the job, `held` what it holds without; the shard divides `total`, and usage is
    measured relative to `capacity`, the GPUs of the whole cluster.
    """

    def share(k: float) -> float:
        return _share(shard, queue, float(need), float(held), float(total), float(capacity), k)

    at_any_k = share(ANY_K)
    smallest = _smallest(share, float(need)) if at_any_k >= need else None
    return Reach(share(shard.k), at_any_k, smallest)


def _smallest(share: Callable[[float], float], need: float) -> Fraction:
    """Return the smallest k in hundredths at which the share covers the need; the share does not fall as k grows."""
    low, high = 0, int(ANY_K / STEP)
    while low < high:
        middle = (low + high) // 2
        if share(float(middle * STEP)) >= need:
            high = middle
        else:
            low = middle + 1
    return low * STEP


def _share(shard: Shard, queue: KaiQueue, need: float, held: float, total: float, capacity: float, k: float) -> float:
    """Return the best share of a queue, level by level from the top."""
    for step in reversed(shard.path(queue.name)):
        level = [q for q in shard.queues if q.parent == step.parent]
        total = max(_divided(level, step, need, held, total, capacity, rival, k) for rival in _rivals(level, step))
    return total


def _rivals(level: Sequence[KaiQueue], queue: KaiQueue) -> list[str]:
    """Return the other queues of a level; of those with equal claims only one."""
    alike = {_part(q): q.name for q in level if q is not queue}
    return list(alike.values()) or [""]


def _part(queue: KaiQueue) -> tuple[object, ...]:
    terms = queue.terms[Dimension.GPU]
    return terms.quota, terms.limit, terms.weight, queue.priority


def _divided(
    level: Sequence[KaiQueue],
    queue: KaiQueue,
    need: float,
    held: float,
    total: float,
    capacity: float,
    rival: str,
    k: float,
) -> float:
    """Return the queue's share if `rival` held everything else of the level."""
    usage = {queue.name: min(held, total) / capacity, rival: max(0.0, total - held) / capacity}
    claims = [_claim(q, need if q is queue else max(total, need), usage.get(q.name, 0.0)) for q in level]
    return divide(total, claims, k)[queue.name]


def _claim(queue: KaiQueue, request: float, usage: float) -> Claim:
    terms = queue.terms[Dimension.GPU]
    return Claim(
        queue=queue.name,
        quota=double(terms.quota),
        limit=double(terms.limit),
        weight=double(terms.weight),
        request=request,
        usage=usage,
        priority=queue.priority,
        created=float(queue.created or 0),
    )
