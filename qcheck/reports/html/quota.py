"""The quota view: the cohort tree, and for each queue what it owns, lends and may borrow."""

from __future__ import annotations

from qcheck.cluster.quantity import show_amount
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html.markup import Html, share, tag
from qcheck.schedulers.kueue.cohort_tree import UNLIMITED, cohort_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Quota
    from qcheck.reports.html.look import Look
    from qcheck.schedulers.kueue.cohort_tree import TreeNode


def quota_view(cluster: Cluster, look: Look) -> Iterator[Html]:
    """Trees first, then queues that are alone; what hangs in a cycle of cohorts comes last, in no tree."""
    tree = cohort_tree(cluster)
    rings = {name for ring in tree.cycles for name in ring}
    for name, node in tree.cohorts.items():
        if node.parent is None:
            yield _cohort(cluster, name, look)
    for name, node in tree.queues.items():
        if node.parent is None:
            yield _queue(cluster, name, look)
    for ring in tree.cycles:
        yield tag(
            "p", f"The cohorts {' → '.join((*ring, ring[0]))} form a cycle; their queues admit nothing.", cls="bad"
        )
    for name in sorted(rings):
        yield from (_queue(cluster, q, look) for q in tree.cohorts[name].queues)


def _cohort(cluster: Cluster, name: str, look: Look) -> Html:
    node = cohort_tree(cluster).cohorts[name]
    own = [tag("li", _amount(q), " of its own for ", q.flavor) for q in node.cells.values() if q.nominal]
    return tag(
        "div",
        tag(
            "div",
            tag("span", cls=f"dot {look.of(name)}") if own else None,
            "cohort ",
            tag("b", name),
            cls="cohort-name",
        ),
        tag("ul", own, cls="own") if own else None,
        [_queue(cluster, q, look) for q in node.queues],
        [_cohort(cluster, c, look) for c in node.cohorts],
        cls="cohort",
    )


def _queue(cluster: Cluster, name: str, look: Look) -> Html:
    node = cohort_tree(cluster).queues[name]
    cells = list(node.cells.values())
    devices = [q for q in cells if is_compute(q.resource)] or cells
    rest = [q for q in cells if q not in devices]
    stopped = cluster.queue[name].is_stopped
    folded = tag("details", tag("summary", "cpu, memory …"), [_cell(cluster, node, q, look) for q in rest])
    return tag(
        "div",
        tag(
            "div",
            tag("span", cls=f"dot {look.of(name)}"),
            tag("b", name),
            tag("span", "stopped", cls="chip warn") if stopped else None,
            cls="queue-name",
        ),
        [_cell(cluster, node, q, look) for q in devices],
        folded if rest else None,
        cls="queue",
    )


def _cell(cluster: Cluster, node: TreeNode, quota: Quota, look: Look) -> Html:
    """A bar from nothing to the most the queue can ever hold: own and kept, own and lent, borrowed."""
    lent = cohort_tree(cluster).lent(node.name, quota.key)
    extra = cohort_tree(cluster).borrowable(node.name, quota.key)
    unlimited = extra >= UNLIMITED // 2
    most = max(1, quota.nominal + (0 if unlimited else extra))
    bar = [
        tag("i", cls=look.of(node.name), style=f"width:{share(quota.nominal - min(lent, quota.nominal), most)}"),
        tag("i", cls=f"{look.of(node.name)} lent", style=f"width:{share(min(lent, quota.nominal), most)}"),
        tag("i", cls="borrowed", style=f"width:{share(0 if unlimited else extra, most)}"),
    ]
    return tag(
        "div",
        tag(
            "span",
            quota.flavor,
            " ",
            tag("span", quota.resource, cls="quiet"),
            look.links(quota.nominal_place),
            cls="cell-name",
        ),
        tag("span", bar, cls="bar"),
        tag("span", _words(quota, lent, extra, unlimited), cls="cell-words"),
        cls="cell",
    )


def _words(quota: Quota, lent: int, extra: int, unlimited: bool) -> str:
    parts = [f"owns {show_amount(quota.resource, quota.nominal)}"]
    if lent:
        whole = lent == quota.nominal
        parts.append("lends all" if whole else f"lends {show_amount(quota.resource, lent)}")
    if extra:
        parts.append("borrows without limit" if unlimited else f"may borrow {show_amount(quota.resource, extra)}")
    return ", ".join(parts)


def _amount(quota: Quota) -> str:
    return f"{show_amount(quota.resource, quota.nominal)} {quota.resource}"
