"""Shares of busy queues: the input and output values of every scheduler's `shares`.

A scheduler package offers `shares(cluster, demand, usage) -> tuple[PoolShares, ...]`, one entry per tree, pool and
resource. Amounts are in base units (devices, milli-cpu, bytes). They are exact, except KAI's, which upstream computes
in doubles.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Amount = int | Fraction | float


class Demand(Value):
    """The demand of the queues. `wanted` None: every queue wants more than exists.

    Otherwise a queue that is not in `wanted` wants nothing, and a resource with None is wanted without limit.
    """

    wanted: dict[str, dict[str, int | Fraction | None]] | None = None
    busy: frozenset[str] = frozenset()

    def of(self, queue: str, resource: str) -> int | Fraction | None:
        """Return how much a queue wants of a resource, in base units; None for more than exists."""
        if queue in self.busy or (self.wanted is None and not self.busy):
            return None
        return (self.wanted or {}).get(queue, {}).get(resource, 0)

    def capped(self, queue: str, resource: str, most: Amount) -> Amount:
        """Return the same, limited to `most`."""
        wanted = self.of(queue, resource)
        return most if wanted is None else min(most, wanted)


class Usage(Value):
    """The past usage of queues: by queue and resource, a fraction (KAI) or an amount (Kueue).

    `is_given`: read from a file.
    """

    consumed: dict[str, dict[str, Fraction]]
    is_given: bool = False

    def of(self, queue: str, resource: str) -> Fraction:
        """Return the past usage of a resource by a queue; 0 if it is not listed."""
        return self.consumed.get(queue, {}).get(resource, Fraction(0))


NO_USAGE = Usage({})


class ShareNote(Value):
    """A remark on a queue's share, such as `starves`; `place` is its origin, if it is written anywhere."""

    code: str
    message: str
    place: Place | None = None


class Reclaimable(Value):
    """Quota that a queue reclaims: at most `amount` base units, from the queues in `holders`, by the mechanism in `how`."""

    amount: Amount
    holders: tuple[str, ...]
    how: str


class QueueShare(Value):
    """One queue in one pool. `place` is its quota or, if none is written, the queue itself.

    * `reserved`: what no other queue can withhold from it.
    * `entitled`: nominal quota (Kueue), quota (KAI), deserved (Volcano).
    * `share`: the fluid division for the demand in `Demand`; None if the mechanism defines none.
    * `limit`: the most it can ever hold.
    * `step`: its largest declared workload, in base units, by which the actual division may differ; None without one.
    """

    queue: str
    parent: str | None
    place: Place
    reserved: Amount
    entitled: Amount
    share: Amount | None
    limit: Amount
    reclaimable: Reclaimable
    notes: tuple[ShareNote, ...] = ()
    step: int | None = None


class PoolShares(Value):
    """The queues of one tree that can hold workloads, for one pool and resource.

    `pool` is the flavor (Kueue), the shard (KAI) or the node group (Volcano). `tree` names the root: the topmost cohort
    or a queue without one (Kueue), the shard (KAI), the root queue (Volcano). `total` is the amount to divide.
    """

    scheduler: str
    pool: str
    resource: str
    tree: str
    total: Amount
    queues: tuple[QueueShare, ...]

    def __iter__(self) -> Iterator[QueueShare]:
        return iter(self.queues)


NO_NODES = "no node was read: what there is to divide is not known, and counts as 0"
"""The message of the note `no-nodes`, for schedulers that divide what nodes have."""


def no_capacity(pools: Sequence[str]) -> str:
    """Return the message of the note `unknown-nodes`: pools whose count or machines are not known."""
    return f"the capacity of {', '.join(pools)} is not known, and counts as 0"


NOTHING_TO_RECLAIM = Reclaimable(0, (), "nothing of it is lent")
