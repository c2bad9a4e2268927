"""The HTML report: one self-contained page for screens, phones, dark mode and print."""

from __future__ import annotations

from pathlib import Path

from qcheck import __version__
from qcheck.answers.capacity import capacity_lines
from qcheck.answers.cost import cost_of
from qcheck.answers.node_pictures import device_pictures, pictured_resources
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.causes import presented
from qcheck.reports import cost
from qcheck.reports.fleet import HEADERS, fleet_rows
from qcheck.reports.html.bars import headroom
from qcheck.reports.html.findings import card, contents
from qcheck.reports.html.links import Links
from qcheck.reports.html.markup import Html, join, table, tag
from qcheck.reports.html.nodes import node_view
from qcheck.reports.html.page_context import PageContext, SharedContext
from qcheck.reports.html.quota import quota_view
from qcheck.reports.wording import (
    by_rule,
    counted,
    has_many_clusters,
    looked_at,
    not_judged,
    plural,
    shows_statistics,
)
from qcheck.schedulers.table import title_of, trees_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.causes import Group
    from qcheck.findings.result import Result
    from qcheck.quota.tree import QuotaTree

MOST_CARDS = 500
SHORT = 12
"""The number of digits of a commit to show."""


def render(result: Result) -> str:
    many = has_many_clusters(result)
    groups = presented(result)
    shown = [f for g in groups for f in (g.head, *g.followers)][:MOST_CARDS]
    page = SharedContext(result.clusters, Links(shown))
    body = tag(
        "main",
        tag("header", tag("h1", "qcheck", _checkout(result)), tag("p", _verdict(result), cls="verdict"), cls="top"),
        [tag("p", f"Could not judge: {why}", cls="bad") for why in result.inputs.unjudged],
        _fleet(result),
        contents(shown, many),
        [_cluster(c, many, page) for c in result.clusters],
        _findings(groups, many),
        _statistics(result) if shows_statistics(result) else None,
        _quiet(result),
        tag("footer", f"qcheck {__version__} checked {looked_at(result)}."),
    )
    return document("qcheck report", body)


def document(title: str, body: Html) -> str:
    """Return a complete page around `body`."""
    return f"<!doctype html>\n{tag('html', _head(title), tag('body', body), lang='en')}\n"


def _head(title: str) -> Html:
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
    """Return a table of the clusters; None for a single cluster."""
    rows = fleet_rows(result)
    return table(HEADERS, rows) if rows else None


def _checkout(result: Result) -> Html | None:
    """Return the repository and the commit that were checked."""
    found = result.checkout
    if found is None:
        return None
    commit = found.commit[:SHORT]
    shown = tag("a", commit, href=found.url) if found.url else commit
    changed = " with uncommitted changes" if found.is_changed else ""
    return tag("span", f"{found.repository} at ", shown, changed, cls="checkout")


def _cluster(cluster: Cluster, many: bool, page: SharedContext) -> Html | None:
    lines = capacity_lines(cluster)
    if not lines and not any(t.nodes for t in trees_of(cluster)):
        return None
    look = PageContext(cluster, page)
    return tag(
        "section",
        tag("h2", f"Cluster {cluster.name}" if many else "Quota and nodes"),
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
    """Yield the cost of the nodes if the settings have prices."""
    found = cost_of(cluster)
    if found is None:
        return
    yield tag("h3", cost.TITLE)
    yield table(cost.HEADERS, cost.cost_rows(found))
    yield from (tag("p", note, cls="quiet") for note in (cost.NOTE, cost.unpriced(found)) if note)


def _tree(tree: QuotaTree, look: PageContext) -> Html:
    return tag("div", tag("h3", f"What {title_of(tree.scheduler)} sees"), list(quota_view(tree, look)), cls="view")


def _sum(cluster: Cluster, resource: str) -> Html | None:
    """Return the sum of the promises, and how much of it the nodes cover."""
    held = device_pictures(cluster, resource)
    if not held.promised:
        return None
    beyond = sum(held.beyond.values())
    numbers = [
        (held.promised, "promised by quota", ""),
        (held.promised - held.added - beyond - held.unknown, "have nodes now", ""),
        *([(held.added, "need nodes that could be added", "warn")] if held.added else ()),
        *([(held.unknown, "on nodes that are not known", "")] if held.unknown else ()),
        (beyond, "have no nodes", "bad" if beyond else "good"),
    ]
    return tag(
        "div",
        tag("div", resource, cls="sum-of"),
        [tag("div", tag("b", f"{n:,}"), tag("span", words), cls=f"sum {cls}") for n, words, cls in numbers],
        cls="sums",
    )


def _legend(cluster: Cluster, look: PageContext) -> Html:
    """Return the legend: the queues, and what else occupies devices."""
    pictures = [g for r in pictured_resources(cluster) for g in device_pictures(cluster, r).groups]
    seen = {look.of_slice(s) for g in pictures for n in g.nodes for s in n.slices}
    kinds = [k for k in (("daemon", "DaemonSet"), ("kept", "reserve"), ("free", "free")) if k[0] in seen]
    shown = [(look.of(name), name) for name in look.names] + kinds
    items = [tag("span", tag("i", cls=cls), name) for cls, name in shown]
    note = "Placed in order of size: on the cluster, the order of arrival decides which pod gets which node."
    return tag("div", items, tag("div", note, cls="quiet"), cls="legend")


def _findings(groups: Sequence[Group], many: bool) -> Iterator[Html]:
    """Yield numbered cards; consequences are folded into the card of their cause."""
    if not groups:
        return
    yield tag("h2", "Findings in detail")
    numbered, number = [], 1
    for group in groups:
        numbered.append((number, group))
        number += 1 + len(group.followers)
    shown = [(n, g) for n, g in numbered if n <= MOST_CARDS]
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
    return tag("section", tag("h2", "By rule"), table(("count", "severity", "rule"), rows))


def _quiet(result: Result) -> Iterator[Html]:
    unknown = [tag("li", tag("b", what), f": {why}") for what, why in not_judged(result)]
    if unknown:
        yield tag("section", tag("h2", "Not judged"), tag("ul", unknown, cls="quiet"))
