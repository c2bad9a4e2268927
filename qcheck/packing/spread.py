"""Topology spread constraints with DoNotSchedule: decided only for a single pod set with a single such constraint.

kube-scheduler keeps every domain within `maxSkew` of the emptiest one. Equal pods that count themselves can then fill
each domain up to what the smallest one holds plus `maxSkew`, in any order; so their number decides.

Source: the plugin PodTopologySpread of kube-scheduler 1.36 with default policies: nodes that the pods select count as
domains, even if tainted or full; nodes without the key take no pods.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.question import Placement

if TYPE_CHECKING:
    from qcheck.cluster.pods import Spread
    from qcheck.packing.question import Question
    from qcheck.packing.workload_question import WantedPods
    from qcheck.supply.eligibility import Host

HOSTNAME = "kubernetes.io/hostname"
MOST_DOMAINS = 100_000
"""The maximum number of nodes that form one domain each; clusters have fewer."""


class SpreadDomain(Value):
    """A domain: how many nodes of each group (by index) it contains, and the most pods that it may take."""

    parts: tuple[tuple[int, int], ...]
    pods: int


class Spreading(Value):
    """The domains, and the most pods that they may take together."""

    domains: tuple[SpreadDomain, ...]

    @property
    def most(self) -> int:
        return sum(d.pods for d in self.domains)


def spreading(posed: Question, shapes: tuple[WantedPods, ...]) -> Spreading | None:
    """Return what the constraint of the only pod set allows on the nodes of a packing question; None if unknown."""
    if len(shapes) != 1 or len(shapes[0].template.spreads) != 1:
        return None
    shape, spread = shapes[0], shapes[0].template.spreads[0]
    if not spread.is_plain or not spread.counts_own:
        return None
    parts: dict[str, list[tuple[int, int]]] = {}
    for index, host in enumerate(shape.hosts):
        domains = _domains(host, spread, posed.nodes[index].count) if host.labels_match else {}
        if domains is None:
            return None
        for name, nodes in domains.items():
            parts.setdefault(name, []).append((index, nodes))
    room = {name: sum(n * posed.rooms[i].limits[0] for i, n in of) for name, of in parts.items()}
    emptiest = 0 if len(room) < (spread.minimum_domains or 1) else min(room.values(), default=0)
    limit = emptiest + spread.max_skew
    return Spreading(tuple(SpreadDomain(tuple(of), min(room[name], limit)) for name, of in parts.items()))


def _domains(host: Host, spread: Spread, count: int) -> dict[str, int] | None:
    """Return how many of a group's `count` usable nodes are in each domain.

    The result is empty if the label is absent, and None if the label is unknown or there are too many nodes. Cordoned nodes
    also form domains, without room.
    """
    group = host.group
    present = max(count, len(group.nodes))
    if not present:
        return {}
    if not group.classes:
        return None
    if spread.key == HOSTNAME and present > MOST_DOMAINS:
        return None
    if spread.key == HOSTNAME:
        return {f"{group.name}/{n}": int(n < count) for n in range(present)}
    if any(spread.key in c.varying for c in group.classes):
        return None
    values = {c.labels.get(spread.key) for c in group.classes}
    if len(values) > 1:
        return None
    value = values.pop()
    return {} if value is None else {value: count}


def placed_evenly(posed: Question, found: Spreading) -> tuple[Placement, ...]:
    """Return a placement of all pods that satisfies the constraint: domains receive pods in turn."""
    wanted = posed.wanted[0]
    level = _level(found, wanted)
    rest = wanted - sum(min(d.pods, level) for d in found.domains)
    placements: list[Placement] = []
    for domain in found.domains:
        left = min(domain.pods, level)
        if rest and domain.pods > level:
            left, rest = left + 1, rest - 1
        for index, nodes in domain.parts:
            most = posed.rooms[index].limits[0]
            full = min(nodes, left // most) if most else 0
            if full:
                placements.append(Placement(index, (most,), full))
                left -= full * most
            if full < nodes and 0 < left < most:
                placements.append(Placement(index, (left,), 1))
                left = 0
    return tuple(placements)


def _level(found: Spreading, wanted: int) -> int:
    """Return the number of pods that each domain receives, if it has room for them, when `wanted` pods are spread."""
    low, high = 0, max((d.pods for d in found.domains), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(min(d.pods, middle) for d in found.domains) <= wanted else (low, middle - 1)
    return low
