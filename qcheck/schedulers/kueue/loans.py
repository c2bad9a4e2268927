"""Loans of quota in the cohort tree, and the owners' means of reclaiming them.

Source: Kueue 0.19 `pkg/cache/scheduler/resource_node.go` and `pkg/scheduler/preemption`.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.kueue import ClusterQueue, FlavorResource, PreemptionPolicy, Quota
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.schedulers.kueue.cohort_tree import cohort_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster


class Loan(Value):
    """The most that `borrower` can hold of `owner`'s quota: `amount` base units of the owner's cell.

    `quota` is the owner's cell, `borrowed` the borrower's.
    """

    owner: ClusterQueue
    borrower: ClusterQueue
    quota: Quota
    borrowed: Quota
    amount: int

    @property
    def is_reclaimable(self) -> bool:
        """Return whether the owner may preempt in other queues."""
        return self.owner.preemption.reclaim is not PreemptionPolicy.NEVER


def counted(queue: ClusterQueue) -> list[Quota]:
    """Return the cells by which a queue is judged: of its accelerators, or all if it has none."""
    cells = list(queue.quotas())
    return [q for q in cells if is_compute(q.resource)] or cells


class Loans:
    """Loans between the queues of a cluster. A stopped queue borrows nothing new, but its own quota is lent."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._keen: dict[FlavorResource, list[ClusterQueue]] = {}
        self._keen_by_root: dict[tuple[str | None, FlavorResource], list[ClusterQueue]] = {}
        self._borrowed: dict[str, list[FlavorResource]] = {}

    def keen(self, cell: FlavorResource) -> list[ClusterQueue]:
        """Return the queues that can hold more of a cell than they own; those meant for borrowing first."""
        if cell not in self._keen:
            tree = cohort_tree(self._cluster)
            able = [q for q in self._listing.get(cell, ()) if not q.is_stopped and tree.borrowable(q.name, cell) > 0]
            self._keen[cell] = sorted(able, key=lambda q: (not self.is_by_nature(q, cell), q.name))
        return self._keen[cell]

    def below(self, root: str | None, cell: FlavorResource) -> list[ClusterQueue]:
        """Return the queues of `keen` in one tree, in the same order."""
        key = (root, cell)
        if key not in self._keen_by_root:
            tree = cohort_tree(self._cluster)
            self._keen_by_root[key] = [q for q in self.keen(cell) if tree.root(q.name) == root]
        return self._keen_by_root[key]

    @cached_property
    def _listing(self) -> dict[FlavorResource, list[ClusterQueue]]:
        listing: dict[FlavorResource, list[ClusterQueue]] = {}
        for queue in self._cluster.queues:
            for quota in queue.quotas():
                listing.setdefault(quota.key, []).append(queue)
        return listing

    @cached_property
    def _wanting(self) -> dict[tuple[str, FlavorResource], list[str]]:
        wanting: dict[tuple[str, FlavorResource], list[str]] = {}
        for queue in self._cluster.queues:
            root = cohort_tree(self._cluster).root(queue.name)
            for quota in queue.quotas() if root is not None else ():
                if quota.borrowing_limit != 0:
                    wanting.setdefault((root or "", quota.key), []).append(queue.name)
        return wanting

    def wanting(self, owner: ClusterQueue, cell: FlavorResource) -> list[str]:
        """Return the queues that would borrow a cell of the owner's if it lent any."""
        root = cohort_tree(self._cluster).root(owner.name)
        return [name for name in self._wanting.get((root or "", cell), ()) if name != owner.name]

    def is_by_nature(self, queue: ClusterQueue, cell: FlavorResource) -> bool:
        """Return whether a queue lives on loans: settings call it shared, or it owns nothing of the cell."""
        quota = cohort_tree(self._cluster).queues[queue.name].cells.get(cell)
        return self.is_shared(queue) or (quota is not None and quota.nominal == 0)

    def is_reserved(self, queue: ClusterQueue) -> bool:
        """Return whether a queue is reserved: by the settings, or because a profile is set and it has quota in a cohort."""
        policy = self._cluster.policy
        if policy.reserved_queues or policy.profile is None:
            return policy.is_reserved(queue.name)
        return bool(queue.parent) and not self.is_shared(queue) and any(q.nominal for q in counted(queue))

    def is_shared(self, queue: ClusterQueue) -> bool:
        """Return whether a queue lives on loans: settings call it shared, or a profile is set and it owns nothing."""
        policy = self._cluster.policy
        if policy.shared_queues or policy.profile is None:
            return policy.is_shared(queue.name)
        return bool(queue.parent) and not policy.is_reserved(queue.name) and not any(q.nominal for q in counted(queue))

    def of(self, owner: ClusterQueue, quota: Quota) -> Iterator[Loan]:
        """Yield a loan for each queue that may hold the owner's quota of one cell, those meant for borrowing first."""
        root = cohort_tree(self._cluster).root(owner.name)
        return self._loans(owner, quota, self.below(root, quota.key))

    def main(self, owner: ClusterQueue) -> Loan | None:
        """Return the most important loan: of accelerators if the owner lends any, else the first."""
        for quota in sorted(owner.quotas(), key=lambda q: not is_compute(q.resource)):
            loan = next(self.of(owner, quota), None)
            if loan is not None:
                return loan
        return None

    def to(self, borrower: ClusterQueue) -> Iterator[Loan]:
        """Yield what a queue may hold of others, one loan per owner."""
        if self.cells_to(borrower):
            yield from (loan for owner in self._cluster.queues if (loan := self.between(owner, borrower)) is not None)

    def between(self, owner: ClusterQueue, borrower: ClusterQueue) -> Loan | None:
        """Return what one queue may hold of another's, accelerators if possible."""
        held = cohort_tree(self._cluster).queues[owner.name].cells
        cells = (c for c in self.cells_to(borrower) if c in held)
        return next((loan for c in cells for loan in self._loans(owner, held[c], (borrower,))), None)

    def cells_to(self, borrower: ClusterQueue) -> list[FlavorResource]:
        """Return the cells of which a queue can hold more than it owns, accelerators first."""
        if borrower.name not in self._borrowed:
            cells = sorted((q.key for q in borrower.quotas()), key=lambda c: not is_compute(c[1]))
            self._borrowed[borrower.name] = [c for c in cells if any(q is borrower for q in self.keen(c))]
        return self._borrowed[borrower.name]

    def _loans(self, owner: ClusterQueue, quota: Quota, borrowers: Iterable[ClusterQueue]) -> Iterator[Loan]:
        """Yield what some queues may hold of the owner's `quota`."""
        tree, cell = cohort_tree(self._cluster), quota.key
        most = min(quota.nominal, tree.lent(owner.name, cell))
        for borrower in borrowers if most > 0 else ():
            if borrower is owner:
                continue
            amount = min(most, tree.reach(borrower.name, owner.name, cell))
            if amount > 0:
                borrowed = tree.queues[borrower.name].cells[cell]
                yield Loan(owner=owner, borrower=borrower, quota=quota, borrowed=borrowed, amount=amount)


@view
def loans_of(cluster: Cluster) -> Loans:
    """Return the loans between the queues of a cluster."""
    return Loans(cluster)
