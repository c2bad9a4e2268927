"""Volcano's queues as its scheduler sees them: their hierarchy, and the plugins that divide the cluster among them."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.cluster.volcano import (
    DEFAULT,
    DEFAULT_SCHEDULER,
    NODE_GROUPS,
    ROOT,
    NodeGroupTerms,
    VolcanoQueue,
    VolcanoScheduler,
    node_terms,
    path,
)
from qcheck.schedulers.volcano.division import VolcanoTerms
from qcheck.schedulers.volcano.stored_queue import StoredQueue
from qcheck.schedulers.volcano.webhook import is_counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.cluster import Cluster


class Queues(Value, cached=True):
    """All declared queues. `is_assumed`: no scheduler configuration was read, so the default applies."""

    scheduler: VolcanoScheduler
    is_assumed: bool
    declared: tuple[VolcanoQueue, ...]

    @cached_property
    def queue(self) -> dict[str, VolcanoQueue]:
        """The declared queues by name."""
        return {q.name: q for q in self.declared}

    def exists(self, name: str) -> bool:
        """Return whether a queue is declared, or created by the scheduler itself when it starts."""
        return name in self.queue or name in (ROOT, DEFAULT)

    @cached_property
    def _children(self) -> dict[str, list[VolcanoQueue]]:
        found: dict[str, list[VolcanoQueue]] = {}
        for queue in self.declared:
            if queue.name != ROOT:
                found.setdefault(queue.parent or ROOT, []).append(queue)
        return found

    def children(self, name: str) -> list[VolcanoQueue]:
        """Return the direct children of a queue."""
        return self._children.get(name, [])

    @cached_property
    def leaves(self) -> tuple[VolcanoQueue, ...]:
        """The queues that can hold jobs. Without a hierarchy, these are all queues except `root`."""
        return tuple(q for q in self.declared if q.name != ROOT and not (self.is_tree and self.children(q.name)))

    @cached_property
    def top(self) -> tuple[VolcanoQueue, ...]:
        """The queues whose amounts contain those of all others: directly below `root`, or all without a hierarchy."""
        return tuple(self.children(ROOT)) if self.is_tree else self.leaves

    @property
    def is_tree(self) -> bool:
        """Return whether amounts of parents bound those of children."""
        return self.scheduler.hierarchy

    def path(self, name: str) -> list[VolcanoQueue]:
        """Return a queue and its ancestors without `root`, each once."""
        return path(self.queue, name)

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Cycles of queues that are their own ancestors, each once, except queues that are their own parent."""
        found: dict[frozenset[str], tuple[str, ...]] = {}
        for queue in self.declared:
            line = self.path(queue.name)
            if len(line) > 1 and line[-1].parent == queue.name:
                found.setdefault(frozenset(q.name for q in line), tuple(q.name for q in line))
        return tuple(found.values())

    @cached_property
    def terms(self) -> tuple[VolcanoTerms, ...]:
        """All queues in the form that the division uses, including `root` and `default`."""
        implicit = [VolcanoTerms(name) for name in (ROOT, DEFAULT) if name not in self.queue]
        return (*(_terms(q) for q in self.declared), *implicit)

    @cached_property
    def stored(self) -> Mapping[str, StoredQueue]:
        """All queues in the form that the webhook uses."""
        return {q.name: _stored(q) for q in self.declared}

    def node_terms(self, name: str) -> NodeGroupTerms | None:
        """Return the node groups that a queue's pods are restricted to; None if any node will do."""
        return node_terms(self.queue, self.scheduler, name)

    @property
    def is_strict(self) -> bool:
        """Return whether queues that name no node group are also kept off nodes that are in none."""
        plugin = self.scheduler.plugin(NODE_GROUPS)
        return plugin is not None and plugin.arguments.get("strict", "true").lower() not in ("false", "0", "f")


def _terms(queue: VolcanoQueue) -> VolcanoTerms:
    amounts = {f: {r: a for r, a in listed.items() if is_counted(r)} for f, listed in queue.amounts.items()}
    return VolcanoTerms(queue.name, queue.weight, **amounts, parent=queue.parent or None)


def _stored(queue: VolcanoQueue) -> StoredQueue:
    return StoredQueue(
        queue.name,
        parent=queue.parent,
        capability=queue.capability,
        deserved=queue.deserved,
        guarantee=queue.guarantee,
        annotations=queue.annotations,
        state=queue.state,
    )


@view
def queues_of(cluster: Cluster) -> Queues:
    """Return Volcano's queues and the configuration that applies to them."""
    scheduler = cluster.volcano_scheduler
    return Queues(scheduler or DEFAULT_SCHEDULER, scheduler is None, cluster.volcano_queues)
