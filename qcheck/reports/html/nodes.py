"""The node view: a tile per node, a square per accelerator in the colour of its holder."""

from __future__ import annotations

from qcheck.answers.node_pictures import DevicePictures, SliceKind, device_pictures, pictured_resources
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.reports.html.markup import Html, tag
from qcheck.reports.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.node_pictures import GroupPicture, NodePicture
    from qcheck.cluster.cluster import Cluster
    from qcheck.reports.html.page_context import PageContext

MOST_TILES = 64
"""The number of a group's nodes to draw individually; beyond it, equal neighbours share a tile."""
MOST_SQUARES = 16
"""The number of devices per node to draw individually; beyond it, a square represents several."""
MOST_GHOSTS = 48


def node_view(cluster: Cluster, look: PageContext) -> Iterator[Html]:
    for resource in pictured_resources(cluster):
        held = device_pictures(cluster, resource)
        yield tag("h4", resource)
        for group in held.groups:
            yield _group(group, held, look)
        if not held.groups:
            yield tag("p", f"No node has {resource}.", cls="quiet")
        yield from (_beyond(flavor, amount) for flavor, amount in held.beyond.items())


def _group(picture: GroupPicture, held: DevicePictures, look: PageContext) -> Html:
    group = picture.group
    total = sum(n.count for n in picture.nodes)
    nodes = _collapsed(picture) if total > MOST_TILES else _one_by_one(picture)
    return tag(
        "div",
        tag("div", tag("b", group.name), " ", _sum(picture, held.resource), _stranded(picture), cls="group-name"),
        tag("div", group.count_place.line, look.links(group.count_place, group.place), cls="where"),
        tag("div", [_tile(n, look) for n in nodes if not n.is_extra], cls="tiles"),
        _addable(picture, [_tile(n, look) for n in nodes if n.is_extra]),
        cls="group",
    )


def _sum(picture: GroupPicture, resource: str) -> str:
    """Return `19 nodes × 8, 7 left for queues`."""
    group = picture.group
    per_node = max(c.machine.allocatable.get(resource, 0) for c in group.classes)
    left = group.highest(resource)
    count = plural(group.static, "node")
    if group.ceiling is None:
        count = f"{group.static} or more nodes"
    elif group.ceiling != group.static:
        count = f"{group.static} to {plural(group.ceiling, 'node')}"
    return f"{count} × {per_node}" + (f", {left} of them left for queues" if left != per_node else "")


def _stranded(picture: GroupPicture) -> Html | None:
    if not picture.stranded:
        return None
    words = "devices of each node that no combination of the known pods can use"
    return tag("span", f"{picture.stranded} stranded", cls="chip warn", title=words)


def _one_by_one(picture: GroupPicture) -> list[NodePicture]:
    return [replace(n, count=1) for n in picture.nodes for _ in range(n.count)]


def _collapsed(picture: GroupPicture) -> list[NodePicture]:
    return list(picture.nodes[:MOST_TILES])


def _tile(node: NodePicture, look: PageContext) -> Html:
    scale = -(-sum(s.amount for s in node.slices) // MOST_SQUARES)
    squares = [
        tag("i", cls=look.of_slice(s), title=f"{s.amount} {s.holder or s.kind}")
        for s in node.slices
        for _ in range(-(-s.amount // scale))
    ]
    words = ", ".join(f"{s.amount} {s.holder}{_kind(s.kind)}" for s in node.slices)
    extra = " (after scaling up)" if node.is_extra else ""
    return tag(
        "div",
        squares,
        tag("span", f"×{node.count}", cls="times") if node.count > 1 else None,
        cls="tile extra" if node.is_extra else "tile",
        role="img",
        title=f"{words}{extra}",
        aria_label=f"{plural(node.count, 'node')}: {words}{extra}",
    )


def _kind(kind: SliceKind) -> str:
    return kind if kind is SliceKind.FREE else "" if kind is SliceKind.QUEUE else f" ({kind})"


def _addable(picture: GroupPicture, tiles: list[Html]) -> Html | None:
    """Return the nodes that an autoscaler could add: those that quota needs, and the number of others."""
    if picture.unseen == 0 and not tiles:
        return None
    more = (
        "more without a ceiling"
        if picture.unseen is None
        else f"{plural(picture.unseen, 'more node')} that hold nothing"
    )
    return tag(
        "div",
        tag("div", "Could be added", cls="more"),
        tag("div", tiles, cls="tiles") if tiles else None,
        tag("div", f"+ {more}", cls="more") if picture.unseen != 0 else None,
        cls="addable",
    )


def _beyond(flavor: str, amount: int) -> Html:
    """Return quota without nodes as empty squares."""
    ghosts = [tag("i", cls="ghost") for _ in range(min(amount, MOST_GHOSTS))]
    rest = tag("span", f"+{amount - MOST_GHOSTS:,}", cls="more") if amount > MOST_GHOSTS else None
    return tag(
        "div",
        tag("div", tag("b", f"{amount:,} promised by {pool_name(flavor)} have no node"), cls="group-name bad"),
        tag("div", ghosts, rest, cls="ghosts", role="img", aria_label=f"{amount} without a node"),
        cls="group",
    )
