"""What the nodes can supply to quota pools, after DaemonSets and reserves.

Supply has two figures per resource: `static`, what is there without any autoscaler and on ready nodes, and `ceiling`, the
most there can ever be (None: no ceiling).
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.nodes import DECLARED, ESTIMATED, Machine
from qcheck.cluster.policy import matches_any
from qcheck.cluster.resources import BASIC, looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.supply.eligibility import ALL, NONE, daemon_lands, pool_match
from qcheck.supply.pod_requests import bounds, scheduled

if TYPE_CHECKING:
    from collections.abc import Container

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Labels, Taint
    from qcheck.cluster.nodes import Node, NodePool
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.policy import Reserve
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.workloads import DaemonSet

Varying = dict[str, tuple[str, ...]]
Reaching = dict[str, dict[str, int | None]]


class Taking(Value):
    """What one DaemonSet takes of each node of a class. `certain` is False where only some nodes may be meant."""

    daemon_set: DaemonSet
    amounts: Amounts
    certain: bool


class NodeClass(Value, cached=True):
    """Nodes that nothing relevant tells apart.

    `free` is what a node offers to workloads: allocatable minus DaemonSets minus reserves, in base units, never below 0.
    `free_at_best` leaves out DaemonSets that perhaps do not land. `names` are those of dumped nodes.
    """

    machine: Machine
    labels: Labels
    varying: Varying
    taints: tuple[Taint, ...]
    takings: tuple[Taking, ...] = ()
    reserves: tuple[Reserve, ...] = ()
    names: tuple[str, ...] = ()

    @cached_property
    def free(self) -> Amounts:
        return self._free([t.amounts for t in self.takings])

    @cached_property
    def free_at_best(self) -> Amounts:
        return self._free([t.amounts for t in self.takings if t.certain])

    def _free(self, taken: list[Amounts]) -> Amounts:
        taken = [*taken, *(r.per_node for r in self.reserves)]
        return {r: max(0, a - sum(t.get(r, 0) for t in taken)) for r, a in self.machine.allocatable.items()}

    def left(self, resource: str, evicted: Container[ObjectId]) -> int:
        """What a node has free at best once the pods of some DaemonSets are evicted from it."""
        staying = [t.amounts for t in self.takings if t.certain and t.daemon_set.id not in evicted]
        taken = sum(amounts.get(resource, 0) for amounts in staying) + self.reserved(resource)
        return max(0, self.machine.allocatable.get(resource, 0) - taken)

    def taken(self, resource: str) -> int:
        """What DaemonSets take of one node."""
        return min(self.machine.allocatable.get(resource, 0), sum(t.amounts.get(resource, 0) for t in self.takings))

    def reserved(self, resource: str) -> int:
        return sum(r.per_node.get(resource, 0) for r in self.reserves)

    def is_estimated(self, resource: str) -> bool:
        return self.machine.sure.get(resource, DECLARED) == ESTIMATED

    def knows(self, resource: str) -> bool:
        """Whether the machine's figure is known. Left out, cpu and memory are unknown; devices are not there."""
        return resource not in self.machine.unknown and (resource not in BASIC or resource in self.machine.allocatable)


