"""Shares of busy queues as text, JSON, and markdown."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.units import IN_TABLES, scale_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.columns import columns
from qcheck.reports.json import place_data
from qcheck.reports.json_text import dump
from qcheck.reports.markdown import escape
from qcheck.reports.share_notes import remarks, trees
from qcheck.reports.wording import plain, unjudged_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.units import Amount, Scale
    from qcheck.quota.shares import PoolShares, QueueShare
    from qcheck.reports.json_text import Json

    Divided = Sequence[tuple[str, tuple[PoolShares, ...]]]
    """The pools of each cluster, by its name."""

HEADERS = ("queue", "reserved", "entitled", "share", "limit", "takes back")
MOST_HOLDERS = 4


def render_json(divided: Divided, unjudged: Sequence[str] = ()) -> str:
    clusters: list[Json] = [{"name": name, "pools": [_pool(p) for p in pools]} for name, pools in divided]
    return dump({"schema": 1, "clusters": clusters, "unjudged": list(unjudged)})


def _pool(pool: PoolShares) -> dict[str, Json]:
    return {
        "scheduler": pool.scheduler,
        "pool": pool.pool,
        "resource": pool.resource,
        "tree": pool.tree,
        "total": number(pool.total),
        "queues": [_queue(q) for q in pool.queues],
    }


def _queue(share: QueueShare) -> dict[str, Json]:
    return {
        "queue": share.queue,
        "parent": share.parent,
        "reserved": number(share.reserved),
        "entitled": number(share.entitled),
        "share": None if share.share is None else number(share.share),
        "limit": number(share.limit),
        "reclaimable": {
            "amount": number(share.reclaimable.amount),
            "from": list(share.reclaimable.holders),
            "how": share.reclaimable.how,
        },
        "notes": [
            {"code": n.code, "message": n.message, "place": place_data(n.place) if n.place else None}
            for n in share.notes
        ],
    }


def number(value: Amount) -> Json:
    """Return a JSON number: an integer if possible, KAI's doubles unchanged, other fractions as the nearest double."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def render_text(divided: Divided, unjudged: Sequence[str] = (), width: int | None = None) -> str:
    """Return a table per pool and resource; the notes of a tree follow its tables."""
    many = len(divided) > 1
    lines: list[str] = []
    for name, pools in divided:
        lines += [f"cluster {name}"] if many else []
        lines += [] if pools else ["no queues with quota were found"]
        for tree in trees(pools):
            lines += [line for pool in tree for line in (*_text(pool, width), "")]
            lines += [f"  {line}" for line in remarks(tree)]
            lines += [""] if lines[-1] else []
    return "\n".join([*map(plain, lines), "", *unjudged_lines(unjudged)]).rstrip() + "\n"


def heading(pool: PoolShares) -> str:
    """Return `h100: 152 nvidia.com/gpu in cohort tree pool (kueue)`."""
    return f"{pool.pool}: {pool_scale(pool).name(pool.total)} in {pool.tree} ({pool.scheduler})"


def _text(pool: PoolShares, width: int | None) -> Iterator[str]:
    yield heading(pool)
    scale = pool_scale(pool)
    rows = [HEADERS, *(cells(q, scale) for q in pool.queues)]
    yield from (f"  {line}" for line in columns(rows, range(1, 5), None if width is None else width - 2))


def pool_scale(pool: PoolShares) -> Scale:
    """Return the unit in which the amounts of a table are compared."""
    amounts = [pool.total]
    for each in pool.queues:
        amounts += [each.reserved, each.entitled, each.share or 0, each.limit, each.reclaimable.amount, _margin(each)]
    return scale_of(pool.resource, amounts, IN_TABLES)


def cells(share: QueueShare, scale: Scale) -> tuple[str, ...]:
    """Return a queue as cells in the order of `HEADERS`."""
    return (
        share.queue,
        scale(share.reserved),
        scale(share.entitled),
        _share(share, scale),
        scale(share.limit),
        _taken_back(share, scale),
    )


def _share(queue: QueueShare, scale: Scale) -> str:
    """Format a share: `48 ±8` if the actual division may differ, by up to the largest workload."""
    if queue.share is None:
        return "-"
    margin = _margin(queue)
    return f"{scale.bare(queue.share)} ±{scale(margin)}" if margin else scale(queue.share)


def _margin(queue: QueueShare) -> Amount:
    """Return the largest workload; 0 if none is known, or if the share is undefined, zero or the limit."""
    return queue.step if queue.step and queue.share and 0 < queue.share < queue.limit else 0


def _taken_back(share: QueueShare, scale: Scale) -> str:
    back = share.reclaimable
    if not back.amount:
        return "nothing"
    named = ", ".join(back.holders[:MOST_HOLDERS])
    more = f" and {len(back.holders) - MOST_HOLDERS} more" if len(back.holders) > MOST_HOLDERS else ""
    return scale(back.amount) + (f" from {named}{more}" if named else "")


def render_markdown(divided: Divided, unjudged: Sequence[str] = ()) -> str:
    """Return markdown for a step summary or a comment on the pull request."""
    lines = ["# qcheck: who gets what", ""]
    lines += [*(f"- **could not judge**: {escape(why)}" for why in unjudged), ""] if unjudged else []
    for name, pools in divided:
        lines += [f"## Cluster {escape(name)}", ""] if len(divided) > 1 else []
        for tree in trees(pools):
            lines += [line for pool in tree for line in _markdown(pool)]
            lines += [*(f"- {escape(line)}" for line in remarks(tree)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(pool: PoolShares) -> Iterator[str]:
    yield from (f"**{escape(heading(pool))}**", "", f"| {' | '.join(HEADERS)} |", "|---|---:|---:|---:|---:|---|")
    yield from (f"| {' | '.join(escape(c) for c in cells(q, pool_scale(pool)))} |" for q in pool.queues)
    yield ""
