"""Shares of Volcano's busy queues: guaranteed, deserved, share and limit, for each resource."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.volcano import ALL_NODES, ROOT, VolcanoQueue
from qcheck.quota.shares import (
    NO_NODES,
    NOTHING_TO_RECLAIM,
    PoolShares,
    QueueShare,
    Reclaimable,
    ShareNote,
    no_capacity,
)
from qcheck.schedulers.volcano.amounts import amounts, is_empty
from qcheck.schedulers.volcano.division import NotReady, QueueDivision, capacity, hierarchy, proportion
from qcheck.schedulers.volcano.jobs import gangs_of
from qcheck.schedulers.volcano.nodes import total
from qcheck.schedulers.volcano.queues import Queues, queues_of
from qcheck.schedulers.volcano.surplus import Claimant, divide
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.quota.shares import Amount, Demand, Usage
    from qcheck.schedulers.volcano.amounts import Amounts

VOLCANO = "volcano"
SHOWN = ("cpu", "memory")


class BusyQueues(Value):
    """The division for one demand: the total, each queue's request, its part, and its part if all were busy."""

    queues: Queues
    total: Amounts
    requests: Mapping[str, Amounts]
    parts: Mapping[str, QueueDivision]
    own: Mapping[str, QueueDivision]


def shares(cluster: Cluster, demand: Demand, usage: Usage) -> tuple[PoolShares, ...]:  # noqa: ARG001  (no history here)
    """Return the shares of every resource that nodes have or queues name; empty if nothing of Volcano was read.

    The pool is all nodes: node groups separate pods but do not affect the division.
    """
    queues = queues_of(cluster)
    places = _places(cluster, queues)
    if not cluster.volcano_queues:
        return ()
    there = total(cluster, False)
    busy = _busy(queues, there, sorted(places), demand)
    return tuple(
        PoolShares(
            scheduler=VOLCANO,
            pool=ALL_NODES,
            resource=resource,
            tree=ROOT,
            total=there.get(resource, 0),
            queues=tuple(_queues(cluster, busy, resource, places, demand)),
        )
        for resource in _resources(queues, there)
    )


def _places(cluster: Cluster, queues: Queues) -> dict[str, Place]:
    """Return the queues that can hold jobs, by name: the declared ones, and `default` if a job uses it."""
    used = {g.queue: g.queue_place for g in gangs_of(cluster) if queues.exists(g.queue) and g.queue != ROOT}
    return {**{n: p for n, p in used.items() if n not in queues.queue}, **{q.name: q.place for q in queues.leaves}}


def _resources(queues: Queues, there: Amounts) -> list[str]:
    named = {r for t in queues.terms for r in (*t.capability, *t.deserved, *t.guarantee)}
    devices = {r for r, amount in there.items() if amount and is_compute(r)}
    return sorted({*SHOWN, *devices, *named} - {"pods"}, key=lambda r: (not is_compute(r), r))


def _busy(queues: Queues, there: Amounts, names: list[str], demand: Demand) -> BusyQueues:
    """Return the division by the plugin; queues that want nothing have no job and take no part."""
    resources = _resources(queues, there)
    wanted = {n: {r: demand.capped(n, r, there.get(r, 0)) for r in resources} for n in names}
    requests = {n: amounts(asked) for n, asked in wanted.items() if any(asked.values())}
    everything = dict.fromkeys(names, amounts(there))
    return BusyQueues(
        queues=queues,
        total=there,
        requests=requests,
        parts=_parts(queues, there, requests),
        own=_parts(queues, there, everything),
    )


def _parts(queues: Queues, there: Amounts, requests: Mapping[str, Amounts]) -> Mapping[str, QueueDivision]:
    if queues.is_tree:
        parts = hierarchy(queues.terms, there, requests)
        return {} if isinstance(parts, NotReady) else parts
    plugin = capacity if queues.scheduler.by_capacity else proportion
    return plugin(queues.terms, there, requests)


def _queues(
    cluster: Cluster, busy: BusyQueues, resource: str, places: dict[str, Place], demand: Demand
) -> Iterator[QueueShare]:
    given = _given(busy, resource)
    there = busy.total.get(resource, 0)
    for name in sorted(places):
        part, queue = busy.own.get(name), busy.queues.queue.get(name)
        limit = min(there, part.limit.get(resource, 0)) if part else 0
        deserved = part.deserved.get(resource, 0) if part else 0
        reserved = min(there, queue.amounts["guarantee"].get(resource, 0)) if queue else 0
        yield QueueShare(
            queue=name,
            parent=(queue.parent if queue and queue.parent else ROOT) if busy.queues.is_tree else None,
            place=_place(queue, resource) or places[name],
            reserved=reserved,
            entitled=deserved,
            share=given.get(name, 0),
            limit=limit,
            reclaimable=_reclaimable(busy.queues, name, min(deserved, limit), reserved),
            notes=(
                *_assumption(cluster, busy.queues, name == min(places)),
                *_notes(cluster, busy, name, resource, given, demand),
            ),
            step=_largest(cluster, name, resource),
        )


