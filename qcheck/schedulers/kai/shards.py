"""KAI's shards: the queues, nodes and jobs of each KAI scheduler, and the amounts to divide.

A shard with a partition value selects objects with that value in the node-pool label; one without selects objects that
lack the label.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from qcheck.cluster.kai import Dimension, KaiNames, KaiQueue, SchedulingShard, partition_of
from qcheck.cluster.problems import NODES
from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import view
from qcheck.packing.shared_devices import memory_of_device
from qcheck.schedulers.kai.hierarchy import Hierarchy, HierarchyQueue, Share
from qcheck.schedulers.kai.jobs import jobs_of
from qcheck.supply.groups import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kai.jobs import KaiJob
    from qcheck.supply.groups import NodeGroup

FULL_HIERARCHY = "full-hierarchy-fairness"
FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""Words that Go parses as false."""
FLAT_ROOT = "default"
"""The queue that KAI adds above all others in a flat shard."""
LARGEST = 10**300
RESOURCES = {Dimension.GPU: GPU, Dimension.CPU: "cpu", Dimension.MEMORY: "memory"}
"""The node resource of each dimension."""
CHART_QUEUES = ("default-queue", "default-parent-queue")
"""Queues that KAI's chart creates by default."""


class Shard(Value, cached=True):
    """One scheduler's view. `spec` is None if no SchedulingShard is declared for the partition.

    A flat shard does not use the full hierarchy: it ignores queues without a parent, and all others are siblings below
    one queue without bounds.
    """

    name: str
    partition: str
    spec: SchedulingShard | None
    queues: tuple[KaiQueue, ...]
    pool: QuotaPool
    groups: tuple[NodeGroup, ...]
    is_whole: bool
    """True if all nodes of every group belong to the shard, as far as their labels are known."""
    is_flat: bool = False

    @cached_property
    def queue(self) -> dict[str, KaiQueue]:
        """The shard's queues by name."""
        return {queue.name: queue for queue in self.queues}

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The queues as the division sees them; those without a known parent are omitted."""
        if not self.is_flat:
            return Hierarchy(_member(queue) for queue in self.queues)
        unbounded = Share(quota=-1.0, limit=-1.0, weight=1.0)
        root = HierarchyQueue(name=FLAT_ROOT, parent="", terms=dict.fromkeys(Dimension, unbounded))
        return Hierarchy([root, *(replace(_member(queue), parent=FLAT_ROOT) for queue in self.queues)])

    def children(self, name: str) -> list[KaiQueue]:
        """Return the direct children of a queue; for "" those at the top."""
        return self._children.get(name, [])

    @cached_property
    def _children(self) -> dict[str, list[KaiQueue]]:
        found: dict[str, list[KaiQueue]] = {}
        for queue in self.queues:
            found.setdefault(queue.parent, []).append(queue)
        return found

    @cached_property
    def inner(self) -> frozenset[str]:
        """The names of queues that are parents; they run no jobs."""
        return frozenset(queue.parent for queue in self.queues if queue.parent)

    @cached_property
    def leaves(self) -> tuple[KaiQueue, ...]:
        """The queues that run jobs."""
        return tuple(queue for queue in self.queues if queue.name not in self.inner)

    @cached_property
    def first_leaf(self) -> str:
        """The first name among the queues that run jobs."""
        return min((queue.name for queue in self.leaves), default="")

    def path(self, name: str) -> list[KaiQueue]:
        """Return a queue and its ancestors, up to the top or to a missing parent."""
        found: dict[str, KaiQueue] = {}
        while name in self.queue and name not in found:
            found[name] = self.queue[name]
            name = self.queue[name].parent
        return list(found.values())

    @property
    def k(self) -> float:
        """The weight of past usage; 0 if none is read."""
        if self.spec is None or self.spec.usage is None:
            return 0.0
        return max(0.0, self.k_value)

    @property
    def k_value(self) -> float:
        """The kValue that the division uses: the plugin's arguments replace the shard's own."""
        spec = self.spec
        proportion = spec.plugin("proportion") if spec else None
        if proportion is not None and proportion.arguments is not None:
            return number_or(proportion.arguments.get("kValue"), 1.0)
        return 1.0 if spec is None or spec.k is None else double(spec.k)

    def static(self, dimension: Dimension) -> int:
        """Return the static capacity in base units: allocatable minus DaemonSets and reserves."""
        resource = RESOURCES[dimension]
        return sum(group.static_supply(resource) for group in self.groups)

    def ceiling(self, dimension: Dimension) -> int | None:
        """Return the ceiling in base units; None if nothing bounds it."""
        resource, total = RESOURCES[dimension], 0
        for group in self.groups:
            supplied = group.ceiling_supply(resource)
            if supplied is None:
                return None
            total += supplied
        return total

    @property
    def largest_gpu_memory(self) -> int | None:
        """The memory of the largest GPU, in MiB; None unless the labels of all GPU nodes state it."""
        return max(self._gpu_memories, default=None)

    @property
    def smallest_gpu_memory(self) -> int | None:
        """The memory of the smallest GPU, in MiB; None unless the labels of all GPU nodes state it."""
        return min(self._gpu_memories, default=None)

    @cached_property
    def _gpu_memories(self) -> tuple[int, ...]:
        classes = [c for g in self.groups for c in g.classes if c.machine.allocatable.get(GPU)]
        sizes = [memory_of_device(c.labels) for c in classes]
        known = [s for s in sizes if s]
        return tuple(known) if len(known) == len(sizes) and self.is_known(Dimension.GPU) else ()

    def is_known(self, dimension: Dimension) -> bool:
        """Return whether the capacity is known from the nodes."""
        resource = RESOURCES[dimension]
        return bool(self.groups) and all(g.is_known and all(c.knows(resource) for c in g.classes) for g in self.groups)


def number_or(text: str | None, default: float) -> float:
    try:
        return default if text is None else float(text)
    except ValueError:
        return default


def double(amount: Fraction | int) -> float:
    """Return an amount as KAI's double; excessive amounts become the largest double that leaves room for additions."""
    return float(max(-LARGEST, min(LARGEST, amount)))


