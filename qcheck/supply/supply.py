"""Capacity of the nodes behind quota pools, after DaemonSets and reserves.

Supply has two figures per resource: `static`, which exists on ready nodes without an autoscaler, and `ceiling`, the
most that can ever exist (None: no ceiling).
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.labels import untolerated
from qcheck.cluster.policy import matches_any
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import BASIC, looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import cache_of, view
from qcheck.supply.eligibility import lasting, pool_match, select
from qcheck.supply.groups import ALL, NONE, Match, NodeGroup
from qcheck.supply.node_classes import group_nodes
from qcheck.supply.node_demand import demand_of

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import Toleration
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.quota_pool import QuotaPool


OF_SYSTEM = frozenset({"CriticalAddonsOnly", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
"""Keys of taints that system pods, such as those of CoreDNS, tolerate."""


def _repels(group: NodeGroup, tolerations: tuple[Toleration, ...]) -> bool:
    """Return whether a group has a taint that neither these tolerations nor system pods tolerate."""
    taints = group.classes[0].taints if group.classes else group.pool.taints if group.pool else ()
    return any(t.key not in OF_SYSTEM for t in untolerated(lasting(taints), tolerations))


class Supply:
    """The node side of a cluster, by quota pool."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @cached_property
    def groups(self) -> tuple[NodeGroup, ...]:
        """Node pools and dumped nodes as groups; nodes with a pool's own label belong to that pool."""
        return group_nodes(self._cluster)

    @cached_property
    def resources(self) -> frozenset[str]:
        """The resources that some node advertises."""
        return frozenset(
            r for g in self.groups for c in g.classes for r, amount in c.machine.allocatable.items() if amount > 0
        )

    @cached_property
    def _matches(self) -> dict[str, tuple[Match, ...]]:
        return {key: self._match(pool) for key, pool in self._cluster.quota_pools.items()}

    def _match(self, pool: QuotaPool) -> tuple[Match, ...]:
        found = []
        for group in self._candidates(pool):
            answers = {pool_match(pool, c.labels, c.varying) for c in group.classes}
            if not group.classes and group.pool is not None:
                answers = {pool_match(pool, group.pool.labels, group.pool.varying)}
            if answers - {NONE}:
                found.append(Match(group, ALL if answers == {ALL} else 1))
        return tuple(found)

    def _candidates(self, pool: QuotaPool) -> Iterable[NodeGroup]:
        """Return the groups of which some nodes may have the first of a pool's labels, in order."""
        label = next(iter(pool.node_labels.items()), None)
        if label is None:
            return self.groups
        fixed, varying = self._places.get(label, set()), self._places.get((label[0], None), set())
        return [self.groups[place] for place in sorted(fixed | varying)]

    @cached_property
    def _places(self) -> dict[tuple[str, str | None], set[int]]:
        """The places of groups by label, and by key and None if its values differ."""
        found: dict[tuple[str, str | None], set[int]] = {}
        for place, group in enumerate(self.groups):
            for labelled in group.classes or ((group.pool,) if group.pool is not None else ()):
                for label in (*labelled.labels.items(), *((key, None) for key in labelled.varying)):
                    found.setdefault(label, set()).add(place)
        return found

    def matches(self, pool: str) -> tuple[Match, ...]:
        """Return the groups whose nodes a pool selects; none if the pool does not exist."""
        return self._matches.get(pool, ())

    def is_known(self, pool: str, resource: str) -> bool:
        """Return whether the pool's supply of a resource can be judged."""
        return not self.may_be_on_plain_nodes(pool, resource) and all(
            m.group.is_known and all(c.knows(resource) for c in m.group.classes) for m in self.matches(pool)
        )

    def is_bounded(self, pool: str, resource: str) -> bool:
        """Return whether the ceiling is known: the machines are known, or a limit on the pool is."""
        return not self.may_be_on_plain_nodes(pool, resource) and all(
            m.group.is_only_limited(resource) or (m.group.is_known and all(c.knows(resource) for c in m.group.classes))
            for m in self.matches(pool)
        )

    def may_be_on_plain_nodes(self, pool: str, resource: str) -> bool:
        """Return whether a pool's pods may use a resource on the unread nodes of `lacks_plain_nodes`."""
        return resource in BASIC and self.lacks_plain_nodes(pool)

    def lacks_plain_nodes(self, pool: str) -> bool:
        """Return whether a pool selects the nodes for system pods, and none of these was read.

        System pods tolerate few taints, so every cluster has nodes for them, and a pool without labels selects these
        nodes. If the pool tolerates the taints of a node that was read, it is assumed to be for that node.
        """
        found = self._cluster.quota_pools.get(pool)
        if found is None or found.scheduler is not SchedulerName.KUEUE or found.node_labels:
            return False
        return self.is_repelled_everywhere(found.tolerations)

    def is_repelled_everywhere(self, tolerations: tuple[Toleration, ...]) -> bool:
        """Return whether all node groups that were read repel system pods and pods with these tolerations."""
        return bool(self.groups) and all(not group.nodes and _repels(group, tolerations) for group in self.groups)

    def is_estimated(self, pool: str, resource: str) -> bool:
        return any(c.is_estimated(resource) for m in self.matches(pool) for c in m.group.classes)

    def static(self, pool: str, resource: str) -> int:
        """Return the static capacity of a pool that shares its nodes with no other."""
        own = sum(m.static_supply(resource) for m in self.matches(pool))
        return max(0, own - self.total_reserve(pool, resource))

    def ceiling(self, pool: str, resource: str) -> int | None:
        """Return the ceiling of a pool alone; None if there is none."""
        total = 0
        for match in self.matches(pool):
            part = match.group.ceiling_supply(resource)
            if part is None:
                return None
            total += part
        return max(0, total - self.total_reserve(pool, resource))

    def total_reserve(self, pool: str, resource: str) -> int:
        """Return the total reserves that only nodes selected by this pool can hold."""
        groups = {m.group.name for m in self.matches(pool)}
        total = 0
        for reserve in self._cluster.policy.reserves:
            homes = {g.name for g in self.groups if matches_any(g.name, reserve.pools)}
            if homes and homes <= groups:
                total += reserve.total.get(resource, 0)
        return total

    def is_virtual(self, resource: str) -> bool:
        """Return whether a resource has no nodes: settings say so, or no node has it and it resembles no device."""
        if self._cluster.policy.is_virtual(resource):
            return True
        return resource not in BASIC and resource not in self.resources and not looks_like_accelerator(resource)

    def kept_by_group(self, resource: str) -> dict[str, int | None]:
        """Return how much of each group the reserves hold, per node and in total; None if a group has no ceiling."""
        capacity = {g.name: g.ceiling_supply(resource) for g in self.groups}
        left = dict(capacity)
        self.set_aside(resource, left)
        kept: dict[str, int | None] = {}
        for group in self.groups:
            each = max((c.reserved(resource) for c in group.classes), default=0)
            in_total = (capacity[group.name] or 0) - (left[group.name] or 0)
            kept[group.name] = None if each and group.ceiling is None else each * (group.ceiling or 0) + in_total
        return kept

    def kept_back(self, resource: str, groups: Container[str]) -> tuple[int, tuple[str, ...]]:
        """Return how much of the groups' ceiling total reserves hold, and the reasons stated in the settings."""
        capacity = {g.name: g.ceiling_supply(resource) for g in self.groups}
        left = dict(capacity)
        self.set_aside(resource, left)
        amount = sum((held or 0) - (left[name] or 0) for name, held in capacity.items() if name in groups)
        named = [r for r in self._cluster.policy.reserves if r.total.get(resource, 0) and r.reason]
        touching = [r.reason for r in named if any(matches_any(n, r.pools) for n in capacity if n in groups)]
        return amount, tuple(dict.fromkeys(touching))

    def set_aside(self, resource: str, capacity: dict[str, int | None]) -> None:
        """Subtract total reserves from the node pools that they name, beginning with the first that has any left."""
        for reserve in self._cluster.policy.reserves:
            left = reserve.total.get(resource, 0)
            for name, held in capacity.items():
                if left and held is not None and matches_any(name, reserve.pools):
                    capacity[name] = held - min(left, held)
                    left -= min(left, held)


@view
def supply_of(cluster: Cluster) -> Supply:
    """Return the node side of a cluster."""
    return Supply(cluster)


def is_reachable(cluster: Cluster, template: PodTemplate) -> bool:
    """Return whether some node may match the pods' node selection; cached by equal pods."""
    known: dict[Hashable, bool] = cache_of(cluster, is_reachable)
    if template.ask not in known:
        wanted = demand_of(cluster, template).selection
        classes = (c for g in supply_of(cluster).groups for c in g.classes)
        known[template.ask] = any(select(wanted, c.labels, c.varying, c.names) != NONE for c in classes)
    return known[template.ask]
