"""Headroom: what is promised above what the nodes hold, on one scale."""

from __future__ import annotations

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.capacity import at_best, held, holders, line_scale, pool_words, signed
from qcheck.reports.html.markup import Html, share, tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.answers.capacity import CapacityLine
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.units import Scale
    from qcheck.reports.html.page_context import PageContext

    Part = tuple[str, int, str]
    """Style class, amount, what it is."""


def headroom(cluster: Cluster, lines: Sequence[CapacityLine], look: PageContext) -> Iterator[Html]:
    """Accelerators first and open, cpu and memory folded away."""
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
    scale = max(1, line.nominal, sum(amount for _, amount, _ in nodes))
    return tag(
        "div",
        tag(
            "div",
            tag("b", line.label),
            " ",
            tag("span", line.resource, cls="quiet"),
            look.links(*(q.place for q in line.quotas), *_label_places(cluster, line.pool)),
            _chip(line, unit),
            cls="bar-name",
        ),
        _bar("promised", promised, scale, unit(line.nominal)),
        _bar("nodes", nodes, scale, _held(line, unit)),
        tag("div", "; ".join(pool_words(line)) or "no nodes selected", cls="where"),
        cls="bar-row",
    )


def _label_places(cluster: Cluster, flavor: str) -> list[Place]:
    """Where the flavor says which nodes it means."""
    found = cluster.quota_pools.get(flavor)
    return [found.labels_place.at(key) for key in found.node_labels] if found else []


def _chip(line: CapacityLine, unit: Scale) -> Html:
    if line.headroom is None:
        return tag("span", "not known", cls="chip")
    text = signed(unit, line.headroom)
    if line.headroom >= 0:
        return tag("span", f"{text} left" if line.headroom else "exactly", cls="chip good")
    fits = line.ceiling is None or line.ceiling >= line.nominal
    word = "until scaled up" if fits else "short"
    return tag("span", f"{text} {word}", cls="chip warn" if fits else "chip bad")


def _held(line: CapacityLine, unit: Scale) -> str:
    most = at_best(line, unit)
    return held(line, unit) + (f" … {most}" if most and line.is_known else "")


def _promised(line: CapacityLine, look: PageContext, unit: Scale) -> list[Part]:
    return [(look.of(c.holder), c.promised, f"{c.holder} {unit(c.promised)}") for c in holders(line)]


def _nodes(line: CapacityLine, unit: Scale) -> list[Part]:
    """What is there, what scaling adds, and what DaemonSets and reserves take."""
    static = line.static or 0
    grown = max(0, line.ceiling - static) if line.ceiling is not None else 0
    parts = [
        ("held", static, f"{unit(static)} for queues"),
        ("grown", grown, f"{unit(grown)} after scaling up"),
        ("daemon", line.daemon_sets, f"{unit(line.daemon_sets)} taken by DaemonSets"),
        ("kept", line.reserves, f"{unit(line.reserves)} reserved"),
    ]
    return [part for part in parts if part[1] > 0]


def _bar(name: str, parts: Sequence[Part], scale: int, total: str) -> Html:
    segments = [
        tag("i", cls=cls, style=f"width:{share(amount, scale)}", title=title, aria_label=title)
        for cls, amount, title in parts
    ]
    return tag(
        "div",
        tag("span", name, cls="bar-label"),
        tag("span", segments, cls="bar"),
        tag("span", total, cls="bar-total"),
        cls="bar-line",
    )
