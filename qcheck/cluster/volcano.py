"""Volcano's objects: queues, pod groups, jobs, hyper nodes, job flows, and its scheduler's configuration."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.labels import LabelSelector
from qcheck.cluster.objects import Object, ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.pods import Quantities, in_base_units
from qcheck.cluster.policy import VOLCANO_SCHEDULER
from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"
"""The annotation that names the queue of pods that belong to no Volcano job and to no pod group in a manifest."""
GROUP_ANNOTATIONS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
NODE_GROUP_LABEL = "volcano.sh/nodegroup-name"
ROOT = "root"
DEFAULT = "default"
AMOUNTS = ("capability", "deserved", "guarantee")
"""The lists of amounts in a queue, the largest first."""


class NodeGroupTerms(Value):
    """The node groups that a queue's pods must use, prefer, must not use, or avoid."""

    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    avoided: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether no group is named."""
        return not (self.required or self.preferred or self.forbidden or self.avoided)

    def allows(self, group: str) -> bool:
        """Return whether pods may run on a group's nodes.

        Anti-affinity is evaluated last: `avoided` groups are always allowed.
        """
        wanted = group in self.required or group in self.preferred
        return (wanted and group not in self.forbidden) or group in self.avoided


class VolcanoQueue(Object, cached=True):
    """A queue of Volcano. `terms` None: any node.

    `reclaimable`: others may reclaim what it holds beyond its own quota. `state` is as written.
    """

    weight: int = 1
    capability: Quantities = {}
    deserved: Quantities = {}
    guarantee: Quantities = {}
    parent: str = ""
    priority: int = 0
    reclaimable: bool = True
    terms: NodeGroupTerms | None = None
    state: str = ""

    @cached_property
    def amounts(self) -> dict[str, dict[str, int]]:
        """The three lists of amounts in base units, without negative amounts, which the API server rejects."""
        return {field: {r: a for r, a in in_base_units(getattr(self, field)).items() if a >= 0} for field in AMOUNTS}

    @property
    def is_below_another(self) -> bool:
        """Return whether the queue names a parent other than `root`."""
        return self.parent not in ("", ROOT)

    @property
    def parent_place(self) -> Place:
        return self.place.at("spec", "parent")

    def place_of(self, field: str, resource: str | None = None) -> Place:
        """Return the place of a list of amounts, or of one of its amounts."""
        steps = ("spec", field, "resource") if field == "guarantee" else ("spec", field)
        at = self.place.at(*steps)
        return at if resource is None else at.at(resource)


class NetworkTopology(Value):
    """The proximity that a job's pods request: within a hyper node of at most this tier, or of this tier name."""

    place: Place
    is_hard: bool = True
    highest_tier: int | None = None
    highest_tier_name: str | None = None


class VolcanoPodGroup(Object):
    """A pod group from a manifest; Volcano creates all others. With `min_resources` None it is always enqueued."""

    queue: str
    queue_place: Place
    min_member: int = 0
    min_resources: Quantities | None = None
    priority_class: str | None = None
    topology: NetworkTopology | None = None


class VolcanoJob(Workload):
    """A Job of Volcano, or a template of one.

    `min_available`: the pods that must start together; `minimums`: those of each task. `queue` is Kueue's queue and
    always empty; `queue_place` is where Volcano's queue is written.
    """

    volcano_queue: str = DEFAULT
    min_available: int = 0
    minimums: tuple[int, ...] = ()
    scheduler: str = VOLCANO_SCHEDULER
    topology: NetworkTopology | None = None
    together_place: Place | None = None


class NamePattern(Value):
    """A regular expression and its match function, which is None if the pattern cannot be evaluated: any name may match."""

    text: str
    matches: Callable[[str], bool] | None


class HyperNodeMember(Value):
    """One selector of a hyper node: by exact name, regular expression or labels, of nodes or of hyper nodes."""

    place: Place
    is_node: bool
    exact: str | None = None
    pattern: NamePattern | None = None
    labels: LabelSelector | None = None


class HyperNode(Object):
    """Nodes that are close to each other in the network, or hyper nodes of lower tiers."""

    tier: int
    tier_name: str
    members: tuple[HyperNodeMember, ...]


class Flow(Value):
    """One step of a job flow: the template that it starts, and the steps that it waits for."""

    name: str
    place: Place
    waits_for: tuple[str, ...] = ()


class JobFlow(Object):
    flows: tuple[Flow, ...]


class SchedulerPlugin(Value):
    """A plugin in the scheduler's configuration; `place` is None in the default configuration.

    `tier` counts from 0; `options` are its switches, as written.
    """

    name: str
    tier: int
    place: Place | None = None
    options: dict[str, bool] = {}
    arguments: dict[str, str] = {}

    def is_on(self, option: str, default: bool = True) -> bool:
        """Return whether a switch is on; most are on by default."""
        return self.options.get(option, default)


