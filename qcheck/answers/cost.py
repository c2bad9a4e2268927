"""The cost of the nodes by use: quota of queues, devices that nobody can use, nodes under no quota.

A node's price is divided evenly among its accelerators, or among its cores if it has none. All amounts are exact
fractions, per hour, in the currency of the settings, and the parts sum to the total.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.answers.node_pictures import SliceKind, device_pictures
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.room import VectorRoom
from qcheck.schedulers.table import declared_shapes, promises_of, workload_shapes
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.answers.node_pictures import NodePicture
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import Amounts
    from qcheck.supply.groups import NodeGroup

HOURS_OF_A_MONTH = 730
CORES = "cpu"
MOST_REQUESTS = 6
"""The maximum number of different pods whose combinations on a node are tried."""


class QueueCost(Value):
    """The cost of a queue's quota as far as nodes exist for it, and of the part that others may borrow."""

    queue: str
    reserved: Fraction
    lendable: Fraction


class Cost(Value):
    """The cost of a cluster: `hour` = `reserved` + `stranded` + `unclaimed`. `lendable` is a part of `reserved`.

    `stranded`: nodes that take no pods, devices that DaemonSets hold, and the remaining devices that no known pod can
    use. `unclaimed`: devices without any queue's quota, including reserves of the settings. `unpriced` names the nodes
    without a price.
    """

    hour: Fraction
    stranded: Fraction
    unclaimed: Fraction
    queues: tuple[QueueCost, ...]
    unpriced: tuple[str, ...]

    @property
    def reserved(self) -> Fraction:
        return sum((q.reserved for q in self.queues), Fraction())

    @property
    def lendable(self) -> Fraction:
        return sum((q.lendable for q in self.queues), Fraction())


class _Parts:
    """The cost summed up so far, node by node."""

    def __init__(self) -> None:
        self.hour = self.stranded = self.unclaimed = Fraction()
        self.queues: dict[tuple[str, str], tuple[int, Fraction]] = {}
        """By queue and resource: devices, and their cost."""


def cost_of(cluster: Cluster) -> Cost | None:
    """Return the cost of the existing nodes; None if the settings have no prices."""
    if not cluster.policy.prices:
        return None
    parts = _Parts()
    unpriced = []
    for group in supply_of(cluster).groups:
        count = present(group)
        price = price_of(cluster, group)
        if price is None:
            unpriced += [group.name] if count else []
            continue
        parts.hour += count * price
        parts.stranded += (count - group.static) * price
        _divide(cluster, group, price, parts)
    return Cost(
        hour=parts.hour,
        stranded=parts.stranded,
        unclaimed=parts.unclaimed,
        queues=_queues(cluster, parts),
        unpriced=tuple(unpriced),
    )


def pool_hour(cluster: Cluster, pool: str) -> Fraction | None:
    """Return the hourly cost of the nodes that a quota pool selects; None if any of them has no price."""
    total = Fraction()
    for match in supply_of(cluster).matches(pool):
        price, count = price_of(cluster, match.group), present(match.group)
        if price is None and count:
            return None
        total += count * (price or 0)
    return total


def present(group: NodeGroup) -> int:
    """Return how many nodes of a group exist, ready or not."""
    return max(group.static, len(group.nodes))


def price_of(cluster: Cluster, group: NodeGroup) -> Fraction | None:
    """Return the price of one node by its machine type; the first type with a price if a pool mixes several."""
    types = [c.machine_type for c in group.classes]
    return next((cluster.policy.prices[t] for t in types if t is not None and t in cluster.policy.prices), None)


def _divide(cluster: Cluster, group: NodeGroup, price: Fraction, parts: _Parts) -> None:
    """Divide the cost of a group's nodes that accept pods."""
    resource = _billed(group)
    whole = max((c.machine.allocatable.get(resource, 0) for c in group.classes), default=0)
    picture = next((g for g in device_pictures(cluster, resource).groups if g.group.name == group.name), None)
    if not whole or picture is None:
        parts.unclaimed += group.static * price
        return
    useful = _useful(cluster, group, resource)
    for node in picture.nodes:
        if not node.is_extra:
            _divide_node(node, useful, whole, price / whole, resource, parts)
    pictured = sum(n.count for n in picture.nodes if not n.is_extra)
    parts.unclaimed += (group.static - pictured) * price


