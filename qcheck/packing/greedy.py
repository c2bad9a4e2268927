"""Pod placement by simple rules: fast, and sufficient if there is some slack. A failure here proves nothing.

It works on classes of equal nodes, so 5,000 nodes cost no more than five.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.question import Placement
from qcheck.packing.room import VectorRoom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qcheck.packing.remaining import Posed
    from qcheck.packing.room import Filling

    Key = tuple[int, ...]


class _Alike:
    """Nodes of one class that currently hold the same pods."""

    def __init__(self, node: int, left: tuple[int, ...], filling: Filling, count: int) -> None:
        self.node, self.left, self.filling, self.count = node, left, filling, count


def place_greedily(posed: Posed) -> tuple[Placement, ...] | None:
    """Return a witness by first-fit and best-fit decreasing in several orders; None if none of them succeeds."""
    rooms = [r for r in posed.rooms if isinstance(r, VectorRoom)]
    if len(rooms) < len(posed.rooms) or not rooms:
        return None
    for order in _orders(posed, rooms):
        for prefer in (_tightest, _first, _fewest_choices):
            witness = _place(posed, rooms, order, prefer)
            if witness is not None:
                return witness
    return None


def _place(
    posed: Posed, rooms: list[VectorRoom], order: Iterable[int], prefer: Callable[[_Alike, int, VectorRoom], Key]
) -> tuple[Placement, ...] | None:
    nothing = (0,) * len(posed.wanted)
    alike = [_Alike(i, room.free, nothing, n) for i, (room, n) in enumerate(zip(rooms, posed.counts, strict=True)) if n]
    for shape in order:
        wanted = posed.wanted[shape]
        for group in sorted(alike, key=lambda g: prefer(g, shape, rooms[g.node])):
            if wanted <= 0:
                break
            wanted -= _put(alike, group, shape, wanted, rooms[group.node])
        if wanted > 0:
            return None
    return tuple(Placement(g.node, g.filling, g.count) for g in alike if g.count and any(g.filling))


def _put(alike: list[_Alike], group: _Alike, shape: int, wanted: int, room: VectorRoom) -> int:
    """Put up to `wanted` pods on a group's nodes, filling each before the next; return how many were placed."""
    per_node = _fits(group, shape, room)
    if per_node == 0:
        return 0
    full = min(group.count, wanted // per_node)
    over = min(wanted - full * per_node, per_node) if full < group.count else 0
    for nodes, each in ((full, per_node), (1, over)):
        if nodes and each:
            alike.append(_more(group, shape, each, nodes, room))
            group.count -= nodes
    return full * per_node + over


def _more(group: _Alike, shape: int, each: int, nodes: int, room: VectorRoom) -> _Alike:
    left = tuple(f - each * q for f, q in zip(group.left, room.requests[shape], strict=True))
    filling = tuple(n + each * (s == shape) for s, n in enumerate(group.filling))
    return _Alike(group.node, left, filling, nodes)


def _fits(group: _Alike, shape: int, room: VectorRoom) -> int:
    limit = room.limits[shape] - group.filling[shape]
    counts = [f // q for f, q in zip(group.left, room.requests[shape], strict=True) if q]
    return max(0, min(limit, min(counts, default=limit)))


def _orders(posed: Posed, rooms: list[VectorRoom]) -> list[list[int]]:
    """Return orders of shapes: by largest share of a node, by sum of shares (largest first), by fewest usable nodes."""
    shapes = [s for s, wanted in enumerate(posed.wanted) if wanted > 0]
    width = range(len(rooms[0].free))
    roomiest = [max(1, *(room.free[r] for room in rooms)) for r in width]
    shares = {s: [rooms[0].requests[s][r] * 10**6 // roomiest[r] for r in width] for s in shapes}
    homes = {s: sum(n for room, n in zip(rooms, posed.counts, strict=True) if room.limits[s]) for s in shapes}
    orders = [
        sorted(shapes, key=lambda s: (-max(shares[s], default=0), -sum(shares[s]), s)),
        sorted(shapes, key=lambda s: (-sum(shares[s]), s)),
        sorted(shapes, key=lambda s: (homes[s], -max(shares[s], default=0), s)),
    ]
    return [order for i, order in enumerate(orders) if order not in orders[:i]]


def _tightest(group: _Alike, shape: int, room: VectorRoom) -> Key:
    """Return a sort key that puts nodes first that are fullest after taking as many pods as they can."""
    per_node = _fits(group, shape, room)
    rest = [f - per_node * q for f, q in zip(group.left, room.requests[shape], strict=True)]
    return (*(left * 10**6 // max(1, free) for left, free in zip(rest, room.free, strict=True)), group.node)


def _first(group: _Alike, _shape: int, _room: VectorRoom) -> Key:
    """Return a sort key that keeps the given order, partly filled nodes first."""
    return (not any(group.filling), group.node)


def _fewest_choices(group: _Alike, shape: int, room: VectorRoom) -> Key:
    """Return a sort key that puts nodes first that can hold the fewest other shapes."""
    return (sum(limit > 0 for limit in room.limits), -_fits(group, shape, room), group.node)
