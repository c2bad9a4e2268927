"""The queues that may hold an owner's quota, in groups with equal terms.

In a cohort of n queues, each lends to all others. Sums over groups avoid a list of these n * n loans.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import answered_once, view
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.preemption_cost import preemption_cost

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, FlavorResource
    from qcheck.schedulers.kueue.competitors import Ranks

    Teardown = tuple[int, str]
    """The seconds until the nodes of a preempted workload are free, and the workload."""


class BorrowerGroup(Value, cached=True):
    """Queues that can hold quota of one cohort on equal terms, and whose workloads have the same priorities in Kueue.

    `limits` are the maximum amounts that each can borrow, by name, in the order of `Loans.below`; `teardowns` are the
    slowest teardowns of the queues with known workloads, the slowest first.
    """

    ranks: Ranks | None
    limits: dict[str, int]
    teardowns: tuple[tuple[Teardown, str], ...]

    def first(self, owner: str) -> str | None:
        """Return the first queue other than the owner."""
        return next((name for name in self.limits if name != owner), None)

    def borrowed(self, most: int, owner: str) -> int:
        """Return the sum of what the queues other than the owner can borrow if each may borrow at most `most`."""
        within = bisect_right(self._ascending, most)
        total = self._sums[within] + most * (len(self._ascending) - within)
        return total - min(most, self.limits[owner]) if owner in self.limits else total

    def slowest(self, owner: str) -> Teardown | None:
        """Return the slowest teardown in the queues other than the owner."""
        return next((teardown for teardown, name in self.teardowns if name != owner), None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The queues, sorted."""
        return tuple(sorted(self.limits))

    @cached_property
    def _ascending(self) -> list[int]:
        return sorted(self.limits.values())

    @cached_property
    def _sums(self) -> list[int]:
        """Return the sums of the smallest 0, 1, 2, ... limits."""
        return list(accumulate(self._ascending, initial=0))


def borrower_groups(cluster: Cluster, owner: ClusterQueue, cell: FlavorResource) -> list[BorrowerGroup]:
    """Return the groups that can hold what an owner lends of a cell, in the order of `Loans.of`."""
    groups, places = _from(cluster, cohort_tree(cluster).root(owner.name), owner.parent, cell)
    firsts = ((group.first(owner.name), group) for group in groups)
    found = [(places[first], group) for first, group in firsts if first is not None]
    return [group for _, group in sorted(found, key=lambda f: f[0])]


@answered_once
def _from(
    cluster: Cluster, root: str | None, cohort: str | None, cell: FlavorResource
) -> tuple[tuple[BorrowerGroup, ...], dict[str, int]]:
    """Return the groups that can hold quota of a cohort, and the places of their queues in the order of `Loans.below`.

    They are the same for every owner in the cohort, except that an owner does not borrow from itself.
    """
    tree, ranks = cohort_tree(cluster), contention_of(cluster).ranks
    order = loans_of(cluster).below(root, cell)
    limits: dict[tuple[int, Ranks | None], dict[str, int]] = {}
    for queue in order:
        way = tree.limit_between(queue.parent, cohort, cell)
        own = tree.queues[queue.name].cells[cell].borrowing_limit
        if way > 0:
            members = limits.setdefault((way, ranks.get(queue.name)), {})
            members[queue.name] = way if own is None else min(way, own)
    groups = tuple(BorrowerGroup(rank, mine, _slowest(cluster, mine)) for (_, rank), mine in limits.items())
    return groups, {queue.name: place for place, queue in enumerate(order)}


def _slowest(cluster: Cluster, names: dict[str, int]) -> tuple[tuple[Teardown, str], ...]:
    known = _teardowns(cluster)
    return tuple(sorted(((known[name], name) for name in names if name in known), reverse=True))


@view
def _teardowns(cluster: Cluster) -> dict[str, Teardown]:
    """Return the slowest teardown among the known workloads of each queue."""
    slowest: dict[str, Teardown] = {}
    for workload, queue in contention_of(cluster).queued:
        took = preemption_cost(workload, {}).seconds
        if took > slowest.get(queue.name, (-1, ""))[0]:
            slowest[queue.name] = took, str(workload.id)
    return slowest
