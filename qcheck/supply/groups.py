"""Node groups and classes of equal nodes: the units in which supply is counted."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.nodes import Certainty, Machine
from qcheck.cluster.resources import BASIC, looks_like_accelerator
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Container

    from qcheck.cluster.labels import Labels, Taint
    from qcheck.cluster.nodes import Node, NodePool
    from qcheck.cluster.objects import ObjectId
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Amounts
    from qcheck.cluster.policy import Reserve
    from qcheck.cluster.workloads import DaemonSet

NONE, SOME, ALL = 0, 1, 2
"""The share of a class that matches: none, some or possibly some, all."""
Varying = dict[str, tuple[str, ...]]
Reaching = dict[str, dict[str, int | None]]


class Taking(Value):
    """The requests of one DaemonSet on each node of a class. `certain` is False if only some nodes may run it."""

    daemon_set: DaemonSet
    amounts: Amounts
    certain: bool


class NodeClass(Value, cached=True):
    """Nodes that are equal in every relevant respect.

    `free` is what a node offers to workloads: allocatable minus DaemonSets minus reserves, in base units, never below
    0. `free_at_best` omits DaemonSets that may not run there. `names` are those of dumped nodes.
    """

    machine: Machine
    labels: Labels
    varying: Varying
    taints: tuple[Taint, ...]
    takings: tuple[Taking, ...] = ()
    reserves: tuple[Reserve, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def machine_type(self) -> str | None:
        """The machine type that the pool or the node's label names."""
        return self.machine.instance_type or self.labels.get("node.kubernetes.io/instance-type")

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
        """Return what a node has free at best once the pods of some DaemonSets are evicted from it."""
        return self._left_of(self.machine.allocatable.get(resource, 0), resource, evicted)

    def published(self, resource: str, evicted: Container[ObjectId]) -> int | None:
        """Return the same for the machine's published capacity, which no node exceeds; None if it is not published."""
        whole = self.machine.capacity.get(resource)
        return self._left_of(whole, resource, evicted) if whole else None

    def _left_of(self, whole: int, resource: str, evicted: Container[ObjectId]) -> int:
        staying = [t.amounts for t in self.takings if t.certain and t.daemon_set.id not in evicted]
        taken = sum(amounts.get(resource, 0) for amounts in staying) + self.reserved(resource)
        return max(0, whole - taken)

    def taken(self, resource: str) -> int:
        """Return what DaemonSets take from one node."""
        return min(self.machine.allocatable.get(resource, 0), sum(t.amounts.get(resource, 0) for t in self.takings))

    def reserved(self, resource: str) -> int:
        return sum(r.per_node.get(resource, 0) for r in self.reserves)

    def is_estimated(self, resource: str) -> bool:
        return self.machine.sure.get(resource, Certainty.DECLARED) == Certainty.ESTIMATED

    def knows(self, resource: str) -> bool:
        """Return whether the machine's figure is known. If absent, cpu and memory are unknown; devices do not exist."""
        return resource not in self.machine.unknown and (resource not in BASIC or resource in self.machine.allocatable)


class NodeGroup(Value, cached=True):
    """Nodes of one pool, or equal nodes of a dump: `static` nodes exist now, `ceiling` is the most that can exist.

    `classes` has one entry, or one per machine type if a pool may contain several. It is empty if the machines are
    unknown.
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
        """Return whether both the count and the machines are known."""
        return bool(self.classes) and not (self.pool is not None and self.pool.count_unknown)

    def lowest(self, resource: str) -> int:
        """Return the least that each node has free."""
        return min((c.free.get(resource, 0) for c in self.classes), default=0)

    def highest(self, resource: str) -> int:
        """Return the most that each node has free."""
        return max((c.free_at_best.get(resource, 0) for c in self.classes), default=0)

    def static_supply(self, resource: str) -> int:
        return self.static * self.lowest(resource)

    def ceiling_supply(self, resource: str) -> int | None:
        """Return the ceiling of a resource; None if there is none. A pool's own limit on the resource also applies."""
        per_node = self.highest(resource)
        limit = self.pool.limits.get(resource) if self.pool else None
        if self.is_only_limited(resource):
            return limit
        if self.ceiling is None:
            return 0 if per_node == 0 else limit
        total = self.ceiling * per_node
        return total if limit is None else min(total, limit)

    def is_only_limited(self, resource: str) -> bool:
        """Return whether the machines are unknown, but a limit states how many of the devices they have together."""
        limited = self.pool is not None and resource in self.pool.limits
        return limited and not self.classes and looks_like_accelerator(resource)

    def advertises(self, resource: str) -> bool:
        return any(c.machine.allocatable.get(resource, 0) > 0 for c in self.classes)


class Match(Value):
    """A group as a quota pool sees it: all of its nodes (`ALL`) or some (`SOME`) carry the pool's labels."""

    group: NodeGroup
    how_many: int

    def static_supply(self, resource: str) -> int:
        return self.group.static_supply(resource) if self.how_many == ALL else 0