class VolcanoScheduler(Value, cached=True):
    """The scheduler's configuration: actions in order, plugins tier by tier. `place` None: the default."""

    actions: tuple[str, ...]
    plugins: tuple[SchedulerPlugin, ...]
    place: Place | None = None
    actions_place: Place | None = None
    object: ObjectId | None = None

    def plugin(self, name: str) -> SchedulerPlugin | None:
        """Return the first plugin with a name."""
        return next((p for p in self.plugins if p.name == name), None)

    @cached_property
    def reclaims(self) -> bool:
        """Return whether queues reclaim their quota from each other."""
        return not {"reclaim", "gangreclaim"}.isdisjoint(self.actions)

    @cached_property
    def preempts(self) -> bool:
        """Return whether jobs preempt other jobs of the same queue."""
        return not {"preempt", "gangpreempt"}.isdisjoint(self.actions)

    @cached_property
    def by_capacity(self) -> bool:
        """Return whether the capacity plugin divides the cluster. If proportion is on as well, both gates apply."""
        return self.plugin("capacity") is not None

    @cached_property
    def by_weight(self) -> bool:
        return self.plugin("proportion") is not None

    @cached_property
    def hierarchy(self) -> bool:
        """Return whether the capacity plugin divides from parent to child; a misspelled switch counts as intended."""
        capacity = self.plugin("capacity")
        return capacity is not None and any(capacity.is_on(key, default=False) for key in HIERARCHY_KEYS)


DEFAULT_SCHEDULER = VolcanoScheduler(
    ("enqueue", "allocate", "backfill"),
    tuple(
        SchedulerPlugin(name, tier)
        for tier, names in enumerate(
            (
                ("priority", "gang", "conformance"),
                ("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"),
            )
        )
        for name in names
    ),
)
"""The configuration that the chart installs. The scheduler's own default is the same without binpack."""
HIERARCHY_KEY = "enableHierarchy"
HIERARCHY_KEYS = (HIERARCHY_KEY, "enabledHierarchy")
"""The switch that the scheduler reads, and a spelling after the field in its code, which it does not read."""
NODE_GROUPS = "nodegroup"
"""The plugin that restricts queues to node groups."""
ALL_NODES = "all"
"""The name of the pool of all nodes, used if no node group applies."""


def path(queues: Mapping[str, VolcanoQueue], name: str) -> list[VolcanoQueue]:
    """Return a queue and its ancestors without `root`, up to an undeclared parent; in a cycle, each queue once."""
    line: list[VolcanoQueue] = []
    at = queues.get(name)
    while at is not None and at.name != ROOT and at not in line:
        line.append(at)
        at = queues.get(at.parent) if at.parent else None
    return line


def node_terms(queues: Mapping[str, VolcanoQueue], scheduler: VolcanoScheduler, name: str) -> NodeGroupTerms | None:
    """Return the node groups that a queue's pods are restricted to; None if the plugin is off and any node will do.

    With a hierarchy in the plugin, a queue that names none inherits those of its nearest ancestor that does.
    """
    plugin = scheduler.plugin(NODE_GROUPS)
    if plugin is None:
        return None
    line = path(queues, name)
    if not plugin.is_on(HIERARCHY_KEY, default=False):
        line = line[:1]
    return next((q.terms for q in line if q.terms is not None), NodeGroupTerms())


def pool_of(terms: NodeGroupTerms | None) -> str:
    """Return the node group that a queue is restricted to; all nodes if it may use none or several."""
    groups = set() if terms is None else {g for g in (*terms.required, *terms.preferred) if terms.allows(g)}
    return groups.pop() if len(groups) == 1 else ALL_NODES


def volcano_pools(declared: Iterable[VolcanoQueue], scheduler: VolcanoScheduler | None) -> Iterator[QuotaPool]:
    """Yield the node sets that queues are restricted to: each named node group, and all nodes for other queues."""
    queues = {q.name: q for q in declared}
    by = scheduler or DEFAULT_SCHEDULER
    anywhere = (q for q in queues.values() if q.name != ROOT and pool_of(node_terms(queues, by, q.name)) == ALL_NODES)
    for first in anywhere:
        yield _pool("pool", ALL_NODES, {}, first.place)
        break
    if by.plugin(NODE_GROUPS) is None:
        return
    named: dict[str, Place] = {}
    for queue in queues.values():
        for group in (*queue.terms.required, *queue.terms.preferred) if queue.terms else ():
            named.setdefault(group, queue.place.at("spec", "affinity", "nodeGroupAffinity"))
    for group in sorted(named):
        yield _pool("node group", group, {NODE_GROUP_LABEL: group}, named[group])


def _pool(word: str, name: str, labels: dict[str, str], place: Place) -> QuotaPool:
    return QuotaPool(
        key=pool_key(name),
        name=name,
        word=word,
        scheduler=SchedulerName.VOLCANO,
        node_labels=labels,
        place=place,
        labels_place=place,
    )


def pool_key(name: str) -> str:
    """Return the key of a node group in `Cluster.quota_pools`."""
    return f"{SchedulerName.VOLCANO}/{name}"
