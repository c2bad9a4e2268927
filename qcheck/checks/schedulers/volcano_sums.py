"""QC951, QC952: guarantees and deserved amounts of Volcano's queues compared with the nodes."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import common_scale, names, plural, supplied
from qcheck.checks.registry import rule
from qcheck.cluster.nodes import at_most
from qcheck.cluster.problems import NODES
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.quota.max_flow import overdrafts
from qcheck.schedulers.volcano.division import guaranteed
from qcheck.schedulers.volcano.nodes import reach, total
from qcheck.schedulers.volcano.queues import Queues, queues_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.units import Scale
    from qcheck.cluster.volcano import VolcanoQueue
    from qcheck.quota.max_flow import Overdraft
    from qcheck.supply.groups import NodeGroup

    Stated = list[tuple[VolcanoQueue, dict[str, tuple[str, int]]]]
    """The amounts of each queue by resource, with the list that states them."""

NOT_COUNTED = "pods"
MOST_OFFERED = 3
"""The number of queues for which lowering only that queue is offered."""


class Excess(Value):
    """Queues that together state more of a resource than their nodes can ever supply, the largest amount first."""

    resource: str
    amounts: tuple[tuple[VolcanoQueue, str, int], ...]
    groups: tuple[NodeGroup, ...]
    stated: int
    supply: int
    estimated: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the queues."""
        return tuple(queue.name for queue, _, _ in self.amounts)


@rule("QC951")
def guarantee_exceeds_capacity(cluster: Cluster) -> Iterator[Finding]:
    """Report guarantees that no nodes can back, in the smallest set of queues that proves it."""
    queues = queues_of(cluster)
    stated = [(q, {r: ("guarantee", a) for r, a in q.amounts["guarantee"].items()}) for q in queues.top]
    for excess in _excesses(cluster, stated):
        verb = "is guaranteed" if len(excess.amounts) == 1 else "are guaranteed"
        message = f"{_who(excess)} {verb} {_sum(excess)}, but {_supply(excess)}{_consequence(cluster, queues, excess)}"
        yield _found(excess, message)


@rule("QC952")
def deserved_exceeds_capacity(cluster: Cluster) -> Iterator[Finding]:
    """Report deserved amounts under the capacity plugin that exceed the nodes; QC951 reports guarantees alone."""
    queues = queues_of(cluster)
    if not queues.scheduler.by_capacity:
        return
    reported = {(f.data["resource"], name) for f in guarantee_exceeds_capacity(cluster) for name in _listed(f)}
    stated = [(q, _deserved(q)) for q in queues.leaves]
    for excess in _excesses(cluster, stated):
        above = {q.name for name in excess.names for q in queues.path(name)}
        if not any((excess.resource, name) in reported for name in above):
            verb = "deserves" if len(excess.amounts) == 1 else "deserve"
            cut = "" if queues.is_tree else "; the plugin limits each amount but not the sum"
            yield _found(excess, f"{_who(excess)} {verb} {_sum(excess)}, but {_supply(excess)}{cut}")


def _listed(found: Finding) -> list[str]:
    listed = found.data["queues"]
    return [str(name) for name in listed] if isinstance(listed, list) else []


def _deserved(queue: VolcanoQueue) -> dict[str, tuple[str, int]]:
    """Return what a queue deserves, with the list that states it: a larger guarantee takes precedence."""
    deserved, guarantee = queue.amounts["deserved"], queue.amounts["guarantee"]
    more = {r: n for r, n in guarantee.items() if r not in deserved or n > deserved[r]}
    return {r: ("guarantee", more[r]) if r in more else ("deserved", deserved[r]) for r in {**deserved, **guarantee}}


