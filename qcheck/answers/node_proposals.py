"""Proposals that change nodes: more nodes of a pool, a higher limit, a DaemonSet without devices."""

from __future__ import annotations

import re

from qcheck.answers.proposals import Proposal, Way
from qcheck.cluster.place import Place, follow
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.units import name_amount, named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.groups import NodeGroup


_DIGITS = re.compile(r"\d{1,9}", re.ASCII)
MOST_NODES, MOST_TIMES = 64, 4
"""The number of nodes up to which more are proposed, or a multiple of the existing ones."""


def more_nodes(groups: Iterable[NodeGroup], resource: str, short: int) -> Iterator[Proposal]:
    """Yield, for each group of nodes, the additional nodes or the higher limit that covers a shortage."""
    for group in groups:
        each, count = group.highest(resource), count_of(group)
        if each > 0 and count is not None:
            more = -(-short // (each * count.nodes)) * count.nodes
            if more > max(MOST_NODES, count.number * count.nodes * MOST_TIMES):
                continue
            nodes = f"{more} more node{'s' * (more != 1)} of {group.name}, {name_amount(resource, each)} each"
            value = count.number + more // count.nodes
            words = f"add {nodes}: {count.number} becomes {value}"
            yield Proposal(Way.ADD_NODES, ((count.place, str(value)),), words)
        else:
            yield from _higher_limit(group, resource, short)


class NodeCount(Value):
    """A number that limits a group's nodes, and how many nodes one more of it adds (one per zone)."""

    place: Place
    number: int
    nodes: int


def count_of(group: NodeGroup) -> NodeCount | None:
    """Return the number of nodes of a group, if it is written as one."""
    for place in (group.count_place, group.count_place.at("max")):
        value = follow(place.origin.data, place.route)
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            is_by_zone = value > 0 and group.ceiling is not None and group.ceiling % value == 0
            return NodeCount(place, value, (group.ceiling or value) // value if is_by_zone else 1)
    return None


def _higher_limit(group: NodeGroup, resource: str, short: int) -> Iterator[Proposal]:
    """Yield a higher Karpenter limit on a resource, in whole nodes if the machines are known."""
    pool = group.pool
    limit = pool.limits.get(resource) if pool is not None else None
    place = pool.limits_place.at(resource) if pool is not None and pool.limits_place is not None else None
    if limit is None or place is None or not place.exists:
        return
    whole = max((c.machine.allocatable.get(resource, 0) for c in group.classes), default=0)
    free = group.highest(resource)
    raised = limit + short if not whole or not free else (limit // whole - (-short // free)) * whole
    was, now = show_amounts(resource, limit, raised)
    words = f"raise the limit of {group.name} from {was} to {named(resource, now)}"
    yield Proposal(Way.ADD_NODES, ((place, written_amount(resource, raised, up=True)),), words)


def without_daemon_sets(groups: Iterable[NodeGroup], resource: str) -> Iterator[Proposal]:
    """Yield each DaemonSet that takes a resource of some groups without the resource, then all of them."""
    takings = (t for g in groups for c in g.classes for t in c.takings if t.amounts.get(resource, 0))
    found = {t.daemon_set.id: t.daemon_set for t in takings}
    each = {d.name: tuple((p, "0") for p in _requests(d.template.place, resource)) for d in found.values()}
    written = {name: values for name, values in each.items() if values}
    for name, values in written.items():
        yield Proposal(Way.FREE_DEVICES, values, f"run DaemonSet {name} without {resource}")
    if len(written) > 1:
        together = tuple(v for values in written.values() for v in values)
        yield Proposal(Way.FREE_DEVICES, together, f"run the DaemonSets {' and '.join(written)} without {resource}")


def groups_of(cluster: Cluster, pools: Iterable[str]) -> list[NodeGroup]:
    """Return the groups of nodes that some pools select."""
    found = {m.group.name: m.group for pool in pools for m in supply_of(cluster).matches(pool)}
    return [found[name] for name in sorted(found)]


def _requests(template: Place, resource: str) -> Iterator[Place]:
    """Yield the places of requests and limits in a pod template's containers."""
    for containers in ("containers", "initContainers"):
        found = follow(template.origin.data, (*template.route, containers))
        for index in range(len(found) if isinstance(found, list) else 0):
            for part in ("requests", "limits"):
                place = template.at(containers, index, "resources", part, resource)
                if place.exists:
                    yield place
