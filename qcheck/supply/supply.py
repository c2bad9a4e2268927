"""What the nodes can supply to the flavors, after DaemonSets and reserves.

Supply has two figures per resource: `static`, what is there without any autoscaler and on ready nodes, and `ceiling`, the
most there can ever be (None: no ceiling). Flavors that select the same nodes share them; that is decided by max-flow.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.nodes import DECLARED, ESTIMATED, Machine
from qcheck.cluster.resources import BASIC, looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.supply.eligibility import ALL, NONE, daemon_lands, label_match
from qcheck.supply.max_flow import Overdraft, assign, overdrafts
from qcheck.supply.pod_requests import bounds, scheduled

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota, ResourceFlavor
    from qcheck.cluster.labels import Labels, Taint
    from qcheck.cluster.nodes import Node, NodePool
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.policy import Reserve
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
    """A flavor's view of a group: whether all of its nodes (`ALL`) or some (`SOME`) carry the flavor's labels."""

    group: NodeGroup
    how_many: int

    def static_supply(self, resource: str) -> int:
        return self.group.static_supply(resource) if self.how_many == ALL else 0


class Supply:
    """The node side of a cluster, seen by flavors."""

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
        return {f.name: self._match(f) for f in self._cluster.flavors}

    def _match(self, flavor: ResourceFlavor) -> tuple[Match, ...]:
        found = []
        for group in self.groups:
            answers = {label_match(flavor.node_labels, c.labels, c.varying) for c in group.classes}
            if not group.classes and group.pool is not None:
                answers = {label_match(flavor.node_labels, group.pool.labels, group.pool.varying)}
            if answers - {NONE}:
                found.append(Match(group, ALL if answers == {ALL} else 1))
        return tuple(found)

    def matches(self, flavor: str) -> tuple[Match, ...]:
        """The groups whose nodes a flavor selects; none for a flavor that does not exist."""
        return self._matches.get(flavor, ())

    def is_known(self, flavor: str, resource: str) -> bool:
        """Whether the flavor's supply of a resource can be judged at all."""
        return all(m.group.is_known and all(c.knows(resource) for c in m.group.classes) for m in self.matches(flavor))

    def is_bounded(self, flavor: str, resource: str) -> bool:
        """Whether the most there can ever be is known: also where machines are not, but a limit on the pool is."""
        return all(
            m.group.is_only_limited(resource) or (m.group.is_known and all(c.knows(resource) for c in m.group.classes))
            for m in self.matches(flavor)
        )

    def is_estimated(self, flavor: str, resource: str) -> bool:
        return any(c.is_estimated(resource) for m in self.matches(flavor) for c in m.group.classes)

    def static(self, flavor: str, resource: str) -> int:
        """What is there for a flavor that has its nodes to itself."""
        own = sum(m.static_supply(resource) for m in self.matches(flavor))
        return max(0, own - self.total_reserve(flavor, resource))

    def ceiling(self, flavor: str, resource: str) -> int | None:
        """The most there can ever be for a flavor alone; None: no ceiling."""
        total = 0
        for match in self.matches(flavor):
            part = match.group.ceiling_supply(resource)
            if part is None:
                return None
            total += part
        return max(0, total - self.total_reserve(flavor, resource))

    def total_reserve(self, flavor: str, resource: str) -> int:
        """Reserves stated as totals over pools that this flavor selects, as far as no other pool can hold them."""
        from qcheck.cluster.policy import matches_any

        groups = {m.group.name for m in self.matches(flavor)}
        total = 0
        for reserve in self._cluster.policy.reserves:
            homes = {g.name for g in self.groups if matches_any(g.name, reserve.pools)}
            if homes and homes <= groups:
                total += reserve.total.get(resource, 0)
        return total

    @cached_property
    def demands(self) -> dict[tuple[str, str], tuple[Quota, ...]]:
        """All quota cells by flavor and resource, of queues and cohorts whose workloads run in this cluster."""
        cells: dict[tuple[str, str], list[Quota]] = {}
        for queue in self._cluster.queues:
            if not self._is_remote(queue.name):
                for quota in queue.quotas():
                    cells.setdefault(quota.key, []).append(quota)
        for cohort in self._cluster.cohorts:
            for quota in cohort.quotas():
                cells.setdefault(quota.key, []).append(quota)
        return {key: tuple(quotas) for key, quotas in cells.items()}

    def _is_remote(self, queue: str) -> bool:
        """Whether a queue's workloads run on MultiKueue workers, so that its quota needs no nodes here."""
        checks = (self._cluster.admission_check.get(c.name) for c in self._cluster.queue[queue].checks)
        return any(c is not None and c.is_multikueue for c in checks)

    def is_virtual(self, resource: str) -> bool:
        """A resource without nodes behind it: settings say so, or no node has it and it looks like no device."""
        if self._cluster.policy.is_virtual(resource):
            return True
        return resource not in BASIC and resource not in self.resources and not looks_like_accelerator(resource)

    def overdrafts(self, resource: str, at_best: bool) -> tuple[Overdraft, ...]:
        """The smallest sets of flavors whose quota of a resource exceeds what their nodes supply together.

        `at_best` compares with the ceiling, else with what is there. Flavors whose supply is not known are left out, and
        so are those that select nothing.
        """
        judged = self.is_bounded if at_best else self.is_known
        return overdrafts(*self._demand_and_supply(resource, at_best, judged))

    def draws(self, resource: str) -> tuple[dict[tuple[str, str], int], dict[str, int | None]]:
        """How much each flavor draws from each group when as much quota as possible is met at the ceiling, and what each
        group holds after total reserves (None: no ceiling)."""
        wanted, reach, capacity = self.demand_at_best(resource)
        return assign(wanted, reach, capacity), capacity

    def _demand_and_supply(
        self, resource: str, at_best: bool, judged: Callable[[str, str], bool]
    ) -> tuple[dict[str, int], Reaching, dict[str, int | None]]:
        """Quota by flavor, what a flavor reaches of each group, and what each group holds after total reserves."""
        wanted: dict[str, int] = {}
        reach: Reaching = {}
        for (flavor, name), quotas in self.demands.items():
            matches = self.matches(flavor)
            if name != resource or not matches or not judged(flavor, resource):
                continue
            if not at_best and any(m.how_many != ALL for m in matches):
                continue
            wanted[flavor] = sum(q.nominal for q in quotas)
            reach[flavor] = {
                m.group.name: m.group.ceiling_supply(resource) if at_best else m.static_supply(resource)
                for m in matches
            }
        capacity = {g.name: g.ceiling_supply(resource) if at_best else g.static_supply(resource) for g in self.groups}
        self._set_aside(resource, capacity)
        return wanted, reach, capacity

    def demand_at_best(self, resource: str) -> tuple[dict[str, int], Reaching, dict[str, int | None]]:
        """Return quota by flavor, what each flavor reaches of each group, and what a group can ever hold after reserves."""
        return self._demand_and_supply(resource, True, self.is_known)

    def kept_of(self, resource: str, group: NodeGroup) -> int | None:
        """Return how much of a group reserves hold, per node and in total; None where there is no ceiling."""
        each = max((c.reserved(resource) for c in group.classes), default=0)
        if each and group.ceiling is None:
            return None
        return each * (group.ceiling or 0) + self.kept_back(resource, (group.name,))[0]

    def kept_back(self, resource: str, groups: Container[str]) -> tuple[int, tuple[str, ...]]:
        """Return how much of some groups' ceiling total reserves hold, and the reasons that the settings give."""
        from qcheck.cluster.policy import matches_any

        capacity = {g.name: g.ceiling_supply(resource) for g in self.groups}
        left = dict(capacity)
        self._set_aside(resource, left)
        amount = sum((held or 0) - (left[name] or 0) for name, held in capacity.items() if name in groups)
        named = [r for r in self._cluster.policy.reserves if r.total.get(resource, 0) and r.reason]
        touching = [r.reason for r in named if any(matches_any(n, r.pools) for n in capacity if n in groups)]
        return amount, tuple(dict.fromkeys(touching))

    def _set_aside(self, resource: str, capacity: dict[str, int | None]) -> None:
        """Takes total reserves out of the pools they name, from the first that still has some."""
        from qcheck.cluster.policy import matches_any

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