def _place(queue: VolcanoQueue | None, resource: str) -> Place | None:
    """Return the place of the queue's amount of a resource, or of its weight."""
    if queue is None:
        return None
    for field in ("deserved", "guarantee", "capability"):
        if resource in queue.amounts[field]:
            return queue.place_of(field, resource)
    weight = queue.place.at("spec", "weight")
    return weight if weight.exists else None


def _given(busy: BusyQueues, resource: str) -> dict[str, Amount]:
    """Return what each queue gets of a resource. Under proportion it can never exceed what it deserves."""
    queues = busy.queues
    if not queues.scheduler.by_capacity:
        return {
            name: min(part.deserved.get(resource, 0), busy.requests[name].get(resource, 0))
            for name, part in busy.parts.items()
            if name in busy.requests
        }
    there = Fraction(busy.total.get(resource, 0))
    if queues.is_tree:
        return dict(divide(there, _claimants(busy, resource, ROOT)))
    return dict(divide(there, (_claimant(busy, name, resource) for name in busy.parts)))


def _claimants(busy: BusyQueues, resource: str, parent: str) -> tuple[Claimant, ...]:
    below = [q.name for q in busy.queues.children(parent)]
    if parent == ROOT:
        below += [t.name for t in busy.queues.terms if t.name not in busy.queues.queue and t.name != ROOT]
    return tuple(_claimant(busy, name, resource) for name in below if name in busy.parts)


def _claimant(busy: BusyQueues, name: str, resource: str) -> Claimant:
    part, queue = busy.parts[name], busy.queues.queue.get(name)
    below = _claimants(busy, resource, name) if busy.queues.is_tree else ()
    asked = sum((c.most for c in below), Fraction(0))
    if not below:
        asked = Fraction(busy.requests[name].get(resource, 0)) if name in busy.requests else Fraction(0)
    limit = min(part.limit.get(resource, 0), busy.total.get(resource, 0))
    return Claimant(
        name=name,
        deserved=Fraction(min(part.deserved.get(resource, 0), limit)),
        most=min(Fraction(limit), asked),
        priority=queue.priority if queue else 0,
        below=below,
    )


def _reclaimable(queues: Queues, name: str, deserved: Amount, reserved: Amount) -> Reclaimable:
    if deserved <= reserved:
        return NOTHING_TO_RECLAIM
    if not queues.scheduler.reclaims:
        return Reclaimable(0, (), "the actions lack reclaim: the queue gets it back only when others finish")
    holders = tuple(sorted(q.name for q in queues.leaves if q.name != name and q.reclaimable))
    how = "reclaim takes it from queues above their deserved amount"
    return Reclaimable(deserved - reserved, holders, how)


def _largest(cluster: Cluster, name: str, resource: str) -> int | None:
    """Return what the largest gang of a queue needs to start."""
    sizes = [g.least.get(resource, 0) for g in gangs_of(cluster) if g.queue == name]
    return max((s for s in sizes if s), default=None)


def _assumption(cluster: Cluster, queues: Queues, is_first: bool) -> Iterator[ShareNote]:
    """Yield the note on an assumed configuration, once, at the first queue."""
    if is_first and not cluster.has_nodes:
        yield ShareNote("no-nodes", NO_NODES)
    unknown = [g.name for g in supply_of(cluster).groups if not g.is_known]
    if is_first and unknown:
        yield ShareNote("unknown-nodes", no_capacity(unknown))
    if queues.is_assumed and is_first:
        message = "no configuration of the scheduler was read; the chart's default (proportion, no reclaim) is assumed"
        yield ShareNote("default-configuration", message)


def _notes(
    cluster: Cluster, busy: BusyQueues, name: str, resource: str, given: Mapping[str, Amount], demand: Demand
) -> Iterator[ShareNote]:
    queues = busy.queues
    queue = queues.queue.get(name)
    share = given.get(name, 0)
    if queues.scheduler.by_capacity and queue is not None and is_empty(queue.amounts["deserved"]):
        yield ShareNote(
            "no-deserved", f"{name} deserves nothing: it is served last and reclaimed from first", queue.place
        )
    largest = max((g for g in gangs_of(cluster) if g.queue == name), key=lambda g: g.largest(resource), default=None)
    is_starved = largest is not None and demand.of(name, resource) is None and largest.largest(resource) > share
    if largest is not None and is_starved and cluster.has_nodes and all(g.is_known for g in supply_of(cluster).groups):
        size, shown = show_amounts(resource, largest.largest(resource), share)
        yield ShareNote(
            "starves", f"a pod of {largest.id} asks for {named(resource, size)}, the share is {shown}", largest.place
        )
