"""Usability of a flavor's free accelerators: what fits, what stays idle and why, and the largest gang.

Only existing nodes count (static), each with what DaemonSets and reserves leave, as `qcheck capacity` shows them.
"""

from __future__ import annotations

from qcheck.cluster.nodes import PLENTY
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.flavor_domains import HOSTNAME
from qcheck.packing.fragmentation import (
    REMAINDER,
    Stranded,
    expected_fragment,
    fragmentation_rate,
    per_accelerator,
    placeable,
    stranded,
)
from qcheck.packing.pod_shape import KEPT_APART
from qcheck.packing.question import Nodes, Pods
from qcheck.packing.required_domain import domain_size, gang_size
from qcheck.schedulers.table import declared_shapes
from qcheck.supply.groups import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import Amounts
    from qcheck.packing.pod_shape import PodShape
    from qcheck.packing.required_domain import DomainSize
    from qcheck.supply.groups import NodeClass, NodeGroup

TAKEN = "DaemonSets and reserves"
"""The cause of idle accelerators that a whole pod could use if nothing were taken from the node."""
CO_RESOURCES = ("cpu", "memory")


class ShapeUse(Value):
    """The use of accelerators by one shape: `pods` fit if nothing else runs, and `idle` accelerators stay unused.

    * `stranded`: the idle accelerators by cause.
    * `fragmentation`: the fraction of free accelerators that stays idle (numerator, denominator).
    * `gangs`: by topology level, the most of these pods that one full domain holds.
    """

    name: str
    size: int
    pods: int
    idle: int
    stranded: tuple[Stranded, ...]
    fragmentation: tuple[int, int]
    gangs: dict[str, int]


class Usability(Value):
    """The usability of one flavor's accelerator; `free` counts those on existing nodes.

    * `sizes`: pods that request a number of devices and nothing else; `shapes`: the declared ones.
    * `fragment`: expected accelerators that a pod drawn from the declared shapes cannot use (numerator, denominator).
    * `ceilings`: the most cpu and memory per accelerator that strands none, on the scarcest nodes.
    * `domains`: the largest domain of each level of the flavor's topology, if known; it may include future nodes.
    """

    free: int
    sizes: tuple[ShapeUse, ...]
    shapes: tuple[ShapeUse, ...]
    fragment: tuple[int, int] | None
    ceilings: Amounts
    domains: dict[str, DomainSize]

    @property
    def references(self) -> tuple[ShapeUse, ...]:
        """The shapes by which fragmentation is measured: those declared, else a pod as large as the largest node."""
        return self.shapes or self.sizes[-1:]


def usability(cluster: Cluster, flavor: str, resource: str, sizes: Iterable[int]) -> Usability | None:
    """Return the usability of an accelerator; None if no known node has it."""
    matches = [m for m in supply_of(cluster).matches(flavor) if m.how_many == ALL and m.group.is_known]
    groups = [m.group for m in matches if m.group.advertises(resource)]
    if not groups:
        return None
    declared = [s for s in declared_shapes(cluster, flavor) if s.accelerator == resource]

    def use(name: str, request: Amounts) -> ShapeUse:
        return _use(groups, resource, name, request, _gangs(cluster, flavor, request))

    return Usability(
        free=sum(g.static_supply(resource) for g in groups),
        sizes=tuple(use(str(size), {resource: size}) for size in sizes),
        shapes=tuple(use(s.name, s.request) for s in declared),
        fragment=_fragment(groups, resource, declared),
        ceilings=_ceilings(groups, resource),
        domains=_domains(cluster, flavor, resource),
    )


def _use(groups: list[NodeGroup], resource: str, name: str, request: Amounts, gangs: dict[str, int]) -> ShapeUse:
    nodes = [_nodes(g, request) for g in groups]
    pods = placeable(nodes, request)
    free = sum(n.count * n.free[resource] for n in nodes)
    causes = [
        replace(s, by=_cause(g, resource, request[resource], s.by))
        for g, n in zip(groups, nodes, strict=True)
        for s in stranded([n], request, resource)
    ]
    rate = fragmentation_rate(nodes, request, resource)
    idle = free - pods * request[resource]
    return ShapeUse(
        name=name,
        size=request[resource],
        pods=pods,
        idle=idle,
        stranded=tuple(causes),
        fragmentation=(rate.numerator, rate.denominator),
        gangs=gangs,
    )


def _cause(group: NodeGroup, resource: str, size: int, by: str) -> str:
    """Return the cause; remainders caused only by DaemonSets and reserves are attributed to these."""
    whole = min(c.machine.allocatable.get(resource, 0) for c in group.classes)
    return TAKEN if by == REMAINDER and group.lowest(resource) < whole and whole % size == 0 else by


def _nodes(group: NodeGroup, request: Amounts) -> Nodes:
    free = {r: min(_free(group, c, r) for c in group.classes) for r in request}
    return Nodes(group.name, free, group.static)


def _free(group: NodeGroup, node_class: NodeClass, resource: str) -> int:
    """Return the free resources of a node; unknown ones are unlimited."""
    if resource == KEPT_APART:
        return 1
    listed = resource in node_class.machine.allocatable
    if not node_class.knows(resource) or (not listed and not group.nodes and "/" not in resource):
        return PLENTY
    return node_class.free.get(resource, 0)


def _fragment(groups: list[NodeGroup], resource: str, declared: list[PodShape]) -> tuple[int, int] | None:
    """Return the expected fragment; all shapes have equal weight, because settings do not state their frequency."""
    if not declared:
        return None
    asked = {r: 0 for s in declared for r in s.request}
    mix = [(Pods(s.name, s.request, 1), 1) for s in declared]
    found = expected_fragment([_nodes(g, asked) for g in groups], mix, resource)
    return found.numerator, found.denominator


def _ceilings(groups: list[NodeGroup], resource: str) -> Amounts:
    found: Amounts = {}
    for each in CO_RESOURCES:
        classes = [c for g in groups for c in g.classes if c.knows(each) and each in c.machine.allocatable]
        most = [most for c in classes if (most := per_accelerator(c.free, resource, each)) is not None]
        if most:
            found[each] = min(most)
    return found


def _domains(cluster: Cluster, flavor: str, resource: str) -> dict[str, DomainSize]:
    sizes = {level: domain_size(cluster, flavor, level, resource) for level in _levels(cluster, flavor)}
    return {level: size for level, size in sizes.items() if size is not None}


def _gangs(cluster: Cluster, flavor: str, request: Amounts) -> dict[str, int]:
    sizes = {level: gang_size(cluster, flavor, level, request) for level in _levels(cluster, flavor)}
    return {level: size for level, size in sizes.items() if size is not None}


def _levels(cluster: Cluster, flavor: str) -> list[str]:
    """Return the levels of a flavor's topology above the node."""
    known = cluster.quota_pools.get(flavor)
    return [level for level in (known.levels if known is not None else ()) if level != HOSTNAME]
