"""Headroom bars: promises above nodes, on one scale."""

from __future__ import annotations

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.reports.capacity import at_best, held, holders, line_scale, pool_words, signed
from qcheck.reports.html.markup import Html, share, tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.answers.capacity import CapacityLine
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.units import Scale
    from qcheck.quota.tree import Cell
    from qcheck.reports.html.page_context import PageContext

    Part = tuple[str, int, str]
    """Style class, amount, and description."""


_AMOUNTS = ("nominalQuota", "quota")
"""Names of quota fields whose limits are siblings."""


def headroom(cluster: Cluster, lines: Sequence[CapacityLine], look: PageContext) -> Iterator[Html]:
    """Yield open rows for accelerators first, then folded rows for cpu and memory."""
    devices = [line for line in lines if is_compute(line.resource)]
    others = [line for line in lines if not is_compute(line.resource)]
    yield from (_row(cluster, line, look) for line in devices)
    if others:
        rows = [_row(cluster, line, look) for line in others]
        yield tag("details", tag("summary", "cpu, memory and other resources"), rows, open=None if devices else "")


def _row(cluster: Cluster, line: CapacityLine, look: PageContext) -> Html:
    unit = line_scale(line)
    promised = _promised(line, look, unit)
    nodes = _nodes(line, unit)
    grown = [*nodes, *_grown(line, unit)]
    scale = look.scale(line)
    return tag(
        "div",
        tag(
            "div",
            tag("b", line.label),
            " ",
            tag("span", line.resource, cls="quiet"),
            look.links(*(quota_entry(q) for q in line.quotas), *_flavor(cluster, line.pool)),
            _chip(line, unit),
            cls="bar-name",
        ),
        _bar("promised", promised, scale, unit(line.nominal)),
        _bar("nodes now", nodes, scale, held(line, unit)),
        _bar("scaled up", grown, scale, at_best(line, unit)) if at_best(line, unit) and line.is_known else None,
        tag("div", "; ".join(pool_words(line)) or "no nodes selected", cls="where"),
        cls="bar-row",
    )


def quota_entry(cell: Cell) -> Place:
    """Return the entry that contains a quota and its limits."""
    route = cell.place.route
    return replace(cell.place, route=route[:-1] if route and route[-1] in _AMOUNTS else route)


def _flavor(cluster: Cluster, key: str) -> list[Place]:
    """Return the place of the labels by which a flavor selects nodes."""
    found = cluster.quota_pools.get(key)
    return [found.labels_place] if found else []


def _chip(line: CapacityLine, unit: Scale) -> Html:
    if line.headroom is None:
        return tag("span", "not known", cls="chip")
    text = signed(unit, line.headroom)
    if line.headroom >= 0:
        return tag("span", f"{text} left" if line.headroom else "exactly", cls="chip good")
    fits = line.ceiling is None or line.ceiling >= line.nominal
    word = "until scaled up" if fits else "short"
    return tag("span", f"{text} {word}", cls="chip warn" if fits else "chip bad")


def _promised(line: CapacityLine, look: PageContext, unit: Scale) -> list[Part]:
    return [(look.of(c.holder), c.promised, f"{c.holder} {unit(c.promised)}") for c in holders(line)]


def _nodes(line: CapacityLine, unit: Scale) -> list[Part]:
    """Return the bars of existing nodes, and what DaemonSets and reserves take of them."""
    static = line.static or 0
    parts = [
        ("held", static, f"{unit(static)} for queues"),
        ("daemon", line.daemon_sets, f"{unit(line.daemon_sets)} taken by DaemonSets"),
        ("kept", line.reserves, f"{unit(line.reserves)} reserved"),
    ]
    return [part for part in parts if part[1] > 0]


def _grown(line: CapacityLine, unit: Scale) -> list[Part]:
    """Return the bar of nodes that could be added."""
    more = max(0, line.ceiling - (line.static or 0)) if line.ceiling is not None else 0
    return [("grown", more, f"{unit(more)} could be added")] if more else []


def _bar(name: str, parts: Sequence[Part], scale: int, total: str) -> Html:
    segments = [tag("i", cls=cls, style=f"width:{share(amount, scale)}", title=title) for cls, amount, title in parts]
    words = ", ".join(title for _, _, title in parts) or "nothing"
    return tag(
        "div",
        tag("span", name, cls="bar-label"),
        tag("span", segments, cls="bar", role="img", aria_label=f"{name}: {words}"),
        tag("span", total, cls="bar-total"),
        cls="bar-line",
    )
