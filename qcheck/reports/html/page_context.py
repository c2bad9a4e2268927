"""The common context of a page: a colour for each queue, a scale for each flavor, and links from places to findings."""

from __future__ import annotations

from qcheck.answers.capacity import capacity_lines
from qcheck.answers.node_pictures import SliceKind
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.table import trees_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.answers.capacity import CapacityLine
    from qcheck.answers.node_pictures import DeviceSlice
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.quota.tree import Cell, QuotaNode
    from qcheck.reports.html.links import Links
    from qcheck.reports.html.markup import Html

MANY = 10
"""The number of colours in the style sheet; further queues reuse them with a pattern."""


class SharedContext:
    """The queues of all clusters of a page, so that each queue has one colour and each flavor one scale everywhere."""

    def __init__(self, clusters: Sequence[Cluster], links: Links) -> None:
        self.links = links
        names = dict.fromkeys(name for cluster in clusters for name in holders(cluster))
        self.classes = {name: f"q{i % MANY}" + (" again" if i >= MANY else "") for i, name in enumerate(names)}
        self._scales: dict[tuple[str, str], int] = {}
        for cluster in clusters:
            self._measure(cluster)

    def _measure(self, cluster: Cluster) -> None:
        for line in capacity_lines(cluster):
            there = max(line.static or 0, line.ceiling or 0) + line.daemon_sets + line.reserves
            self._stretch(line.pool, line.resource, max(line.nominal, there))
        for tree in trees_of(cluster):
            for cell in (c for node in tree.nodes for c in node.cells):
                self._stretch(cell.pool, cell.resource, cell.entitled + (cell.borrowable or 0))

    def _stretch(self, pool: str, resource: str, amount: int) -> None:
        self._scales[pool, resource] = max(1, amount, self._scales.get((pool, resource), 0))

    def scale(self, pool: str, resource: str) -> int:
        """Return the amount that the full width of a flavor's bar represents."""
        return self._scales[pool, resource]


def holders(cluster: Cluster) -> list[str]:
    """Return the queues and cohorts of a cluster that hold quota, in the order of the files."""
    nodes = [n for t in trees_of(cluster) for n in t.nodes if any(c.promised for c in n.cells)]
    return list(dict.fromkeys(map(holder_of, nodes)))


def holder_of(node: QuotaNode) -> str:
    """Return the name of a queue or cohort in sums."""
    return next((c.holder for c in node.cells), node.title)


class PageContext:
    """The page context of one cluster."""

    def __init__(self, cluster: Cluster, page: SharedContext) -> None:
        self._cluster = cluster.name
        self._page = page
        self.names = holders(cluster)

    def of(self, name: str) -> str:
        """Return the style class of a queue or cohort."""
        return self._page.classes.get(name, "none")

    def of_slice(self, held: DeviceSlice) -> str:
        if held.kind is SliceKind.QUEUE:
            return self.of(held.holder)
        return {SliceKind.DAEMON_SET: "daemon", SliceKind.RESERVE: "kept"}.get(held.kind, "free")

    def scale(self, of: Cell | CapacityLine) -> int:
        return self._page.scale(of.pool, of.resource)

    def links(self, *places: Place) -> Html | None:
        """Return links to the findings about anything in these places."""
        return self._page.links.to(places, self._cluster)
