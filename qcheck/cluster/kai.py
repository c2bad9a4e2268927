"""Objects of KAI Scheduler: queues, pod groups, shards, topologies and the operator's configuration."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from qcheck.cluster.objects import Object
from qcheck.cluster.place import Place
from qcheck.cluster.policy import KAI_QUEUE_LABEL, KAI_SCHEDULER
from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.labels import Labels
    from qcheck.cluster.policy import KaiPolicy

UNLIMITED = Fraction(-1)
"""The quota or limit that means "no bound"."""
MEGABYTE = 1_000_000
NODE_POOL_LABEL = "kai.scheduler/node-pool"


class Dimension(Enum):
    """The three resources that KAI divides."""

    GPU = "gpu"
    """Base unit: GPUs; fractions are allowed."""
    CPU = "cpu"
    """Base unit: millicores."""
    MEMORY = "memory"
    """Base unit: bytes. A queue states 10^6 bytes."""


class KaiTerms(Value):
    """The amounts of a queue for one resource, as written; an absent field is 0. `place` is the resource's mapping."""

    dimension: Dimension
    place: Place
    written_quota: Fraction = Fraction(0)
    written_limit: Fraction = Fraction(0)
    weight: Fraction = Fraction(0)

    @property
    def quota(self) -> Fraction:
        """The quota in base units, or `UNLIMITED`."""
        return self._in_base_units(self.written_quota)

    @property
    def limit(self) -> Fraction:
        """The limit in base units, or `UNLIMITED`."""
        return self._in_base_units(self.written_limit)

    def _in_base_units(self, written: Fraction) -> Fraction:
        """Convert an amount to base units.

        KAI reads every negative amount of memory as -1 and keeps other resources.
        """
        if self.dimension is not Dimension.MEMORY:
            return written
        return max(UNLIMITED, written * MEGABYTE)

    @property
    def quota_place(self) -> Place:
        return self.place.at("quota")

    @property
    def limit_place(self) -> Place:
        return self.place.at("limit")

    @property
    def weight_place(self) -> Place:
        return self.place.at("overQuotaWeight")


class KaiQueue(Object):
    """A queue of KAI. `min_runtimes`: protection from `preempt` and `reclaim`, as written.

    `created`: seconds since the epoch.
    """

    parent: str
    terms: dict[Dimension, KaiTerms]
    priority: int = 100
    min_runtimes: dict[str, str] = {}
    created: int | None = None

    @property
    def parent_place(self) -> Place:
        return self.place.at("spec", "parentQueue")

    def min_runtime_place(self, kind: str) -> Place:
        """Return the place of the protection from `preempt` or `reclaim`."""
        return self.place.at("spec", f"{kind}MinRuntime")


class TopologyConstraint(Value):
    """The topology that pods request: the names of a Topology and its levels (labels or aliases)."""

    place: Place
    topology: str
    required: str = ""
    preferred: str = ""

    def levels(self) -> Iterator[str]:
        """The levels that the constraint names."""
        return (level for level in (self.required, self.preferred) if level)


class SubGroup(Value):
    """A part of a pod group."""

    name: str
    place: Place
    parent: str | None = None
    min_member: int | None = None
    topology: TopologyConstraint | None = None


class KaiPodGroup(Object):
    """A pod group from a manifest; the pod grouper creates all others."""

    queue: str
    min_member: int | None = None
    priority_class: str = ""
    preemptibility: str = ""
    preemption_delay: str | None = None
    topology: TopologyConstraint | None = None
    sub_groups: tuple[SubGroup, ...] = ()


class KaiPlugin(Value):
    """A plugin or action as configured by a shard; `arguments` is None if the defaults apply."""

    name: str
    place: Place
    is_enabled: bool = True
    arguments: dict[str, str] | None = None


