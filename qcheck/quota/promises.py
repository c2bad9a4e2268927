"""Promises against supply: the quota of every scheduler's queues compared with the nodes of its pools.

Pools that select the same nodes share them; a max-flow decides.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.quota.max_flow import Overdraft, assign, overdrafts
from qcheck.supply.groups import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
    from qcheck.quota.tree import Cell, CellKey, QuotaNode, QuotaTree
    from qcheck.supply.groups import Reaching


class Promises:
    """The quota side of a cluster, compared with its supply."""

    def __init__(self, cluster: Cluster, trees: tuple[QuotaTree, ...]) -> None:
        self._cluster = cluster
        self._supply = supply_of(cluster)
        self.trees = trees
        self.pool: dict[str, QuotaPool] = {p.key: p for t in trees for p in t.pools}

    @cached_property
    def cells(self) -> dict[CellKey, tuple[Cell, ...]]:
        """All cells by pool and resource, of tree nodes whose workloads run in this cluster."""
        found: dict[CellKey, list[Cell]] = {}
        for tree in self.trees:
            for node in tree.local():
                for cell in node.cells:
                    found.setdefault(cell.key, []).append(cell)
        return {key: tuple(cells) for key, cells in found.items()}

    @cached_property
    def used_pools(self) -> tuple[tuple[QuotaPool, list[Cell]], ...]:
        """The pools in which some queue has quota of a resource that nodes provide, with these cells."""
        found: dict[str, list[Cell]] = {}
        for (pool, resource), cells in self.cells.items():
            if pool in self.pool and not self._supply.is_virtual(resource):
                found.setdefault(pool, []).extend(cells)
        return tuple((self.pool[key], cells) for key, cells in found.items())

    def is_provisioned(self, cell: Cell) -> bool:
        """Return whether nodes are requested before a workload of the cell's holder starts."""
        return id(cell) in self._provisioned

    @cached_property
    def _provisioned(self) -> frozenset[int]:
        """The identities of the cells for which nodes are requested beforehand."""
        return frozenset(id(c) for t in self.trees for n in t.nodes if n.provisioned for c in n.cells)

    @cached_property
    def owners(self) -> dict[int, tuple[QuotaTree, QuotaNode]]:
        """The tree and the node of each cell, by the identity of the cell."""
        return {id(c): (t, n) for t in self.trees for n in t.nodes for c in n.cells}

    def total(self, key: CellKey) -> int:
        """Return the sum of all promises of a pool's resource, in base units."""
        return sum(c.promised for c in self.cells.get(key, ()))

    def overdrafts(
        self,
        resource: str,
        at_best: bool,
        schedulers: Collection[SchedulerName] | None = None,
        without: Collection[tuple[str, str]] = (),
    ) -> tuple[Overdraft, ...]:
        """Return the smallest sets of pools that promise more of a resource than their nodes supply together.

        `at_best` compares with the ceiling, else with the static supply. Pools with unknown supply and pools that
        select nothing are omitted. `schedulers`: only their pools, together; by default each scheduler separately.
        `without`: pairs of a pool and a group that does not count for it.
        """
        judged = self._supply.is_bounded if at_best else self._supply.is_known
        if schedulers is not None:
            return overdrafts(*self._demand_and_supply(resource, at_best, judged, schedulers, without))
        each = ((t.scheduler,) for t in self.trees)
        return tuple(
            o for s in each for o in overdrafts(*self._demand_and_supply(resource, at_best, judged, s, without))
        )

    def draws(self, resource: str) -> tuple[dict[tuple[str, str], int], dict[str, int | None]]:
        """Return how much each pool draws from each group at the ceiling, with as much quota as possible met.

        The second value is what each group holds after total reserves (None: no ceiling).
        """
        wanted, reach, capacity = self.demand_at_best(resource)
        return assign(wanted, reach, capacity), capacity

    def demand_at_best(self, resource: str) -> tuple[dict[str, int], Reaching, dict[str, int | None]]:
        """Return quota by pool, what each pool can draw from each group, and each group's ceiling after reserves."""
        everyone = [t.scheduler for t in self.trees]
        return self._demand_and_supply(resource, True, self._supply.is_known, everyone)

    def demand_and_supply(
        self, resource: str, scheduler: SchedulerName, at_best: bool = True
    ) -> tuple[dict[str, int], Reaching, dict[str, int | None]]:
        """Return the same for the pools of one scheduler: at their known ceiling, or with static supply."""
        judged = self._supply.is_bounded if at_best else self._supply.is_known
        return self._demand_and_supply(resource, at_best, judged, (scheduler,))

    def _demand_and_supply(
        self,
        resource: str,
        at_best: bool,
        judged: Callable[[str, str], bool],
        schedulers: Collection[SchedulerName],
        without: Collection[tuple[str, str]] = (),
    ) -> tuple[dict[str, int], Reaching, dict[str, int | None]]:
        """Return quota by pool, what each pool can draw from each group, and each group's supply after reserves."""
        wanted: dict[str, int] = {}
        reach: Reaching = {}
        for (pool, name), cells in self.cells.items():
            matches = [m for m in self._supply.matches(pool) if (pool, m.group.name) not in without]
            if name != resource or not matches or not judged(pool, resource):
                continue
            if self.pool[pool].scheduler not in schedulers:
                continue
            if not at_best and any(m.how_many != ALL for m in matches):
                continue
            wanted[pool] = sum(c.promised for c in cells)
            reach[pool] = {
                m.group.name: m.group.ceiling_supply(resource) if at_best else m.static_supply(resource)
                for m in matches
            }
        groups = self._supply.groups
        capacity = {g.name: g.ceiling_supply(resource) if at_best else g.static_supply(resource) for g in groups}
        self._supply.set_aside(resource, capacity)
        return wanted, reach, capacity