class NodeGroup(Value, cached=True):
    """Nodes of one pool, or equal nodes of a dump: `static` are there, `ceiling` is the most there can be.

    `classes` has one entry, or one per machine type where a pool may consist of several. It is empty where nothing is
    known of the machines.
    """

    name: str
    place: Place
    count_place: Place
    static: int
    ceiling: int | None
    classes: tuple[NodeClass, ...]
    pool: NodePool | None = None
    nodes: tuple[Node, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether count and machines are known."""
        return bool(self.classes) and not (self.pool is not None and self.pool.count_unknown)

    def lowest(self, resource: str) -> int:
        """What each node has free at the least."""
        return min((c.free.get(resource, 0) for c in self.classes), default=0)

    def highest(self, resource: str) -> int:
        """What each node has free at the most."""
        return max((c.free_at_best.get(resource, 0) for c in self.classes), default=0)

    def static_supply(self, resource: str) -> int:
        return self.static * self.lowest(resource)

    def ceiling_supply(self, resource: str) -> int | None:
        """None: no ceiling. A pool's own limit on the resource also binds."""
        per_node = self.highest(resource)
        limit = self.pool.limits.get(resource) if self.pool else None
        if self.is_only_limited(resource):
            return limit
        if self.ceiling is None:
            return 0 if per_node == 0 else limit
        total = self.ceiling * per_node
        return total if limit is None else min(total, limit)

    def is_only_limited(self, resource: str) -> bool:
        """Whether nothing is known of the machines, and yet how many devices they can have together."""
        limited = self.pool is not None and resource in self.pool.limits
        return limited and not self.classes and looks_like_accelerator(resource)

    def advertises(self, resource: str) -> bool:
        return any(c.machine.allocatable.get(resource, 0) > 0 for c in self.classes)


class Match(Value):
    """A quota pool's view of a group: whether all of its nodes (`ALL`) or some (`SOME`) carry the pool's labels."""

    group: NodeGroup
    how_many: int

    def static_supply(self, resource: str) -> int:
        return self.group.static_supply(resource) if self.how_many == ALL else 0


class Supply:
    """The node side of a cluster, seen by quota pools."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def groups(self) -> tuple[NodeGroup, ...]:
        """Pools and dumped nodes, collapsed; nodes that carry a pool's own label are that pool's."""
        from qcheck.supply.node_classes import group_nodes

        return group_nodes(self._cluster)

    @cached_property
    def resources(self) -> frozenset[str]:
        """Every resource that some node advertises."""
        return frozenset(
            r for g in self.groups for c in g.classes for r, amount in c.machine.allocatable.items() if amount > 0
        )

    @cached_property
    def _matches(self) -> dict[str, tuple[Match, ...]]:
        return {key: self._match(pool) for key, pool in self._cluster.quota_pools.items()}

    def _match(self, pool: QuotaPool) -> tuple[Match, ...]:
        found = []
        for group in self.groups:
            answers = {pool_match(pool, c.labels, c.varying) for c in group.classes}
            if not group.classes and group.pool is not None:
                answers = {pool_match(pool, group.pool.labels, group.pool.varying)}
            if answers - {NONE}:
                found.append(Match(group, ALL if answers == {ALL} else 1))
        return tuple(found)

    def matches(self, pool: str) -> tuple[Match, ...]:
        """The groups whose nodes a pool selects; none for a pool that does not exist."""
        return self._matches.get(pool, ())

    def is_known(self, pool: str, resource: str) -> bool:
        """Whether the pool's supply of a resource can be judged at all."""
        return all(m.group.is_known and all(c.knows(resource) for c in m.group.classes) for m in self.matches(pool))

    def is_bounded(self, pool: str, resource: str) -> bool:
        """Whether the most there can ever be is known: also where machines are not, but a limit on the pool is."""
        return all(
            m.group.is_only_limited(resource) or (m.group.is_known and all(c.knows(resource) for c in m.group.classes))
            for m in self.matches(pool)
        )

    def is_estimated(self, pool: str, resource: str) -> bool:
        return any(c.is_estimated(resource) for m in self.matches(pool) for c in m.group.classes)

    def static(self, pool: str, resource: str) -> int:
        """What is there for a pool that has its nodes to itself."""
        own = sum(m.static_supply(resource) for m in self.matches(pool))
        return max(0, own - self.total_reserve(pool, resource))

    def ceiling(self, pool: str, resource: str) -> int | None:
        """The most there can ever be for a pool alone; None: no ceiling."""
        total = 0
        for match in self.matches(pool):
            part = match.group.ceiling_supply(resource)
            if part is None:
                return None
            total += part
        return max(0, total - self.total_reserve(pool, resource))

    def total_reserve(self, pool: str, resource: str) -> int:
        """Reserves stated as totals over node pools that this pool selects, as far as no other can hold them."""
        groups = {m.group.name for m in self.matches(pool)}
        total = 0
        for reserve in self._cluster.policy.reserves:
            homes = {g.name for g in self.groups if matches_any(g.name, reserve.pools)}
            if homes and homes <= groups:
                total += reserve.total.get(resource, 0)
        return total

    def is_virtual(self, resource: str) -> bool:
        """A resource without nodes behind it: settings say so, or no node has it and it looks like no device."""
        if self._cluster.policy.is_virtual(resource):
            return True
        return resource not in BASIC and resource not in self.resources and not looks_like_accelerator(resource)

    def kept_of(self, resource: str, group: NodeGroup) -> int | None:
        """Return how much of a group reserves hold, per node and in total; None where there is no ceiling."""
        each = max((c.reserved(resource) for c in group.classes), default=0)
        if each and group.ceiling is None:
            return None
        return each * (group.ceiling or 0) + self.kept_back(resource, (group.name,))[0]

    def kept_back(self, resource: str, groups: Container[str]) -> tuple[int, tuple[str, ...]]:
        """Return how much of some groups' ceiling total reserves hold, and the reasons that the settings give."""
        capacity = {g.name: g.ceiling_supply(resource) for g in self.groups}
        left = dict(capacity)
        self.set_aside(resource, left)
        amount = sum((held or 0) - (left[name] or 0) for name, held in capacity.items() if name in groups)
        named = [r for r in self._cluster.policy.reserves if r.total.get(resource, 0) and r.reason]
        touching = [r.reason for r in named if any(matches_any(n, r.pools) for n in capacity if n in groups)]
        return amount, tuple(dict.fromkeys(touching))

    def set_aside(self, resource: str, capacity: dict[str, int | None]) -> None:
        """Take total reserves out of the node pools they name, from the first that still has some."""
        for reserve in self._cluster.policy.reserves:
            left = reserve.total.get(resource, 0)
            for name, held in capacity.items():
                if left and held is not None and matches_any(name, reserve.pools):
                    capacity[name] = held - min(left, held)
                    left -= min(left, held)


@view
def supply_of(cluster: Cluster) -> Supply:
    """The node side of a cluster."""
    return Supply(cluster)


def takings(cluster: Cluster, nodes: NodeClass) -> tuple[Taking, ...]:
    """Which DaemonSets land on nodes of a class and what each takes: its pod's requests and one pod slot."""
    found = []
    for daemon_set in cluster.daemon_sets:
        lands = daemon_lands(cluster, daemon_set.template, nodes)
        if lands != NONE:
            asked = scheduled(cluster, daemon_set.template, bounds(cluster, daemon_set.namespace))
            found.append(Taking(daemon_set, asked, lands == ALL))
    return tuple(found)
