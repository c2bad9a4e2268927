"""Competitors for the same nodes, with their priorities in both systems.

Without node pools, workloads of one flavor count as competing; with them, those whose pods may run on the same nodes.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import answered_once, view
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.flavor_eligibility import miss
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.priorities import Rank, kueue_rank, pod_ranks
from qcheck.schedulers.kueue.routing import destination
from qcheck.schedulers.kueue.workload_classes import representative
from qcheck.supply.eligibility import daemon_lands, host
from qcheck.supply.groups import ALL
from qcheck.supply.node_demand import demand_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, ResourceFlavor
    from qcheck.cluster.workloads import DaemonSet, PodSet, Workload
    from qcheck.schedulers.kueue.loans import Loan
    from qcheck.supply.groups import NodeGroup

    Ranks = tuple[int, int]
    Relation = Callable[["Contender", "Contender"], bool]


class Contender(Value):
    """A queued workload. `rank` is its priority in Kueue, `pods` those of its pod sets in kube-scheduler, lowest first.

    `grounds` names the node groups (or flavors, if no nodes are known) on which its pods may run; for a workload with
    accelerators, only the pods that have them count.
    """

    workload: Workload
    queue: ClusterQueue
    rank: Rank
    pods: tuple[Rank, ...]
    grounds: frozenset[str]

    @property
    def lowest(self) -> Rank:
        return self.pods[0]

    @property
    def highest(self) -> Rank:
        return self.pods[-1]

    @property
    def priorities(self) -> tuple[object, ...]:
        """The priorities of both kinds, as far as comparisons use them."""
        pods = tuple((r.name, r.value, r.preempts) for r in (self.lowest, self.highest))
        return self.rank.name, self.rank.value, pods

    @property
    def standing(self) -> tuple[object, ...]:
        """The values by which contenders are compared."""
        return self.queue.name, *self.priorities, self.grounds


class Contention:
    """The queued workloads of a cluster as competitors for its nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def queued(self) -> tuple[tuple[Workload, ClusterQueue], ...]:
        """Every workload that reaches a ClusterQueue, with that queue."""
        cluster = self._cluster
        found = ((w, destination(cluster, representative(cluster, w)).queue) for w in cluster.workloads)
        return tuple((w, q) for w, q in found if q is not None)

    @cached_property
    def workloads_of(self) -> dict[str, list[Workload]]:
        """The queued workloads by the name of their ClusterQueue."""
        found: dict[str, list[Workload]] = {}
        for workload, queue in self.queued:
            found.setdefault(queue.name, []).append(workload)
        return found

    @cached_property
    def contenders(self) -> tuple[Contender, ...]:
        """The queued workloads whose priorities are known."""
        return tuple(c for w, q in self.queued if (c := self._contender(w, q)) is not None)

    @cached_property
    def lowest(self) -> int:
        """The lowest pod priority of all contenders."""
        return min(c.lowest.value for c in self.contenders)

    @cached_property
    def of_queue(self) -> dict[str, list[Contender]]:
        """The contenders by the name of their ClusterQueue."""
        found: dict[str, list[Contender]] = {}
        for each in self.contenders:
            found.setdefault(each.queue.name, []).append(each)
        return found

    @cached_property
    def ranks(self) -> dict[str, Ranks]:
        """Kueue's lowest and highest priority of the contenders by the name of their ClusterQueue."""
        values = {name: [c.rank.value for c in members] for name, members in self.of_queue.items()}
        return {name: (min(v), max(v)) for name, v in values.items()}

    def _contender(self, workload: Workload, queue: ClusterQueue) -> Contender | None:
        rank, pods = kueue_rank(self._cluster, workload), pod_ranks(self._cluster, workload)
        if rank is None or pods is None:
            return None
        where = grounds(self._cluster, representative(self._cluster, workload), queue)
        return Contender(workload=workload, queue=queue, rank=rank, pods=tuple(pods), grounds=where)

    @cached_property
    def standings(self) -> tuple[Contender, ...]:
        """The first contender of each standing, representing all others with that standing."""
        found: dict[tuple[object, ...], Contender] = {}
        for each in self.contenders:
            if representative(self._cluster, each.workload) is each.workload:
                found.setdefault(each.standing, each)
        return tuple(found.values())

    @cached_property
    def inversions(self) -> tuple[tuple[Contender, Contender], ...]:
        """Pairs in which Kueue ranks the first higher, but kube-scheduler the second, on the same nodes.

        They must compete in Kueue: in one queue or one cohort tree. All pods of the first must rank below all pods of
        the second. One pair represents all with the same classes.
        """
        found: dict[tuple[object, ...], tuple[Contender, Contender]] = {}
        for first, second in self._pairs(_inverted, lambda *_: True):
            key = (first.rank.name, first.highest.name, second.rank.name, second.lowest.name)
            found.setdefault(key, (first, second))
        return tuple(found.values())

    def _pairs(self, apply: Relation, accept: Relation) -> Iterator[tuple[Contender, Contender]]:
        """Yield, for each two priorities to which `apply` applies, the first two contenders that meet and are accepted.

        There are few priorities and many workloads.
        """
        ranked: dict[tuple[object, ...], list[Contender]] = {}
        for each in self.standings:
            ranked.setdefault(each.priorities, []).append(each)
        for mine in ranked.values():
            for theirs in ranked.values():
                if apply(mine[0], theirs[0]):
                    pairs = ((a, b) for a in mine for b in theirs if self._meet(a, b) and accept(a, b))
                    yield from islice(pairs, 1)

    def _meet(self, first: Contender, second: Contender) -> bool:
        """Return whether two contenders share nodes, and a queue or a cohort tree."""
        if first is second or first.grounds.isdisjoint(second.grounds):
            return False
        root = self._roots.get(first.queue.name)
        return first.queue is second.queue or (root is not None and root == self._roots.get(second.queue.name))

    @cached_property
    def _roots(self) -> dict[str, str | None]:
        return {q.name: cohort_tree(self._cluster).root(q.name) for q in self._cluster.queues}

    @cached_property
    def most_urgent(self) -> tuple[Contender, ...]:
        """For each queue, the contender with the most urgent pods that preempt, the most urgent first."""
        strongest: dict[str, Contender] = {}
        for each in sorted(self.contenders, key=lambda c: -c.highest.value):
            if each.highest.preempts:
                strongest.setdefault(each.queue.name, each)
        return tuple(strongest.values())

    @cached_property
    def evictions(self) -> tuple[tuple[Contender, Contender], ...]:
        """Pairs in which kube-scheduler may evict the second for the first although Kueue admitted both.

        Omitted: pairs that Kueue ranks the other way round (`inversions`), owners that evict borrowers, which is
        intended, and borrowers above owners, which is a separate case.
        """
        found: dict[tuple[object, ...], tuple[Contender, Contender]] = {}
        for first, second in self._pairs(_may_evict, self._is_a_clash):
            found.setdefault((first.highest.name, second.lowest.name), (first, second))
        return tuple(found.values())

    def _is_a_clash(self, first: Contender, second: Contender) -> bool:
        return not self._lives_on(second, first) and self._lent(first, second) is None

    def _lives_on(self, borrower: Contender, owner: Contender) -> bool:
        """Return whether one queue is intended to borrow what the other owns."""
        loan = self._lent(borrower, owner)
        return loan is not None and loans_of(self._cluster).is_by_nature(borrower.queue, loan.borrowed.key)

    def _lent(self, borrower: Contender, owner: Contender) -> Loan | None:
        """Return what one contender's queue may hold of the other's."""
        return loans_of(self._cluster).between(owner.queue, borrower.queue)


