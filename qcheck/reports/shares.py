"""What each queue gets when queues are busy: as text, JSON, and markdown."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.quantity import show_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.json import place_data
from qcheck.reports.json_text import dump
from qcheck.reports.markdown import escape
from qcheck.reports.wording import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.quota.shares import Amount, PoolShares, QueueShare
    from qcheck.reports.json_text import Json

    Divided = Sequence[tuple[str, tuple[PoolShares, ...]]]
    """The pools of each cluster, by its name."""

HEADERS = ("queue", "reserved", "entitled", "share", "limit", "takes back")
MOST_HOLDERS = 4


def render_json(divided: Divided) -> str:
    return dump(
        {"schema": 1, "clusters": [{"name": name, "pools": [_pool(p) for p in pools]} for name, pools in divided]}
    )


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
    """A whole number as one; KAI's doubles as they are, other fractions as the nearest double."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def render_text(divided: Divided) -> str:
    """A table per tree, pool and resource."""
    many = len(divided) > 1
    lines: list[str] = []
    for name, pools in divided:
        lines += [f"cluster {name}"] if many else []
        lines += [] if pools else ["no queues with quota were found"]
        for pool in pools:
            lines += [*_text(pool), ""]
    return "\n".join(map(plain, lines)).rstrip() + "\n"


def heading(pool: PoolShares) -> str:
    """`h100: 152 nvidia.com/gpu in cohort tree pool (kueue)`."""
    return f"{pool.pool}: {shown(pool.resource, pool.total)} {pool.resource} in {pool.tree} ({pool.scheduler})"


def _text(pool: PoolShares) -> Iterator[str]:
    yield heading(pool)
    rows = [HEADERS, *(cells(pool.resource, q) for q in pool.queues)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEADERS))]
    for row in rows:
        yield (
            "  "
            + "  ".join(
                c.rjust(w) if 0 < i < 5 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
        )
    yield from (f"  {line}" for line in remarks(pool))


def cells(resource: str, share: QueueShare) -> tuple[str, ...]:
    """A queue in words, in the order of `HEADERS`."""
    return (
        share.queue,
        shown(resource, share.reserved),
        shown(resource, share.entitled),
        "-" if share.share is None else shown(resource, share.share) + margin(resource, share),
        shown(resource, share.limit),
        _taken_back(resource, share),
    )


def margin(resource: str, share: QueueShare) -> str:
    """` ±8`: a real division differs by up to the largest workload. Nothing where all fits or none is known."""
    is_between = share.share is not None and 0 < share.share < share.limit
    return f" ±{show_amount(resource, share.step)}" if share.step and is_between else ""


def _taken_back(resource: str, share: QueueShare) -> str:
    back = share.reclaimable
    if not back.amount:
        return "nothing"
    named = ", ".join(back.holders[:MOST_HOLDERS])
    more = f" and {len(back.holders) - MOST_HOLDERS} more" if len(back.holders) > MOST_HOLDERS else ""
    return shown(resource, back.amount) + (f" from {named}{more}" if named else "")


def remarks(pool: PoolShares) -> list[str]:
    """The notes of a pool, each once with the queues that it is about."""
    about: dict[str, list[str]] = {}
    for queue in pool.queues:
        for note in queue.notes:
            where = f" ({note.place.line})" if note.place else ""
            about.setdefault(f"{note.message}{where}", []).append(queue.queue)
    return [f"{', '.join(queues)}: {message}" for message, queues in about.items()]


def shown(resource: str, value: Amount) -> str:
    """An amount for people: whole base units with their unit, fractions to a tenth."""
    if isinstance(value, int):
        return show_amount(resource, value)
    if isinstance(value, float) or value.denominator != 1:
        text = show_amount(resource, int(value))
        return f"{float(value):.1f}" if text == str(int(value)) and value != int(value) else text
    return show_amount(resource, value.numerator)


def render_markdown(divided: Divided) -> str:
    """For a step summary or a comment on the pull request."""
    lines = ["# qcheck: who gets what", ""]
    for name, pools in divided:
        lines += [f"## Cluster {escape(name)}", ""] if len(divided) > 1 else []
        for pool in pools:
            lines += [f"**{escape(heading(pool))}**", "", f"| {' | '.join(HEADERS)} |", "|---|---:|---:|---:|---:|---|"]
            lines += [f"| {' | '.join(escape(c) for c in cells(pool.resource, q))} |" for q in pool.queues]
            lines += ["", *(f"- {escape(line)}" for line in remarks(pool)), ""]
    return "\n".join(lines).rstrip() + "\n"
