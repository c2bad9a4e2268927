"""The holders of each node's devices, as a picture: quota is laid out over the nodes in order.

A real cluster does not bind quota to nodes; the layout shows what is promised, taken and free. The amounts per group
come from the max-flow that also judges the quota, so that picture and verdict agree.
"""

from __future__ import annotations

from enum import StrEnum
from math import gcd

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.groups import NodeClass, NodeGroup

MOST_UNITS = 10_000


class SliceKind(StrEnum):
    """The kinds of holders of devices."""

    DAEMON_SET = "DaemonSet"
    RESERVE = "reserve"
    QUEUE = "queue"
    FREE = "free"


class DeviceSlice(Value):
    """`amount` devices of a node that `holder` has; free devices have no holder."""

    kind: SliceKind
    holder: str
    amount: int


class NodePicture(Value):
    """`count` equal nodes in a row. `is_extra`: they exist only after scaling up."""

    slices: tuple[DeviceSlice, ...]
    is_extra: bool
    count: int = 1


class GroupPicture(Value):
    """The nodes of a group; `unseen` further nodes may be added that hold nothing yet (None: without a ceiling).

    `stranded`: how many devices of each node no combination of the known pods can use, if some of these pods fit at
    all.
    """

    group: NodeGroup
    nodes: tuple[NodePicture, ...]
    unseen: int | None
    stranded: int


class DevicePictures(Value):
    """The pictures of all groups that have a resource.

    Of the quota that is `promised`, `added` needs nodes that could be added, `unknown` belongs to pools whose nodes are
    unknown, and `beyond` has no node, by pool.
    """

    resource: str
    groups: tuple[GroupPicture, ...]
    promised: int
    unknown: int
    beyond: dict[str, int]

    @property
    def added(self) -> int:
        rows = (n for group in self.groups for n in group.nodes if n.is_extra)
        return sum(s.amount * row.count for row in rows for s in row.slices if s.kind is SliceKind.QUEUE)


def pictured_resources(cluster: Cluster) -> list[str]:
    """Return the accelerators that nodes have or queues hold, in order of name."""
    named = supply_of(cluster).resources | {r for _, r in promises_of(cluster).cells}
    return sorted(r for r in named if is_compute(r))


def device_pictures(cluster: Cluster, resource: str) -> DevicePictures:
    drawn, capacity = promises_of(cluster).draws(resource)
    shares, beyond = _shares(cluster, resource, drawn)
    sizes = _pod_sizes(cluster, resource)
    pictures = [
        _picture(g, resource, shares.get(g.name, []), _kept(g, resource, capacity[g.name]), sizes)
        for g in supply_of(cluster).groups
        if g.advertises(resource)
    ]
    promised = {
        key: sum(c.promised for c in cells)
        for (key, name), cells in promises_of(cluster).cells.items()
        if name == resource
    }
    return DevicePictures(
        resource=resource,
        groups=tuple(pictures),
        promised=sum(promised.values()),
        unknown=sum(n for key, n in promised.items() if not supply_of(cluster).is_known(key, resource)),
        beyond=beyond,
    )


def _shares(
    cluster: Cluster, resource: str, drawn: dict[tuple[str, str], int]
) -> tuple[dict[str, list[DeviceSlice]], dict[str, int]]:
    """Return the amount that each queue holds in each group, the largest quota first.

    The second value is the amount without a node, by flavor.
    """
    left = dict(drawn)
    shares: dict[str, list[DeviceSlice]] = {}
    beyond: dict[str, int] = {}
    for (flavor, name), quotas in sorted(promises_of(cluster).cells.items()):
        if name != resource:
            continue
        for quota in sorted(quotas, key=lambda q: (-q.promised, q.holder)):
            rest = quota.promised
            for key in [k for k in left if k[0] == flavor]:
                taken = min(rest, left[key])
                if taken:
                    shares.setdefault(key[1], []).append(DeviceSlice(SliceKind.QUEUE, quota.holder, taken))
                left[key] -= taken
                rest -= taken
            if rest and supply_of(cluster).is_known(flavor, resource):
                beyond[flavor] = beyond.get(flavor, 0) + rest
    return shares, beyond


