"""The tree of a flavor's topology: domains by level, free amounts of leaves, and the pods that each domain holds.

It contains only nodes with the flavor's labels and every level's label. If the lowest level is the hostname, a leaf is
one node; otherwise the capacity of its nodes is summed and no individual node is considered.

Source: Kueue 0.19 `pkg/cache/scheduler/tas_topology_tree.go`, `fillInCounts` of `tas_flavor_snapshot.go`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.cluster.pods import Amounts

HOSTNAME = "kubernetes.io/hostname"
UNLIMITED = 2**31 - 1
"""The number of pods that fit if nothing limits them: Kueue counts in 32 bits."""

Usage = dict[str, "Amounts"]
"""The requests of placed pods, by the leaf's key."""


class Leaf(Value):
    """A domain of the lowest level. `values` are its level values, coarse to fine; `free` is what it has for pods.

    `key` identifies it across flavors: the hostname if the leaf is a node, else all its values.
    """

    values: tuple[str, ...]
    key: str
    free: Amounts


class Ask(Value):
    """A request for placement: `count` pods of `request` on the leaves `on` (None: all), beside one `leader` pod.

    * `level`, `slice_level`: indices of levels; a slice of `slice_size` pods shares a domain of `slice_level`.
    * `inner`: the size in multiples of which pods are spread at a level below the slice level.
    * `required`: all pods in one domain of `level`; `unconstrained`: any number of domains.
    * `least_free`: whether the domains with the least room come first.
    """

    request: Amounts
    count: int
    level: int
    slice_level: int
    slice_size: int = 1
    inner: dict[int, int] = {}
    required: bool = False
    unconstrained: bool = False
    least_free: bool = False
    leader: Amounts | None = None
    on: frozenset[str] | None = None


class TopologyDomain:
    """A domain of any level with the counts of one search. `slices` counts slices of the slice level's size."""

    __slots__ = (
        "children", "leaders", "leaf", "pods", "pods_with_leader", "slices", "slices_with_leader", "values",
    )  # fmt: skip

    def __init__(self, values: tuple[str, ...], leaf: Leaf | None = None) -> None:
        self.values = values
        self.leaf = leaf
        self.children: list[TopologyDomain] = []
        self.clear()

    def clear(self) -> None:
        self.pods = self.slices = self.leaders = 0
        self.pods_with_leader = self.slices_with_leader = 0


class TopologyTree:
    """The domains of a flavor, by level. One search at a time: `fill` starts it."""

    def __init__(self, levels: tuple[str, ...], leaves: Iterable[Leaf]) -> None:
        self.levels = levels
        self.by_level: list[list[TopologyDomain]] = [[] for _ in levels]
        known: dict[tuple[str, ...], TopologyDomain] = {}
        for leaf in sorted(leaves, key=lambda each: each.values):
            self._add(known, leaf)

    @property
    def is_by_node(self) -> bool:
        return bool(self.levels) and self.levels[-1] == HOSTNAME

    def _add(self, known: dict[tuple[str, ...], TopologyDomain], leaf: Leaf) -> None:
        parent: TopologyDomain | None = None
        for depth in range(1, len(self.levels) + 1):
            values = leaf.values[:depth]
            domain = known.get(values)
            if domain is None:
                domain = known[values] = TopologyDomain(values, leaf if depth == len(self.levels) else None)
                self.by_level[depth - 1].append(domain)
                if parent is not None:
                    parent.children.append(domain)
            parent = domain

    def fill(self, ask: Ask, usage: Mapping[str, Amounts]) -> None:
        """Count what each domain holds: the free amounts of leaves after `usage`, and their sums above."""
        for domains in self.by_level:
            for domain in domains:
                domain.clear()
        for domain in self.by_level[-1]:
            if domain.leaf is not None and (ask.on is None or domain.leaf.key in ask.on):
                _fill_leaf(domain, domain.leaf, ask, usage.get(domain.leaf.key, {}))
        for root in self.by_level[0]:
            _sum_up(root, ask, 0)


def _fill_leaf(domain: TopologyDomain, leaf: Leaf, ask: Ask, used: Amounts) -> None:
    left = {r: amount - used.get(r, 0) for r, amount in leaf.free.items()} if used else leaf.free
    domain.pods = times(ask.request, left)
    if ask.leader is not None and times(ask.leader, left) > 0:
        domain.leaders = 1
        left = {r: amount - ask.leader.get(r, 0) for r, amount in left.items()}
    domain.pods_with_leader = times(ask.request, left)


def times(request: Amounts, free: Amounts) -> int:
    """Return how often a request fits, never below 0."""
    counts = [free.get(r, 0) // amount for r, amount in request.items() if amount > 0]
    return max(0, min(counts, default=UNLIMITED))


def _sum_up(domain: TopologyDomain, ask: Ask, level: int) -> None:
    if not domain.children:
        if level == ask.slice_level:
            domain.slices = domain.pods // ask.slice_size
            domain.slices_with_leader = domain.pods_with_leader // ask.slice_size
        return
    pods = slices = 0
    lost_pods: list[int] = []
    lost_slices: list[int] = []
    unit = ask.inner.get(level + 1, 1)
    for child in domain.children:
        _sum_up(child, ask, level + 1)
        held, held_with_leader = child.pods // unit * unit, child.pods_with_leader // unit * unit
        pods += held
        slices += child.slices
        if ask.leader is None or child.leaders > 0:
            lost_pods.append(held - held_with_leader)
            lost_slices.append(child.slices - child.slices_with_leader)
        domain.leaders = max(domain.leaders, child.leaders)
    domain.pods = pods
    domain.pods_with_leader = pods - min(lost_pods) if lost_pods else 0
    domain.slices = slices
    domain.slices_with_leader = slices - min(lost_slices) if lost_slices else 0
    if level == ask.slice_level:
        domain.slices = domain.pods // ask.slice_size
        domain.slices_with_leader = domain.pods_with_leader // ask.slice_size
