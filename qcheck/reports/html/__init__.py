"""The HTML report: one page that needs nothing else, for a screen, a phone, the dark, and paper."""

from __future__ import annotations

from qcheck import __version__
from qcheck.answers.capacity import capacity_lines
from qcheck.answers.cost import cost_of
from qcheck.answers.node_pictures import device_pictures, pictured_resources
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports import cost
from qcheck.reports.fleet import HEADERS, fleet_rows
from qcheck.reports.html.bars import headroom
from qcheck.reports.html.findings import card
from qcheck.reports.html.links import Links
from qcheck.reports.html.markup import Html, join, tag
from qcheck.reports.html.nodes import node_view
from qcheck.reports.html.page_context import PageContext
from qcheck.reports.html.quota import quota_view
from qcheck.reports.wording import (
    by_rule,
    counted,
    has_many_clusters,
    looked_at,
    not_judged,
    plural,
    presented,
    shows_statistics,
    title,
)
from qcheck.schedulers.table import promises_of, title_of, trees_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.causes import Group
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.quota.tree import QuotaTree

MOST_CARDS = 500


def render(result: Result) -> str:
    many = has_many_clusters(result)
    groups = presented(result)
    links = Links([f for g in groups for f in (g.head, *g.followers)][:MOST_CARDS])
    body = tag(
        "main",
        tag("header", tag("h1", "qcheck"), tag("p", _verdict(result), cls="verdict"), cls="top"),
        [tag("p", f"Could not judge: {why}", cls="bad") for why in result.inputs.unjudged],
        _fleet(result),
        [_cluster(c, many, links) for c in result.clusters],
        _findings(groups, many),
        _statistics(result) if shows_statistics(result) else None,
        _quiet(result),
        tag("footer", f"qcheck {__version__} checked {looked_at(result)}."),
    )
    return document("qcheck report", body)


def document(title: str, body: Html) -> str:
    """A whole page around `body`."""
    return f"<!doctype html>\n{tag('html', _head(title), tag('body', body), lang='en')}\n"


def _head(title: str) -> Html:
    from pathlib import Path

    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        tag("title", title),
        tag("style", Html(style)),
    )


def _verdict(result: Result) -> list[Html | str]:
    severities = (("error", "bad"), ("warning", "warn"), ("note", ""))
    chips = [tag("span", plural(n, s), cls=f"chip {c}") for s, c in severities if (n := result.count(s))]
    quiet = counted(result).partition("; ")[2]
    return [*(chips or [tag("span", "no findings", cls="chip good")]), tag("span", quiet, cls="quiet")]


def _fleet(result: Result) -> Html | None:
    """The clusters at a glance, where there are several."""
    rows = fleet_rows(result)
    if not rows:
        return None
    head = tag("tr", [tag("th", h) for h in HEADERS])
    return tag("table", head, [tag("tr", [tag("td", cell) for cell in row]) for row in rows])


def _cluster(cluster: Cluster, many: bool, links: Links) -> Html | None:
    lines = capacity_lines(cluster)
    if not lines and not any(t.nodes for t in trees_of(cluster)):
        return None
    look = PageContext(cluster, links)
    return tag(
        "section",
        tag("h2", f"Cluster {cluster.name}") if many else None,
        [_sum(cluster, resource) for resource in pictured_resources(cluster)],
        tag("h3", "Promised and held"),
        list(headroom(cluster, lines, look)),
        list(_cost(cluster)),
        tag(
            "div",
            [_tree(tree, look) for tree in trees_of(cluster)],
            tag(
                "div",
                tag("h3", "What the nodes have"),
                _legend(cluster, look),
                list(node_view(cluster, look)),
                cls="view",
            ),
            cls="views",
        ),
    )


def _cost(cluster: Cluster) -> Iterator[Html]:
    """What the nodes cost, where the settings have prices."""
    found = cost_of(cluster)
    if found is None:
        return
    rows = [tag("tr", [tag("td", cell) for cell in row]) for row in cost.cost_rows(found)]
    yield tag("h3", cost.TITLE)
    yield tag("table", tag("tr", [tag("th", h) for h in cost.HEADERS]), rows)
    yield from (tag("p", note, cls="quiet") for note in (cost.NOTE, cost.unpriced(found)) if note)


def _tree(tree: QuotaTree, look: PageContext) -> Html:
    return tag("div", tag("h3", f"What {title_of(tree.scheduler)} sees"), list(quota_view(tree, look)), cls="view")


def _sum(cluster: Cluster, resource: str) -> Html | None:
    """The whole story in three numbers."""
    promised = sum(q.promised for (_, r), quotas in promises_of(cluster).cells.items() if r == resource for q in quotas)
    beyond = sum(device_pictures(cluster, resource).beyond.values())
    if not promised:
        return None
    numbers = [
        (promised, "promised by quota", ""),
        (promised - beyond, "have a node", ""),
        (beyond, "have none", "bad" if beyond else "good"),
    ]
    return tag(
        "div",
        tag("div", resource, cls="sum-of"),
        [tag("div", tag("b", f"{n:,}"), tag("span", words), cls=f"sum {cls}") for n, words, cls in numbers],
        cls="sums",
    )


def _legend(cluster: Cluster, look: PageContext) -> Html:
    """The queues, and what else holds devices of some node."""
    pictures = [g for r in pictured_resources(cluster) for g in device_pictures(cluster, r).groups]
    seen = {look.of_slice(s) for g in pictures for n in g.nodes for s in n.slices}
    kinds = [k for k in (("daemon", "DaemonSet"), ("kept", "reserve"), ("free", "free")) if k[0] in seen]
    shown = [(look.of(name), name) for name in look.names] + kinds
    items = [tag("span", tag("i", cls=cls), name) for cls, name in shown]
    note = "Placed in order of size: on the cluster, the order of arrival decides which pod gets which node."
    return tag("div", items, tag("div", note, cls="quiet"), cls="legend")


def _findings(groups: Sequence[Group], many: bool) -> Iterator[Html]:
    """Cards, numbered through; those that follow from another are folded into it."""
    if not groups:
        return
    yield tag("h2", "Findings")
    numbered, number = [], 1
    for group in groups:
        numbered.append((number, group))
        number += 1 + len(group.followers)
    shown = [(n, g) for n, g in numbered if n <= MOST_CARDS]
    if len(shown) > 3:
        yield tag("ol", [_link(g.head, n) for n, g in shown], cls="contents")
    yield join([_group(g, n, many) for n, g in shown])
    left = number - 1 - sum(min(1 + len(g.followers), MOST_CARDS - n + 1) for n, g in shown)
    if left:
        yield tag("p", f"and {plural(left, 'more finding')}: see the JSON report")


def _group(group: Group, number: int, many: bool) -> Html:
    kept = group.followers[: MOST_CARDS - number]
    followers = [card(f, n, many) for n, f in enumerate(kept, number + 1)]
    return card(group.head, number, many, followers)


def _statistics(result: Result) -> Html:
    rows = [(f"{count:,}", f.severity, name) for count, name, f in by_rule(result.counted)]
    table = tag("table", [tag("tr", [tag("td", cell) for cell in row]) for row in rows], cls="counts")
    return tag("section", tag("h2", "By rule"), table)


def _link(found: Finding, number: int) -> Html:
    return tag("li", tag("a", title(found), href=f"#f{number}"), f" {found.primary.line}")


def _quiet(result: Result) -> Iterator[Html]:
    unknown = [tag("li", tag("b", what), f": {why}") for what, why in not_judged(result)]
    if unknown:
        yield tag("section", tag("h2", "Not judged"), tag("ul", unknown, cls="quiet"))
