"""The effect of a change on the shares of busy queues."""

from __future__ import annotations

from qcheck.answers.shares import shares
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.quota.shares import NO_USAGE, Demand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.cluster_changes import ClusterChange
    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.shares import Amount, QueueShare

    Key = tuple[str, str, str, str]
    """Scheduler, pool, resource and queue."""

FIGURES = ("reserved", "share", "limit")


class ShareChange(Value):
    """A queue whose share of a pool changes; a side is None if the queue does not use the pool."""

    scheduler: str
    pool: str
    resource: str
    queue: str
    before: QueueShare | None
    after: QueueShare | None

    def figures(self) -> Iterator[tuple[str, Amount | None, Amount | None]]:
        """Yield the figures that differ: name, before and after."""
        for name in FIGURES:
            old = getattr(self.before, name) if self.before else None
            new = getattr(self.after, name) if self.after else None
            if old != new:
                yield name, old, new


def share_changes(change: ClusterChange) -> tuple[ShareChange, ...]:
    """Return the queues whose reserved amount, share or limit changes; only accelerators if any of these changes."""
    before, after = _by_queue(change.before), _by_queue(change.after)
    keys = sorted(before.keys() | after.keys())
    found = [ShareChange(*key, before=before.get(key), after=after.get(key)) for key in keys]
    moved = [c for c in found if any(True for _ in c.figures())]
    return tuple([c for c in moved if is_compute(c.resource)] or moved)


def _by_queue(cluster: Cluster) -> dict[Key, QueueShare]:
    pools = shares(cluster, Demand(), NO_USAGE)
    return {(p.scheduler, p.pool, p.resource, q.queue): q for p in pools for q in p.queues}