def _member(queue: KaiQueue) -> HierarchyQueue:
    shares = {
        dimension: Share(quota=double(terms.quota), limit=double(terms.limit), weight=double(terms.weight))
        for dimension, terms in queue.terms.items()
    }
    created = 0.0 if queue.created is None else float(queue.created)
    return HierarchyQueue(name=queue.name, parent=queue.parent, terms=shares, priority=queue.priority, created=created)


@view
def shards_of(cluster: Cluster) -> tuple[Shard, ...]:
    """Return the declared shards, and those that only queues name; the one without a partition comes first."""
    names = cluster.kai_names
    pools = (pool for pool in cluster.quota_pools.values() if pool.scheduler is SchedulerName.KAI)
    return tuple(_shard(cluster, names, pool) for pool in pools)


def shard_of(cluster: Cluster, partition: str) -> Shard | None:
    """Return the shard of a partition; None if neither a SchedulingShard nor a queue names it."""
    return next((shard for shard in shards_of(cluster) if shard.partition == partition), None)


def _shard(cluster: Cluster, names: KaiNames, pool: QuotaPool) -> Shard:
    partition = pool.node_labels.get(names.node_pool_label, "")
    matches = supply_of(cluster).matches(pool.key)
    spec = next((s for s in cluster.kai_shards if s.partition == partition), None)
    queues = tuple(q for q in cluster.kai_queues if partition_of(q.labels, names) == partition)
    is_flat = _is_flat(cluster, spec)
    return Shard(
        name=pool.name,
        partition=partition,
        spec=spec,
        queues=tuple(replace(q, parent="") for q in queues if q.parent) if is_flat else queues,
        pool=pool,
        groups=tuple(m.group for m in matches),
        is_whole=all(m.how_many == ALL for m in matches) and cluster.has_all(NODES),
        is_flat=is_flat,
    )


def _is_flat(cluster: Cluster, spec: SchedulingShard | None) -> bool:
    """Return whether the settings or an argument of the shard's scheduler turn off the full hierarchy."""
    configured = cluster.policy.kai.full_hierarchy
    if configured is not None:
        return not configured
    return spec is not None and spec.arguments.get(FULL_HIERARCHY, "true") in FALSE


@view
def jobs_by_queue(cluster: Cluster) -> dict[tuple[str, str], list[KaiJob]]:
    """Return the jobs at and below each queue, by partition and queue."""
    found: dict[tuple[str, str], list[KaiJob]] = {}
    for job in jobs_of(cluster):
        shard = shard_of(cluster, job.partition)
        if job.is_scheduled and shard is not None:
            for queue in shard.path(job.queue.name):
                found.setdefault((shard.partition, queue.name), []).append(job)
    return found


def jobs_at(cluster: Cluster, shard: Shard, queue: KaiQueue) -> list[KaiJob]:
    """Return the jobs at and below a queue."""
    return jobs_by_queue(cluster).get((shard.partition, queue.name), [])


def siblings(shard: Shard) -> Iterator[tuple[KaiQueue | None, list[KaiQueue]]]:
    """Yield each level of the tree: the parent (None at the top) and its direct children."""
    top = [q for q in shard.queues if not q.parent]
    if top:
        yield None, top
    for queue in shard.queues:
        below = shard.children(queue.name)
        if below:
            yield queue, below
