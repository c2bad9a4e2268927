"""Volcano's division of a cluster among its queues at the start of a scheduling session.

There are three ways: the plugin `proportion`, the plugin `capacity`, and `capacity` with a hierarchy. Each is a pure
function of the queues, the total and the requests of each queue's jobs. Source: release 1.15, `pkg/scheduler/plugins`.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.volcano import ROOT
from qcheck.schedulers.volcano.amounts import (
    BASIC,
    UNLIMITED,
    added,
    amounts,
    capped,
    exceeding,
    fits,
    is_empty,
    larger,
    same,
    scaled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.schedulers.volcano.amounts import Amounts

    Requests = Mapping[str, Amounts]
    """The total request of the jobs of each queue. A queue without jobs is absent."""


class VolcanoTerms(Value):
    """The part of a queue's spec that concerns the division, in base units; empty if absent."""

    name: str
    weight: int = 1
    capability: Mapping[str, int] = {}
    deserved: Mapping[str, int] = {}
    guarantee: Mapping[str, int] = {}
    parent: str | None = None


class QueueDivision(Value):
    """A queue's part: its gate `limit` (Volcano: realCapability) and what it deserves."""

    deserved: Amounts
    limit: Amounts
    capability: Amounts
    guarantee: Amounts
    request: Amounts


class NotReady(Value):
    """The reason why the plugin schedules no queue: a `queue` without its parent, or with both jobs and children."""

    queue: str
    missing_parent: str | None = None


def flat_limit(queue: VolcanoTerms, total: Amounts, reserved: Amounts) -> Amounts:
    """Return a queue's limit without a hierarchy; `reserved` is the sum of all guarantees, including idle queues."""
    limit = added(exceeding(total, reserved), amounts(queue.guarantee))
    return capped(limit, _flat_capability(queue)) if queue.capability else limit


def _flat_capability(queue: VolcanoTerms) -> Amounts:
    """Return the capability; without a hierarchy, omitted cpu and memory are unlimited."""
    given = amounts(queue.capability)
    return {r: UNLIMITED if r in BASIC and not a else a for r, a in given.items()}


def guaranteed(queues: Iterable[VolcanoTerms]) -> Amounts:
    """Return the sum of the guarantees."""
    total = amounts()
    for queue in queues:
        total = added(total, dict(queue.guarantee))
    return total


def capacity(queues: Iterable[VolcanoTerms], total: Amounts, requests: Requests) -> dict[str, QueueDivision]:
    """Divide as the plugin `capacity` without a hierarchy: each queue deserves what it declares, cut to its limit."""
    known = tuple(queues)
    reserved, parts = guaranteed(known), {}
    for queue in known:
        if queue.name not in requests:
            continue
        limit, guarantee = flat_limit(queue, total, reserved), amounts(queue.guarantee)
        deserved = larger(capped(amounts(queue.deserved), limit), guarantee)
        capability = _flat_capability(queue) if queue.capability else amounts()
        parts[queue.name] = QueueDivision(
            deserved=deserved, limit=limit, capability=capability, guarantee=guarantee, request=requests[queue.name]
        )
    return parts


def proportion(queues: Iterable[VolcanoTerms], total: Amounts, requests: Requests) -> dict[str, QueueDivision]:
    """Divide as the plugin `proportion`: by weight, round by round, among queues that still want some."""
    known = tuple(queues)
    reserved = guaranteed(known)
    active = {q.name: q for q in known if q.name in requests}
    limits = {name: flat_limit(q, total, reserved) for name, q in active.items()}
    deserved = _by_weight(active, limits, total, requests)
    return {
        name: QueueDivision(
            deserved=deserved[name],
            limit=limits[name],
            capability=_flat_capability(queue) if queue.capability else amounts(),
            guarantee=amounts(queue.guarantee),
            request=requests[name],
        )
        for name, queue in active.items()
    }


