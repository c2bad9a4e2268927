"""KAI's shards: which queues, nodes and jobs each scheduler of KAI looks at, and what there is to divide.

A shard with a partition value selects what carries that value in the node-pool label; one without selects what does not
carry the label at all.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from qcheck.cluster.kai import Dimension, KaiNames, KaiQueue, SchedulingShard
from qcheck.cluster.labels import NodeSelection
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.schedulers.kai.hierarchy import Hierarchy, Member, Share
from qcheck.supply.eligibility import select
from qcheck.supply.groups import ALL, NONE, SOME
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.groups import NodeClass, NodeGroup

DEFAULT_SHARD = "default"
"""The shard that KAI's chart creates: it has no partition value."""
GPU = "nvidia.com/gpu"
RESOURCES = {Dimension.GPU: GPU, Dimension.CPU: "cpu", Dimension.MEMORY: "memory"}
"""The resource that each dimension counts on the nodes."""
CHART_QUEUES = ("default-queue", "default-parent-queue")
"""Queues that KAI's chart creates unless told otherwise."""


class Shard(Value, cached=True):
    """One scheduler's view. `spec` is None where no SchedulingShard is written for the partition."""

    name: str
    partition: str
    spec: SchedulingShard | None
    queues: tuple[KaiQueue, ...]
    groups: tuple[NodeGroup, ...]
    is_whole: bool
    """Whether all nodes of every group belong to the shard, as far as their labels are known."""

    @cached_property
    def queue(self) -> dict[str, KaiQueue]:
        """The shard's queues by name."""
        return {queue.name: queue for queue in self.queues}

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The queues as the division sees them; those without a known parent are left out."""
        return Hierarchy(_member(queue) for queue in self.queues)

    def children(self, name: str) -> list[KaiQueue]:
        """The queues directly below a queue; below "" those at the top."""
        return [queue for queue in self.queues if queue.parent == name]

    @cached_property
    def inner(self) -> frozenset[str]:
        """The names of queues that are parents; they run no jobs."""
        return frozenset(queue.parent for queue in self.queues if queue.parent)

    @property
    def leaves(self) -> tuple[KaiQueue, ...]:
        """The queues that run jobs."""
        return tuple(queue for queue in self.queues if queue.name not in self.inner)

    def path(self, name: str) -> list[KaiQueue]:
        """A queue and its ancestors, up to the top or to a missing parent."""
        found: list[KaiQueue] = []
        while name in self.queue and self.queue[name] not in found:
            found.append(self.queue[name])
            name = self.queue[name].parent
        return found

    @property
    def k(self) -> float:
        """How strongly past usage counts; 0 where none is read."""
        if self.spec is None or self.spec.usage is None:
            return 0.0
        return max(0.0, self.k_value)

    @property
    def k_value(self) -> float:
        """The kValue that reaches the division: arguments of the plugin replace the shard's own."""
        spec = self.spec
        proportion = spec.plugin("proportion") if spec else None
        if proportion is not None and proportion.arguments is not None:
            return _double(proportion.arguments.get("kValue"), 1.0)
        return 1.0 if spec is None or spec.k is None else float(spec.k)

    def static(self, dimension: Dimension) -> int:
        """What is there now, in base units: allocatable minus DaemonSets and reserves."""
        resource = RESOURCES[dimension]
        return sum(group.static_supply(resource) for group in self.groups)

    def ceiling(self, dimension: Dimension) -> int | None:
        """The most there can be, in base units; None where nothing bounds it."""
        resource, total = RESOURCES[dimension], 0
        for group in self.groups:
            supplied = group.ceiling_supply(resource)
            if supplied is None:
                return None
            total += supplied
        return total

    def is_known(self, dimension: Dimension) -> bool:
        """Whether the nodes tell how much there is."""
        resource = RESOURCES[dimension]
        return bool(self.groups) and all(g.is_known and all(c.knows(resource) for c in g.classes) for g in self.groups)


def _double(text: str | None, default: float) -> float:
    try:
        return default if text is None else float(text)
    except ValueError:
        return default


def _member(queue: KaiQueue) -> Member:
    shares = {
        dimension: Share(quota=float(terms.quota), limit=float(terms.limit), weight=float(terms.weight))
        for dimension, terms in queue.terms.items()
    }
    created = 0.0 if queue.created is None else float(queue.created)
    return Member(name=queue.name, parent=queue.parent, terms=shares, priority=queue.priority, created=created)


@view
def shards_of(cluster: Cluster) -> tuple[Shard, ...]:
    """The shards that are written, and those that queues name without one; the one without a partition comes first."""
    names = cluster.kai_names
    written = {shard.partition: shard for shard in cluster.kai_shards}
    partitions = {partition_of(queue.labels, names) for queue in cluster.kai_queues}
    return tuple(_shard(cluster, names, p, written.get(p)) for p in sorted(partitions | written.keys()))


def partition_of(labels: Mapping[str, str], names: KaiNames) -> str:
    """The partition that a label puts an object in; "" without the label."""
    return labels.get(names.node_pool_label, "")


def shard_of(cluster: Cluster, partition: str) -> Shard | None:
    """The shard of a partition; None where neither a SchedulingShard nor a queue names it."""
    return next((shard for shard in shards_of(cluster) if shard.partition == partition), None)


def _shard(cluster: Cluster, names: KaiNames, partition: str, spec: SchedulingShard | None) -> Shard:
    matches = [(g, _how_many(g, names.node_pool_label, partition)) for g in supply_of(cluster).groups]
    return Shard(
        name=spec.name if spec else partition or DEFAULT_SHARD,
        partition=partition,
        spec=spec,
        queues=tuple(q for q in cluster.kai_queues if partition_of(q.labels, names) == partition),
        groups=tuple(group for group, how_many in matches if how_many != NONE),
        is_whole=all(how_many != SOME for _, how_many in matches),
    )


def _how_many(group: NodeGroup, label: str, partition: str) -> int:
    """How many nodes of a group belong to a partition: `NONE`, `SOME` or `ALL`."""
    answers = {_selects(c, label, partition) for c in group.classes}
    if not group.classes and group.pool is not None:
        answers = {_selected(group.pool.labels, group.pool.varying, label, partition)}
    if answers <= {NONE}:
        return NONE
    return ALL if answers == {ALL} else SOME


def _selects(node_class: NodeClass, label: str, partition: str) -> int:
    return _selected(node_class.labels, node_class.varying, label, partition)


def _selected(labels: Mapping[str, str], varying: Mapping[str, tuple[str, ...]], label: str, partition: str) -> int:
    if partition:
        return select(NodeSelection({label: partition}), dict(labels), varying)
    return NONE if label in labels or label in varying else ALL


def amount(terms_amount: Fraction, total: Fraction | int) -> Fraction:
    """A quota as a number: one without bound is the total."""
    return Fraction(total) if terms_amount == -1 else terms_amount


def siblings(shard: Shard) -> Iterator[tuple[KaiQueue | None, list[KaiQueue]]]:
    """Each level of the tree: the parent (None at the top) and the queues directly below it."""
    top = [q for q in shard.queues if not q.parent]
    if top:
        yield None, top
    for queue in shard.queues:
        below = shard.children(queue.name)
        if below:
            yield queue, below
