"""Guaranteed quota as pods: the number of a shape that each queue may hold at any time, and that must find nodes."""

from __future__ import annotations

from qcheck.cluster.nodes import PLENTY
from qcheck.cluster.resources import is_accelerator, is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.flavor_question import PodDemand, judge
from qcheck.schedulers.table import declared_shapes, promises_of, queue_node, trees_of, workload_shapes
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.packing.pod_shape import PodShape
    from qcheck.quota.tree import Cell, CellKey, QuotaNode


class Guarantee(Value):
    """The `pods` of a shape that a queue's own quota in a pool holds; `cell` is the accelerator's."""

    node: QuotaNode
    cell: Cell
    shape: PodShape
    pods: int

    @property
    def pool(self) -> str:
        return self.cell.pool

    @property
    def holder(self) -> str:
        return self.cell.holder

    @property
    def size(self) -> int:
        """Accelerators per pod."""
        return self.shape.request[self.cell.resource]

    def demand(self, label: str | None = None) -> PodDemand:
        return PodDemand(label or self.shape.name, self.shape, self.pods, (self.pool,))


def demands(guarantees: Iterable[Guarantee]) -> list[PodDemand]:
    """Return guarantees as demands; those with equal pods share a name."""
    first: dict[tuple[Hashable, ...], str] = {}
    named = [(g, first.setdefault(g.shape.ask, g.shape.name)) for g in guarantees]
    shared = {first for g, first in named if g.shape.name != first}
    return [g.demand(f"{name} (or equivalent)" if name in shared else None) for g, name in named]


def holders(cluster: Cluster) -> list[QuotaNode]:
    """Return the nodes of all quota trees whose quota needs nodes in this cluster."""
    return [n for t in trees_of(cluster) for n in t.local() if n.cells]


def guarantee(node: QuotaNode, pool: str, shape: PodShape) -> Guarantee | None:
    """Return what a node's own quota holds of a shape; None without quota for its accelerator in that pool."""
    cell = node.cell.get((pool, shape.accelerator or ""))
    return None if cell is None else Guarantee(node, cell, shape, pods_within(node, pool, shape))


def pods_within(node: QuotaNode, pool: str, shape: PodShape) -> int:
    """Return how many pods of a shape the own quota in a pool admits; resources without quota do not count."""
    return least_of({c.resource: c.entitled for c in node.cells if c.pool == pool}, shape)


def least_of(held: Mapping[str, int], shape: PodShape) -> int:
    """Return how many pods some amounts hold, by the resource that is exhausted first."""
    return min((n // q for r, n in held.items() if (q := shape.request.get(r, 0))), default=0)


def reach(given: Guarantee) -> int:
    """Return how many of the pods the queue may hold by borrowing everything, if all others are idle."""
    if not given.node.admits:
        return given.pods
    limits = {c.resource: c.limit for c in given.node.cells if c.pool == given.pool}
    return least_of({r: PLENTY if n is None else n for r, n in limits.items()}, given.shape)


def declared_guarantees(cluster: Cluster) -> dict[str, list[Guarantee]]:
    """Return, by declared shape, what every queue and cohort may hold of it in each of the shape's pools.

    Shapes that state a number of pods are omitted: that number is what must fit.
    """
    found: dict[str, list[Guarantee]] = {}
    for pool in sorted({p for p, r in promises_of(cluster).cells if is_compute(r)}):
        for shape in declared_shapes(cluster, pool):
            if shape.pods is None:
                found.setdefault(shape.name, []).extend(_all(cluster, pool, shape))
    return found


def _all(cluster: Cluster, pool: str, shape: PodShape) -> list[Guarantee]:
    given = (guarantee(node, pool, shape) for node in holders(cluster))
    return [g for g in given if g is not None and g.pods > 0 and g.cell.promised > 0]


def counted_guarantees(cluster: Cluster) -> dict[str, tuple[Guarantee, tuple[str, ...]]]:
    """Return, by shape with a number of pods, the guarantee in its largest quota and all flavors that it may use."""
    found: dict[str, tuple[Guarantee, tuple[str, ...]]] = {}
    for flavor, resource in sorted(promises_of(cluster).cells):
        for shape in declared_shapes(cluster, flavor) if is_compute(resource) else ():
            if shape.pods is None or shape.accelerator != resource or not supply_of(cluster).matches(flavor):
                continue
            given = Guarantee(*_largest(cluster, (flavor, resource)), shape, shape.pods)
            known, flavors = found.get(shape.name, (given, ()))
            better = given if given.cell.promised > known.cell.promised else known
            found[shape.name] = (better, (*flavors, flavor))
    return found


def _largest(cluster: Cluster, key: CellKey) -> tuple[QuotaNode, Cell]:
    """Return the tree node with the most quota of a resource in a pool, and its cell."""
    found = ((n, n.cell[key]) for n in holders(cluster) if key in n.cell)
    return max(found, key=lambda held: held[1].promised)


def workload_guarantees(cluster: Cluster) -> list[Guarantee]:
    """Return what queues may hold of their known workloads' pods, in pools without a declared shape.

    Pods of which not even one finds a node are omitted: then the workload is at fault, not the quota. A few pods show
    the accelerators per pod of a queue, but not that all of its quota will be used with their cpu and memory.
    """
    found = []
    for pool, shapes in workload_shapes(cluster).items():
        if declared_shapes(cluster, pool):
            continue
        for shape in shapes:
            owner = queue_node(cluster, shape.queue or "")
            given = guarantee(owner, pool, shape) if owner is not None else None
            if owner is not None and given is not None and is_sample(given):
                devices = {r: n for r, n in shape.request.items() if is_accelerator(r)}
                given = guarantee(owner, pool, replace(shape, request=devices))
            if given is not None and given.pods > 0 and _finds_a_node(cluster, given):
                found.append(given)
    return found


def is_sample(given: Guarantee) -> bool:
    """Return whether the known pods of a shape are too few to represent the use of the whole quota."""
    return not given.shape.is_declared and 2 * given.shape.count < given.pods


def _finds_a_node(cluster: Cluster, given: Guarantee) -> bool:
    one = judge(cluster, [replace(given, pods=1).demand()])
    return one is not None and not one.fails


def largest_per_queue(guarantees: Iterable[Guarantee]) -> list[Guarantee]:
    """Return, for each queue and pool, the guarantee with the most accelerators per pod and the fewest constraints."""
    found: dict[tuple[str, str], list[Guarantee]] = {}
    for each in guarantees:
        found.setdefault((each.node.key, each.pool), []).append(each)
    return [min(each, key=lambda g: (-g.size, g.shape.strictness)) for each in found.values()]


def sharing(cluster: Cluster, guarantees: Iterable[Guarantee]) -> list[list[Guarantee]]:
    """Group guarantees into sets whose pools reach the same nodes, directly or through others."""
    of_pool: dict[str, list[Guarantee]] = {}
    for each in guarantees:
        of_pool.setdefault(each.pool, []).append(each)
    left = {p: {m.group.name for m in supply_of(cluster).matches(p)} for p in of_pool}
    parts = []
    while left:
        pool = next(iter(left))
        pools, nodes = [pool], left.pop(pool)
        while joined := [p for p, reached in left.items() if reached & nodes]:
            pools += joined
            nodes = nodes.union(*(left.pop(p) for p in joined))
        parts.append([g for p in pools for g in of_pool[p]])
    return parts