def _by_weight(
    active: Mapping[str, VolcanoTerms], limits: Mapping[str, Amounts], total: Amounts, requests: Requests
) -> dict[str, Amounts]:
    """Return what each active queue deserves. A queue drops out once its requests are met or nothing changes."""
    deserved: dict[str, Amounts] = {name: amounts() for name in active}
    remaining, waiting = total, dict(active)
    while weight := sum(q.weight for q in waiting.values()):
        before, more, less = remaining, amounts(), amounts()
        for name, queue in tuple(waiting.items()):
            old = deserved[name]
            offered = added(old, scaled(remaining, Fraction(queue.weight, weight)))
            offered = capped(capped(offered, limits[name]), requests[name], missing=0)
            new = deserved[name] = larger(offered, amounts(queue.guarantee))
            if fits(requests[name], new) or same(new, old):
                del waiting[name]
            more, less = added(more, exceeding(new, old)), added(less, exceeding(old, new))
        remaining = exceeding(added(remaining, less), more)
        if is_empty(remaining) or same(remaining, before):
            break
    return deserved


def hierarchy(
    queues: Iterable[VolcanoTerms], total: Amounts, requests: Requests
) -> dict[str, QueueDivision] | NotReady:
    """Divide as the plugin `capacity` with a hierarchy below `root`, or return why it schedules nothing.

    Queues whose parents form a cycle are not below `root`: nothing reaches them, and their limit is 0.
    """
    known = {q.name: q for q in queues}
    children: dict[str, list[VolcanoTerms]] = {}
    for queue in known.values():
        if queue.name == ROOT:
            continue
        parent = queue.parent or ROOT
        if parent not in known:
            return NotReady(queue.name, parent)
        children.setdefault(parent, []).append(queue)
    crowded = next((name for name in known if name in requests and name in children), None)
    if crowded is not None:
        return NotReady(crowded)
    if ROOT not in known:
        return NotReady(ROOT, ROOT)
    return _Hierarchy(known, children, total, requests).divided()


class _Hierarchy:
    """One division below `root`, level by level."""

    def __init__(
        self,
        known: Mapping[str, VolcanoTerms],
        children: Mapping[str, list[VolcanoTerms]],
        total: Amounts,
        requests: Requests,
    ) -> None:
        self.children, self.total = children, total
        self.capability = {name: amounts(q.capability) for name, q in known.items()}
        self.deserved = {name: amounts(q.deserved) for name, q in known.items()}
        self.guarantee = {name: amounts(q.guarantee) for name, q in known.items()}
        self.limit = {name: amounts() for name in known}
        self.request = {name: requests.get(name, amounts()) for name in known}

    def divided(self) -> dict[str, QueueDivision]:
        if is_empty(self.capability[ROOT]):
            self.capability[ROOT] = dict.fromkeys(amounts(self.total), UNLIMITED)
        self.limit[ROOT] = self.capability[ROOT]
        self._descend(ROOT)
        return {
            name: QueueDivision(
                deserved=self.deserved[name],
                limit=self.limit[name],
                capability=self.capability[name],
                guarantee=self.guarantee[name],
                request=self.request[name],
            )
            for name in self.capability
        }

    def _descend(self, parent: str) -> None:
        below = [q.name for q in self.children.get(parent, ())]
        deserved, guarantee = amounts(), amounts()
        for name in below:
            self.deserved[name] = larger(self.deserved[name], self.guarantee[name])
            deserved, guarantee = added(deserved, self.deserved[name]), added(guarantee, self.guarantee[name])
            self.capability[name] = _inherited(self.capability[name], self.capability[parent])
        if parent == ROOT:
            self.guarantee[ROOT], self.deserved[ROOT] = guarantee, deserved
        free = exceeding(self.limit[parent], guarantee)
        for name in below:
            self.limit[name] = capped(added(free, self.guarantee[name]), self.capability[name])
            self._descend(name)
            self.request[parent] = added(self.request[parent], self.request[name])


def _inherited(own: Amounts, parent: Amounts) -> Amounts:
    """Return a capability with omitted values from the parent's; cpu and memory of 0 count as omitted."""
    basic = {r: own[r] if own[r] > 0 else parent[r] for r in BASIC}
    return {**parent, **own, **basic}
