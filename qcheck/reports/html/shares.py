"""Shares of queues, as a page with one bar per queue."""

from __future__ import annotations

from qcheck import __version__
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html import document
from qcheck.reports.html.markup import Html, share, tag
from qcheck.reports.share_notes import remarks, trees
from qcheck.reports.shares import cells, heading, pool_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.units import Scale
    from qcheck.quota.shares import PoolShares, QueueShare
    from qcheck.reports.shares import Divided

LEGEND = (
    ("held", "reserved"),
    ("kept", "entitled, and lent until it is taken back"),
    ("beyond", "share beyond that"),
    ("free", "limit"),
)


def render(divided: Divided, unjudged: Sequence[str] = ()) -> str:
    """Return one page for all clusters."""
    many = len(divided) > 1
    body = tag(
        "main",
        tag("header", tag("h1", "qcheck shares"), cls="top"),
        [tag("p", f"Could not judge: {why}", cls="bad") for why in unjudged],
        tag("div", [tag("span", tag("i", cls=cls), words) for cls, words in LEGEND], cls="legend"),
        [
            tag("section", tag("h2", f"Cluster {name}") if many else None, [_tree(t, many) for t in trees(pools)])
            for name, pools in divided
        ],
        tag("footer", f"qcheck {__version__}"),
    )
    return document("qcheck shares", body)


def _tree(pools: Sequence[PoolShares], many: bool) -> Html:
    notes = [tag("li", line) for line in remarks(pools)]
    return tag("section", [_pool(p, many) for p in pools], tag("ul", notes, cls="quiet") if notes else None)


def _pool(pool: PoolShares, many: bool) -> Html:
    scale = max((float(max(q.limit, q.entitled)) for q in pool.queues), default=0.0)
    return tag(
        "section",
        tag("h3" if many else "h2", heading(pool), cls="pool"),
        [_queue(q, max(1, round(scale)), pool_scale(pool)) for q in pool.queues],
    )


def _queue(queue: QueueShare, scale: int, unit: Scale) -> Html:
    words = dict(zip(("queue", "reserved", "entitled", "share", "limit", "back"), cells(queue, unit), strict=True))
    range_text = words["limit"] if queue.reserved == queue.limit else f"{unit.bare(queue.reserved)} to {words['limit']}"
    share_text = f", share {words['share']}" if queue.share is not None else ""
    return tag(
        "div",
        tag(
            "div",
            tag("b", queue.queue),
            tag("span", f"{range_text}{share_text}; takes back {words['back']}", cls="quiet"),
            cls="bar-name",
        ),
        tag("span", _segments(queue, scale, unit), cls="bar", aria_hidden="true"),
        cls="bar-row",
    )


def _segments(queue: QueueShare, scale: int, unit: Scale) -> list[Html]:
    """Return the segments of a bar: reserved, the rest of entitled, the rest of the share, the rest up to the limit."""
    ends = [queue.reserved, max(queue.reserved, queue.entitled)]
    ends += [max(ends[-1], queue.share if queue.share is not None else 0)]
    ends += [max(ends[-1], queue.limit)]
    segments, before = [], 0
    for (cls, words), end in zip(LEGEND, ends, strict=True):
        at = round(float(end))
        title = f"{words}: {unit(end)}"
        if at > before:
            style = f"width:{share(at - before, scale)}"
            segments.append(tag("i", cls=cls, style=style, title=title))
        before = max(before, at)
    return segments
