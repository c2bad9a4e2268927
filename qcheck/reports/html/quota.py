"""The quota view: each scheduler's tree, and for each queue the quota that it owns, lends and may borrow."""

from __future__ import annotations

from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import IN_TABLES, name_amount, scale_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html.bars import quota_entry
from qcheck.reports.html.markup import Html, share, tag
from qcheck.reports.html.page_context import holder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.quota.tree import Cell, QuotaNode, QuotaTree
    from qcheck.reports.html.page_context import PageContext


def quota_view(tree: QuotaTree, look: PageContext) -> Iterator[Html]:
    """Yield trees first, then queues without a parent; queues below a cycle come last, in no tree."""
    roots = list(tree.children(None))
    yield from (_node(tree, n, look) for n in roots if not n.admits)
    yield from (_node(tree, n, look) for n in roots if n.admits)
    for ring in tree.cycles:
        path = " → ".join((*ring, ring[0]))
        yield tag("p", f"{path} form a cycle; the queues below admit nothing.", cls="bad")
    rings = {name for ring in tree.cycles for name in ring}
    for node in tree.nodes:
        if node.name in rings and not node.admits:
            yield from (_queue(q, look) for q in tree.children(node.key) if q.admits)


def _node(tree: QuotaTree, node: QuotaNode, look: PageContext) -> Html:
    if node.admits:
        return _queue(node, look)
    own = [tag("li", _amount(c), " of its own for ", pool_name(c.pool)) for c in node.cells if c.promised]
    below = sorted(tree.children(node.key), key=lambda n: (not n.admits, n.name))
    return tag(
        "div",
        tag(
            "div",
            tag("span", cls=f"dot {look.of(holder_of(node))}") if own else None,
            f"{node.word} ",
            tag("b", node.name),
            cls="cohort-name",
        ),
        tag("ul", own, cls="own") if own else None,
        [_node(tree, n, look) for n in below],
        cls="cohort",
    )


def _queue(node: QuotaNode, look: PageContext) -> Html:
    devices = [c for c in node.cells if is_compute(c.resource)] or list(node.cells)
    rest = [c for c in node.cells if c not in devices]
    folded = tag("details", tag("summary", "cpu, memory …"), [_cell(node, c, look) for c in rest])
    return tag(
        "div",
        tag(
            "div",
            tag("span", cls=f"dot {look.of(holder_of(node))}"),
            tag("b", node.name),
            tag("span", "stopped", cls="chip warn") if node.is_stopped else None,
            cls="queue-name",
        ),
        [_cell(node, c, look) for c in devices],
        folded if rest else None,
        cls="queue",
    )


def _cell(node: QuotaNode, cell: Cell, look: PageContext) -> Html:
    """Return a bar from zero to the queue's limit: own and kept, own and lent, borrowed."""
    most = look.scale(cell)
    extra = most - cell.entitled if cell.borrowable is None else cell.borrowable
    bar = [
        tag("i", cls=look.of(holder_of(node)), style=f"width:{share(cell.entitled - cell.lendable, most)}"),
        tag("i", cls=f"{look.of(holder_of(node))} lent", style=f"width:{share(cell.lendable, most)}"),
        tag("i", cls="borrowed", style=f"width:{share(extra, most)}"),
    ]
    return tag(
        "div",
        tag(
            "span",
            pool_name(cell.pool),
            " ",
            tag("span", cell.resource, cls="quiet"),
            look.links(quota_entry(cell)),
            cls="cell-name",
        ),
        tag("span", bar, cls="bar", aria_hidden="true"),
        tag("span", _words(cell), cls="cell-words"),
        cls="cell",
    )


def _words(cell: Cell) -> str:
    scale = scale_of(cell.resource, (cell.entitled, cell.lendable, cell.borrowable or 0), IN_TABLES)
    parts = [f"owns {scale(cell.entitled)}"]
    if cell.lendable:
        whole = cell.lendable == cell.entitled
        parts.append("lends all" if whole else f"lends {scale(cell.lendable)}")
    if cell.borrowable is None:
        parts.append("borrows without limit")
    elif cell.borrowable:
        parts.append(f"may borrow {scale(cell.borrowable)}")
    return ", ".join(parts)


def _amount(cell: Cell) -> str:
    return name_amount(cell.resource, cell.promised)