def _kept(group: NodeGroup, resource: str, capacity: int | None) -> int:
    """Return how much of a group total reserves set aside."""
    whole = group.ceiling_supply(resource)
    return 0 if whole is None or capacity is None else whole - capacity


def _picture(
    group: NodeGroup, resource: str, shares: list[DeviceSlice], kept: int, sizes: frozenset[int]
) -> GroupPicture:
    most = max(group.classes, key=lambda c: c.free_at_best.get(resource, 0))
    room = most.free_at_best.get(resource, 0)
    waiting = [*shares, *([DeviceSlice(SliceKind.RESERVE, "reserve", kept)] if kept else [])]
    needed = -(-sum(s.amount for s in waiting) // room) if room else 0
    count = max(group.static, needed)
    base = tuple(_taken(most, resource))
    used = _most_used(room, sizes)
    rows: list[NodePicture] = []
    number = 0
    for held, many in _filled(waiting, room, count):
        now = max(0, min(many, group.static - number))
        rows += [NodePicture((*base, *held), extra, size) for extra, size in ((False, now), (True, many - now)) if size]
        number += many
    unseen = None if group.ceiling is None else max(0, group.ceiling - count)
    return GroupPicture(group, tuple(rows), unseen, room - used if used else 0)


def _taken(node_class: NodeClass, resource: str) -> Iterator[DeviceSlice]:
    """Yield what DaemonSets and reserves take from each node."""
    room = node_class.machine.allocatable.get(resource, 0)
    for taking in node_class.takings:
        amount = min(room, taking.amounts.get(resource, 0) if taking.certain else 0)
        if amount:
            yield DeviceSlice(SliceKind.DAEMON_SET, taking.daemon_set.name, amount)
        room -= amount
    for reserve in node_class.reserves:
        amount = min(room, reserve.per_node.get(resource, 0))
        if amount:
            yield DeviceSlice(SliceKind.RESERVE, reserve.reason or "reserve", amount)
        room -= amount


def _filled(waiting: list[DeviceSlice], room: int, count: int) -> Iterator[tuple[tuple[DeviceSlice, ...], int]]:
    """Yield nodes filled with the shares in order, `room` each: a node's slices, and the number of equal nodes."""
    queue = list(reversed(waiting))
    while count > 0 and queue and room:
        whole = min(count, queue[-1].amount // room)
        if whole:
            share = queue.pop()
            yield (replace(share, amount=room),), whole
            if share.amount > whole * room:
                queue.append(replace(share, amount=share.amount - whole * room))
            count -= whole
        else:
            yield _mixed(queue, room), 1
            count -= 1
    if count > 0:
        yield (DeviceSlice(SliceKind.FREE, "", room),) if room else (), count


def _mixed(queue: list[DeviceSlice], room: int) -> tuple[DeviceSlice, ...]:
    """Return a node that several holders share, or that is not full; takes from the end of `queue`."""
    node: list[DeviceSlice] = []
    while room and queue:
        share = queue.pop()
        amount = min(room, share.amount)
        node.append(replace(share, amount=amount))
        room -= amount
        if share.amount > amount:
            queue.append(replace(share, amount=share.amount - amount))
    return (*node, DeviceSlice(SliceKind.FREE, "", room)) if room else tuple(node)


def _pod_sizes(cluster: Cluster, resource: str) -> frozenset[int]:
    """Return how many devices the known pods request: those of queued workloads and of the shapes in settings."""
    sizes = {
        s.template.amounts().get(resource, 0) for w in cluster.workloads if w.queue is not None for s in w.pod_sets
    }
    sizes |= {s.requests.get(resource, 0) for s in cluster.policy.shapes}
    return frozenset(sizes - {0})


def _most_used(room: int, sizes: frozenset[int]) -> int:
    """Return the most devices of a node that pods of these sizes can use together."""
    unit = gcd(*sizes)
    if not unit or room // unit > MOST_UNITS:  # larger than any machine: every multiple is assumed to be reachable
        return room - room % unit if unit else 0
    reachable = {0}
    for used in range(unit, room + 1, unit):
        if any(used - size in reachable for size in sizes):
            reachable.add(used)
    return max(reachable)