def _billed(group: NodeGroup) -> str:
    """Return the resource by which a node's price is divided."""
    amounts: Amounts = {}
    for each in group.classes:
        for resource, amount in each.machine.allocatable.items():
            if is_compute(resource) and amount:
                amounts[resource] = max(amounts.get(resource, 0), amount)
    return min(amounts, key=lambda r: (-amounts[r], r), default=CORES)


def _divide_node(
    node: NodePicture, useful: int | None, whole: int, each: Fraction, resource: str, parts: _Parts
) -> None:
    """Divide the cost of `count` equal nodes.

    Among the devices that no pod can use, free ones count before those of queues.
    """
    kinds = (SliceKind.DAEMON_SET, SliceKind.RESERVE)
    daemons, kept_back = (sum(s.amount for s in node.slices if s.kind is kind) for kind in kinds)
    held = [(s.holder, s.amount) for s in node.slices if s.kind is SliceKind.QUEUE]
    room = whole - daemons - kept_back
    idle = 0 if useful is None else max(0, room - useful)
    left = max(0, room - idle)
    for queue, amount in held:
        kept = min(amount, left)
        left -= kept
        devices, cost = parts.queues.get((queue, resource), (0, Fraction()))
        parts.queues[queue, resource] = devices + kept * node.count, cost + kept * node.count * each
    parts.stranded += (daemons + idle) * node.count * each
    parts.unclaimed += (left + kept_back) * node.count * each


def _queues(cluster: Cluster, parts: _Parts) -> tuple[QueueCost, ...]:
    lendable: dict[tuple[str, str], int] = {}
    for cells in promises_of(cluster).cells.values():
        for cell in cells:
            key = (cell.holder, cell.resource)
            lendable[key] = lendable.get(key, 0) + cell.lendable
    found: dict[str, QueueCost] = {}
    for (queue, resource), (devices, cost) in sorted(parts.queues.items()):
        lent = cost * Fraction(min(devices, lendable.get((queue, resource), 0)), devices) if devices else Fraction()
        before = found.get(queue, QueueCost(queue, Fraction(), Fraction()))
        found[queue] = QueueCost(queue, before.reserved + cost, before.lendable + lent)
    return tuple(found.values())


def _useful(cluster: Cluster, group: NodeGroup, resource: str) -> int | None:
    """Return how much of a node's resource the known pods can use; None if none is known, or cores are billed.

    If the search for the best combination is cut short, this is an upper bound.
    """
    supply = supply_of(cluster)
    pools = [key for key in cluster.quota_pools if any(m.group is group for m in supply.matches(key))]
    shapes = [s for pool in pools for s in (*declared_shapes(cluster, pool), *workload_shapes(cluster).get(pool, ()))]
    asked = [s.request for s in shapes if s.request.get(resource)]
    if resource == CORES or not asked:
        return None
    free = {r: min(c.free.get(r, 0) for c in group.classes) for r in {r for a in asked for r in a} if _binds(group, r)}
    requests = _undominated([{r: a for r, a in request.items() if r in free} for request in asked], resource)
    names = sorted(free)
    room = VectorRoom(
        free=tuple(free[n] for n in names),
        requests=tuple(tuple(request.get(n, 0) for n in names) for request in requests),
        allowed=(free[resource],) * len(requests),
    )
    return room.best([request[resource] for request in requests]).bound


def _binds(group: NodeGroup, resource: str) -> bool:
    return all(c.knows(resource) and resource in c.machine.allocatable for c in group.classes)


def _undominated(requests: Iterable[Amounts], resource: str) -> list[Amounts]:
    """Return the requests without those that use equally many devices as another and at least as much of the rest."""
    kept: list[Amounts] = []
    for each in sorted(requests, key=lambda r: (-r[resource], sorted(r.items()))):
        if not any(k[resource] == each[resource] and _within(k, each) for k in kept):
            kept.append(each)
    return kept[:MOST_REQUESTS]


def _within(small: Amounts, large: Amounts) -> bool:
    return all(amount <= large.get(r, 0) for r, amount in small.items())
