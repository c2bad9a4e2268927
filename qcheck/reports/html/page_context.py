"""What all parts of a page share for one cluster: the colour of each queue, and links to findings."""

from __future__ import annotations

from qcheck.answers.node_pictures import DAEMON_SET, QUEUE, RESERVE
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.table import trees_of

if TYPE_CHECKING:
    from qcheck.answers.node_pictures import DeviceSlice
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.reports.html.links import Links
    from qcheck.reports.html.markup import Html

MANY = 10
"""Colours in the style sheet; further queues begin again, with a pattern."""


class PageContext:
    """Style classes of the queues and cohorts of a cluster, in order of the files, and links from places to findings."""

    def __init__(self, cluster: Cluster, links: Links) -> None:
        self._cluster = cluster.name
        self._links = links
        nodes = [n for t in trees_of(cluster) for n in t.nodes if any(c.promised for c in n.cells)]
        names = list(dict.fromkeys(n.title for n in nodes))
        self._classes = {name: f"q{i % MANY}" + (" again" if i >= MANY else "") for i, name in enumerate(names)}

    def of(self, name: str) -> str:
        return self._classes.get(name, "none")

    def of_slice(self, held: DeviceSlice) -> str:
        if held.kind == QUEUE:
            return self.of(held.holder)
        return {DAEMON_SET: "daemon", RESERVE: "kept"}.get(held.kind, "free")

    def links(self, *places: Place) -> Html | None:
        """Links to the findings that speak of some places."""
        return self._links.to(places, self._cluster)

    @property
    def names(self) -> list[str]:
        return list(self._classes)