class UsageSource(Value):
    """A shard's source of past usage; `params` holds the scalar fields of `usageParams`, `query` its `extraParams`."""

    place: Place
    client: str
    connections: tuple[str, ...]
    params: dict[str, str]
    misplaced: tuple[str, ...] = ()
    query: dict[str, str] = {}

    @property
    def params_place(self) -> Place:
        return self.place.at("usageParams")


class SchedulingShard(Object):
    """One scheduler and its nodes, queues and pod groups."""

    partition: str
    k: Fraction | None = None
    arguments: dict[str, str] = {}
    plugins: tuple[KaiPlugin, ...] = ()
    actions: tuple[KaiPlugin, ...] = ()
    min_runtimes: dict[str, str] = {}
    placement: dict[str, str] = {}
    usage: UsageSource | None = None

    def plugin(self, name: str) -> KaiPlugin | None:
        """Return the shard's settings for a plugin."""
        return next((p for p in self.plugins if p.name == name), None)

    def runs(self, action: str) -> bool:
        """Return whether the shard's scheduler performs an action, such as `reclaim`."""
        return all(a.is_enabled for a in self.actions if a.name == action)


class KaiTopology(Object):
    """A hierarchy of domains; `levels` are node labels from coarse to fine, each with its alias or an empty string."""

    levels: tuple[tuple[str, str], ...]

    def knows(self, level: str) -> bool:
        """Return whether a level has this label or alias."""
        return any(level in (label, alias) for label, alias in self.levels)


class KaiConfig(Object):
    """The operator's configuration, limited to what affects queues; a field is None if the default applies."""

    gpu_sharing: bool | None = None
    scheduler_name: str | None = None
    queue_label: str | None = None
    node_pool_label: str | None = None
    has_prometheus: bool = False
    """True if shards without a connection of their own get one."""


class KaiNames(Value):
    """KAI's names in a cluster: its scheduler name and its label keys."""

    scheduler: str = KAI_SCHEDULER
    queue_label: str = KAI_QUEUE_LABEL
    node_pool_label: str = NODE_POOL_LABEL


def names_of(policy: KaiPolicy, configs: tuple[KaiConfig, ...]) -> KaiNames:
    """Return KAI's names: from the settings, else from the operator's configuration, else the defaults."""
    found = next(iter(configs), None)
    usual = KaiNames()
    return KaiNames(
        scheduler=policy.scheduler_name or (found and found.scheduler_name) or usual.scheduler,
        queue_label=policy.queue_label or (found and found.queue_label) or usual.queue_label,
        node_pool_label=policy.node_pool_label or (found and found.node_pool_label) or usual.node_pool_label,
    )


DEFAULT_SHARD = "default"
"""The shard that KAI's chart creates; it has no partition value."""


def partition_of(labels: Labels, names: KaiNames) -> str:
    """Return the partition that an object's label assigns it to; "" without the label."""
    return labels.get(names.node_pool_label, "")


def shard_pools(shards: Iterable[SchedulingShard], queues: Iterable[KaiQueue], names: KaiNames) -> Iterator[QuotaPool]:
    """Yield the nodes of each declared shard and of each partition that queues name but no shard declares."""
    written = {shard.partition: shard for shard in shards}
    first: dict[str, Object] = {}
    for queue in queues:
        first.setdefault(partition_of(queue.labels, names), queue)
    for partition in sorted(written.keys() | first.keys()):
        shard = written.get(partition)
        home = (shard or first[partition]).place
        yield QuotaPool(
            key=pool_key(shard.name if shard else partition),
            name=shard.name if shard else partition or DEFAULT_SHARD,
            word="shard",
            scheduler=SchedulerName.KAI,
            node_labels={names.node_pool_label: partition} if partition else {},
            absent_labels=() if partition else (names.node_pool_label,),
            place=home,
            labels_place=home.at("spec", "partitionLabelValue") if shard else home.at("metadata", "labels"),
        )


def pool_key(shard: str) -> str:
    """Return the key of a shard's nodes in `Cluster.quota_pools`."""
    return f"{SchedulerName.KAI}/{shard or DEFAULT_SHARD}"
