"""The neutral quota tree: the quota of every scheduler's queues, in one form.

Amounts are integers in base units (devices, milli-cpu, bytes); a limit of None means unlimited.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

CellKey = tuple[str, str]
"""Pool and resource: the key of all sums."""


class Cell(Value):
    """The amounts of one node of the tree for a pool and a resource.

    * `promised` counts against the nodes: the sum over a tree is what its queues hold if each uses its own quota.
      In schedulers whose parents' quota contains that of their children, only the topmost node counts.
    * `entitled` is what the node can always claim; `lendable` is the part of it that others may use in the meantime.
    * `limit` is the most that the node can ever hold; `borrowable` is the part of it beyond `entitled`.
    * `place`, `name_place` and `limit_place` are the places of the amount, the resource's name and the limit.
    * `holder` names the node in sums. `is_declared`: a file states the amount; otherwise it is the scheduler's default.
    """

    pool: str
    resource: str
    promised: int
    entitled: int
    lendable: int
    limit: int | None
    holder: str
    place: Place
    name_place: Place
    limit_place: Place | None = None
    is_declared: bool = True

    @property
    def key(self) -> CellKey:
        return self.pool, self.resource

    @property
    def borrowable(self) -> int | None:
        """The amount that the node may hold beyond what it is entitled to; None without a limit."""
        return None if self.limit is None else max(0, self.limit - self.entitled)


class QuotaNode(Value, cached=True):
    """A queue, or a node above queues. `name` is unique among nodes of the same `word`; `parent` is the parent's key.

    `admits`: workloads can be submitted to it. `needs_nodes`: its workloads run in this cluster. `provisioned`: nodes
    are requested before a workload starts. `id` is None for a node that is only referenced, not declared.
    """

    name: str
    word: str
    parent: str | None
    admits: bool
    cells: tuple[Cell, ...] = ()
    id: ObjectId | None = None
    place: Place | None = None
    is_stopped: bool = False
    needs_nodes: bool = True
    provisioned: bool = False

    @property
    def key(self) -> str:
        """The key of the node, unique in its tree."""
        return f"{self.word}/{self.name}"

    @property
    def title(self) -> str:
        """The node's name in sums: a queue's name alone, any other node's name with its word."""
        return self.name if self.admits else f"{self.word} {self.name}"

    @cached_property
    def cell(self) -> dict[CellKey, Cell]:
        """The cells by pool and resource."""
        return {c.key: c for c in self.cells}


class QuotaTree(Value, cached=True):
    """All queues of one scheduler. `cycles`: nodes that are their own ancestors, by name; they belong to no tree."""

    scheduler: SchedulerName
    nodes: tuple[QuotaNode, ...]
    pools: tuple[QuotaPool, ...]
    cycles: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def node(self) -> dict[str, QuotaNode]:
        """The nodes by key."""
        return {n.key: n for n in self.nodes}

    @cached_property
    def queue(self) -> dict[str, QuotaNode]:
        """The nodes that admit workloads, by name."""
        return {n.name: n for n in self.nodes if n.admits}

    def children(self, parent: str | None) -> Iterator[QuotaNode]:
        """Yield the children of a node; the roots for None."""
        return iter(self._children.get(parent, ()))

    @cached_property
    def _children(self) -> dict[str | None, list[QuotaNode]]:
        found: dict[str | None, list[QuotaNode]] = {}
        for node in self.nodes:
            found.setdefault(node.parent, []).append(node)
        return found

    def local(self) -> Iterator[QuotaNode]:
        """Yield the nodes of the tree whose quota needs nodes of this cluster."""
        return (n for n in self.nodes if n.needs_nodes)