def _excesses(cluster: Cluster, stated: Stated) -> Iterator[Excess]:
    supply = supply_of(cluster)
    for resource in sorted({r for _, amounts in stated for r in amounts}):
        if resource == NOT_COUNTED or supply.is_virtual(resource):
            continue
        wanted, ways = {}, {}
        for queue, amounts in stated:
            groups = reach(cluster, queue.name)
            judged = groups and all(g.is_known and all(c.knows(resource) for c in g.classes) for g in groups)
            if amounts.get(resource, ("", 0))[1] > 0 and judged and _is_advertised(groups, resource):
                wanted[queue.name] = amounts[resource][1]
                ways[queue.name] = {g.name: g.ceiling_supply(resource) for g in groups}
        capacity = {g.name: g.ceiling_supply(resource) for g in supply.groups}
        for over in overdrafts(wanted, ways, capacity):
            excess = _excess(cluster, resource, over, stated)
            if not excess.estimated or over.wanted > at_most(over.supply):
                yield excess


def _is_advertised(groups: tuple[NodeGroup, ...], resource: str) -> bool:
    """Return whether some node has the resource; QC958 reports resources that none has."""
    return "/" not in resource or any(g.advertises(resource) for g in groups)


def _excess(cluster: Cluster, resource: str, over: Overdraft, stated: Stated) -> Excess:
    amounts = [(q, *listed[resource]) for q, listed in stated if q.name in over.pools and resource in listed]
    groups = tuple(g for g in supply_of(cluster).groups if g.name in over.groups)
    return Excess(
        resource=resource,
        amounts=tuple(sorted(amounts, key=lambda a: (-a[2], a[0].name))),
        groups=groups,
        stated=over.wanted,
        supply=over.supply,
        estimated=any(c.is_estimated(resource) for g in groups for c in g.classes) or not cluster.has_all(NODES),
    )


def _who(excess: Excess) -> str:
    return f"{'queue' if len(excess.amounts) == 1 else 'the queues'} {names(excess.names)}"


def _sum(excess: Excess) -> str:
    scale = _scale(excess)
    parts = [f"{scale.bare(a)} ({q.name})" for q, _, a in excess.amounts]
    total_text = scale.name(excess.stated)
    return f"{' + '.join(parts)} = {total_text}" if len(parts) > 1 else total_text


def _scale(excess: Excess) -> Scale:
    return common_scale(excess.resource, [a for _, _, a in excess.amounts], excess.groups)


def _supply(excess: Excess) -> str:
    scale = _scale(excess)
    return f"the nodes can supply {scale(excess.supply)}: {supplied(scale, excess.groups, at_best=True)}"


def _consequence(cluster: Cluster, queues: Queues, excess: Excess) -> str:
    """Return what Volcano then does with the queues that are guaranteed less."""
    if queues.is_tree:
        return "; with a hierarchy, no other amount is reduced in return, so the nodes do not cover the guarantee"
    reserved = guaranteed(queues.terms).get(excess.resource, 0)
    if reserved < total(cluster, True).get(excess.resource, 0):
        return "; the missing amount is still set aside"
    others = len(queues.leaves) - len(excess.amounts)
    who = (
        f"{plural(others, 'other queue')} and queue default get only their own guarantees"
        if others
        else "queue default gets nothing"
    )
    left = f"; {who}"
    if queues.scheduler.by_weight and "/" in excess.resource:
        return f"{left}, although the proportion plugin gives the queues shares of the same {excess.resource} by weight"
    return left


def _found(excess: Excess, message: str) -> Finding:
    (first, field, amount), *others = excess.amounts
    resource, scale = excess.resource, _scale(excess)
    found = finding(first.place_of(field, resource), message, f"{scale(amount)} for {first.name}")
    for queue, listed, more in others:
        found = found.near(queue.place_of(listed, resource), f"{scale(more)} for {queue.name}")
    for group in excess.groups:
        found = found.near(group.count_place, supplied(scale, [group], at_best=True))
    missing = excess.stated - excess.supply
    for queue, listed, more in excess.amounts[:MOST_OFFERED]:
        if more >= missing:
            words = f"Lower {listed} of {queue.name} from {scale(more)} to {scale.name(more - missing)}."
            new = written_amount(resource, more - missing)
            found = found.offering(queue.place_of(listed, resource), new, words)
    return found.likely(excess.estimated).with_data(
        resource=resource,
        queues=list(excess.names),
        reserved=excess.stated,
        supply=excess.supply,
        nodeGroups=[g.name for g in excess.groups],
    )