def _inverted(first: Contender, second: Contender) -> bool:
    return first.rank.value > second.rank.value and first.highest.value < second.lowest.value


def _may_evict(first: Contender, second: Contender) -> bool:
    strong, weak = first.highest, second.lowest
    return strong.preempts and strong.value > weak.value and first.rank.value >= second.rank.value


@answered_once
def grounds(cluster: Cluster, workload: Workload, queue: ClusterQueue) -> frozenset[str]:
    """Return where a workload's pods may run: names of node groups, or of flavors if no nodes are known."""
    if not cluster.has_nodes:
        return frozenset(f.name for p in _decisive(workload) for f in _flavors(cluster, p, queue))
    return frozenset(g.name for g in landing_groups(cluster, workload, queue))


def landing_groups(cluster: Cluster, workload: Workload, queue: ClusterQueue) -> list[NodeGroup]:
    """Return node groups of which any node may take pods of a workload, through the flavors of its queue."""
    return [
        m.group
        for p in _decisive(workload)
        for f in _flavors(cluster, p, queue)
        for demand in (demand_of(cluster, p.template, pool=cluster.quota_pools.get(f.name)),)
        for m in supply_of(cluster).matches(f.name)
        if m.how_many == ALL and m.group.classes and host(cluster, demand, m.group).takes_all
    ]


def _decisive(workload: Workload) -> list[PodSet]:
    """Return the pod sets with accelerators, or all if none has any."""
    with_devices = [p for p in workload.pod_sets if any(is_compute(r) and n for r, n in p.template.amounts().items())]
    return with_devices or list(workload.pod_sets)


def _flavors(cluster: Cluster, pod_set: PodSet, queue: ClusterQueue) -> Iterator[ResourceFlavor]:
    """Yield the flavors that a pod set may get: those of its accelerators' resource group, or of all its requests."""
    asked = {r for r, n in pod_set.template.amounts().items() if n}
    devices = {r for r in asked if is_compute(r)}
    for group in queue.groups:
        if devices.isdisjoint(group.covered) if devices else asked.isdisjoint(group.covered):
            continue
        for quotas in group.flavors:
            flavor = cluster.flavor.get(quotas.name)
            if flavor is not None and miss(cluster, queue, group, flavor, pod_set, asked) is None:
                yield flavor


def daemon_grounds(cluster: Cluster, daemon_set: DaemonSet) -> frozenset[str]:
    """Return the accelerator groups on every node of which a DaemonSet has a pod."""
    return frozenset(
        g.name
        for g in supply_of(cluster).groups
        for c in g.classes
        if any(is_compute(r) and n for r, n in c.machine.allocatable.items())
        and daemon_lands(cluster, daemon_set.template, c) == ALL
    )


@view
def contention_of(cluster: Cluster) -> Contention:
    """Return the queued workloads as competitors for nodes."""
    return Contention(cluster)
