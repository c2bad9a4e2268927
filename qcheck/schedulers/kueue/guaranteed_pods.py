"""Guaranteed quota as pods: how many of a shape each queue may hold at any time, which must therefore find nodes."""

from __future__ import annotations

from qcheck.cluster.resources import is_accelerator, is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.flavor_question import Wish, judge
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.shapes import declared_shapes, workload_shapes
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota, QuotaHolder
    from qcheck.packing.pod_shape import PodShape


class Guarantee(Value):
    """`pods` of a shape that a queue's (or cohort's) nominal quota for a flavor holds; `quota` is the accelerator's cell."""

    holder: str
    quota: Quota
    shape: PodShape
    pods: int

    @property
    def flavor(self) -> str:
        return self.quota.flavor

    @property
    def size(self) -> int:
        """Accelerators per pod."""
        return self.shape.request[self.quota.resource]

    def wish(self, label: str | None = None) -> Wish:
        return Wish(label or self.shape.name, self.shape, self.pods, (self.flavor,))


def wishes(guarantees: Iterable[Guarantee]) -> list[Wish]:
    """Many guarantees as wishes: those whose pods ask the same go by one name."""
    first: dict[tuple[Hashable, ...], str] = {}
    named = [(g, first.setdefault(g.shape.ask, g.shape.name)) for g in guarantees]
    shared = {first for g, first in named if g.shape.name != first}
    return [g.wish(f"{name} and its like" if name in shared else None) for g, name in named]


def holders(cluster: Cluster) -> list[tuple[str, QuotaHolder]]:
    """Queues and cohorts whose quota needs nodes here, with the names for messages."""
    local = {id(q) for quotas in supply_of(cluster).demands.values() for q in quotas}
    named = [(q.name, q) for q in cluster.queues] + [(f"cohort {c.name}", c) for c in cluster.cohorts]
    return [(name, holder) for name, holder in named if any(id(q) in local for q in holder.quotas())]


def guarantee(holder: str, owner: QuotaHolder, flavor: str, shape: PodShape) -> Guarantee | None:
    """What a nominal quota holds of a shape; None without quota for its accelerator in that flavor."""
    cell = owner.quota(flavor, shape.accelerator or "")
    if cell is None:
        return None
    return Guarantee(holder, cell, shape, pods_within(owner, flavor, shape))


def pods_within(owner: QuotaHolder, flavor: str, shape: PodShape) -> int:
    """How many pods of a shape the nominal quota of a flavor admits; resources that it does not cover do not count."""
    return least_of({q.resource: q.nominal for q in owner.quotas() if q.flavor == flavor}, shape)


def least_of(held: Mapping[str, int], shape: PodShape) -> int:
    """How many pods some amounts hold, by the resource that runs out first."""
    return min((n // q for r, n in held.items() if (q := shape.request.get(r, 0))), default=0)


def reach(cluster: Cluster, given: Guarantee) -> int:
    """How many of the pods the queue may hold with everything that it can borrow, while all others are idle."""
    node = cohort_tree(cluster).queues.get(given.holder)
    if node is None:
        return given.pods
    cells = [c for c in node.cells if c[0] == given.flavor]
    return least_of({r: cohort_tree(cluster).queue_potential(given.holder, (f, r)) for f, r in cells}, given.shape)


def declared_guarantees(cluster: Cluster) -> dict[str, list[Guarantee]]:
    """By declared shape: what every queue and cohort may hold of it, in each flavor that the shape concerns.

    Shapes with a number of pods of their own are left out: that number is what must fit.
    """
    found: dict[str, list[Guarantee]] = {}
    for flavor in sorted({f for f, r in supply_of(cluster).demands if is_compute(r)}):
        for shape in declared_shapes(cluster, flavor):
            if shape.pods is None:
                found.setdefault(shape.name, []).extend(_all(cluster, flavor, shape))
    return found


def _all(cluster: Cluster, flavor: str, shape: PodShape) -> list[Guarantee]:
    given = (guarantee(name, holder, flavor, shape) for name, holder in holders(cluster))
    return [g for g in given if g is not None and g.pods > 0]


def workload_guarantees(cluster: Cluster) -> list[Guarantee]:
    """What queues may hold of the pods of their known workloads, where no declared shape speaks for the flavor.

    Pods of which not even one finds a node are left out: there it is the workload that is wrong, not the quota. Few pods
    say how many accelerators the queue's pods have, not that all of its quota will be used with their cores and memory.
    """
    found = []
    for flavor, shapes in workload_shapes(cluster).items():
        if declared_shapes(cluster, flavor):
            continue
        for shape in shapes:
            owner = cluster.queue[shape.queue or ""]
            given = guarantee(owner.name, owner, flavor, shape)
            if given is not None and 2 * shape.count < given.pods:
                devices = {r: n for r, n in shape.request.items() if is_accelerator(r)}
                given = guarantee(owner.name, owner, flavor, replace(shape, request=devices))
            if given is not None and given.pods > 0 and _finds_a_node(cluster, given):
                found.append(given)
    return found


def _finds_a_node(cluster: Cluster, given: Guarantee) -> bool:
    one = judge(cluster, [replace(given, pods=1).wish()])
    return one is not None and not one.fails


def largest_per_queue(guarantees: Iterable[Guarantee]) -> list[Guarantee]:
    """Of each queue and flavor the one whose pods ask for most accelerators."""
    best: dict[tuple[str, str], Guarantee] = {}
    for each in guarantees:
        key = (each.holder, each.flavor)
        if key not in best or each.size > best[key].size:
            best[key] = each
    return list(best.values())


def sharing(cluster: Cluster, guarantees: Iterable[Guarantee]) -> list[list[Guarantee]]:
    """Guarantees parted into sets whose flavors reach the same nodes, directly or through others."""
    of_flavor: dict[str, list[Guarantee]] = {}
    for each in guarantees:
        of_flavor.setdefault(each.flavor, []).append(each)
    left = {f: {m.group.name for m in supply_of(cluster).matches(f)} for f in of_flavor}
    parts = []
    while left:
        flavor = next(iter(left))
        flavors, nodes = [flavor], left.pop(flavor)
        while joined := [f for f, reached in left.items() if reached & nodes]:
            flavors += joined
            nodes = nodes.union(*(left.pop(f) for f in joined))
        parts.append([g for f in flavors for g in of_flavor[f]])
    return parts
