"""Shares of busy queues: the values that every scheduler's `shares` returns, and what it is asked.

A scheduler package offers `shares(cluster, demand, usage) -> tuple[PoolShares, ...]`, one entry per tree, pool and
resource. Amounts are in base units (devices, milli-cpu, bytes). They are exact, except KAI's, which upstream computes
in doubles.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

Amount = int | Fraction | float


class Demand(Value):
    """The demand of the queues. `wanted` None: every queue wants more than exists.

    Otherwise a queue that `wanted` does not name wants nothing, and a resource with None is wanted without limit.
    """

    wanted: dict[str, dict[str, int | Fraction | None]] | None = None
    busy: frozenset[str] = frozenset()

    def of(self, queue: str, resource: str) -> int | Fraction | None:
        """Return how much a queue wants of a resource, in base units; None for more than there is."""
        if queue in self.busy or (self.wanted is None and not self.busy):
            return None
        return (self.wanted or {}).get(queue, {}).get(resource, 0)

    def capped(self, queue: str, resource: str, most: Amount) -> Amount:
        """The same, and never more than `most`."""
        wanted = self.of(queue, resource)
        return most if wanted is None else min(most, wanted)


class Usage(Value):
    """The past usage of queues: queue to resource to a fraction (KAI) or an amount (Kueue). `is_given`: by a file."""

    consumed: dict[str, dict[str, Fraction]]
    is_given: bool = False

    def of(self, queue: str, resource: str) -> Fraction:
        """The history of a queue in a resource; 0 for one that is not named."""
        return self.consumed.get(queue, {}).get(resource, Fraction(0))


NO_USAGE = Usage({})


class ShareNote(Value):
    """A remark on a queue's share, such as `starves`; `place` is where it comes from, if it is written anywhere."""

    code: str
    message: str
    place: Place | None = None


class Reclaimable(Value):
    """Quota that a queue reclaims: at most `amount` base units, from the queues in `holders`, by the mechanism in `how`."""

    amount: Amount
    holders: tuple[str, ...]
    how: str


class QueueShare(Value):
    """One queue in one pool. `place` is its quota or, where none is written, the queue itself.

    * `reserved`: what no other queue can keep from it.
    * `entitled`: nominal quota (Kueue), quota (KAI), deserved (Volcano).
    * `share`: the fluid division when the queues want what `Demand` says; None if the mechanism defines none.
    * `limit`: the most it can ever hold.
    * `step`: the largest workload declared for it, in base units, by which a real division may differ; None if none is.
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

    `pool` is the flavor (Kueue), the shard (KAI) or the node group (Volcano). `tree` names the root: the topmost cohort or
    the queue that is in none (Kueue), the shard (KAI), the root queue (Volcano). `total` is what there is to divide.
    """

    scheduler: str
    pool: str
    resource: str
    tree: str
    total: Amount
    queues: tuple[QueueShare, ...]

    def __iter__(self) -> Iterator[QueueShare]:
        return iter(self.queues)


NOTHING_TO_RECLAIM = Reclaimable(0, (), "nothing of it is lent")
