"""Gangs of pods that must share a domain, in several sizes and shapes, packed into domains.

A domain is to gangs what a node is to pods: the same solver decides, with rooms that know which gangs fit together into
one domain. Gangs of a single pod shape are counted; mixed gangs (a leader beside its workers) are packed onto the
domain's nodes.
"""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.packing.domains import Domain, capacity
from qcheck.packing.proof_text import explain
from qcheck.packing.question import DoesNotFit, Fits, Nodes, Pods, Question
from qcheck.packing.room import Best, Filling, VectorRoom
from qcheck.packing.solve import solve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.packing.question import Answer
    from qcheck.packing.room import Room

_MOST_FILLINGS = 300


class Gang(Value):
    """`count` gangs that each consist of `members` (shapes with the number of pods per gang)."""

    label: str
    members: tuple[Pods, ...]
    count: int

    @property
    def size(self) -> int:
        return sum(m.count for m in self.members)


class GangQuestion(Value, cached=True):
    """The question whether all gangs fit into the domains, each gang within one domain."""

    domains: tuple[Domain, ...]
    gangs: tuple[Gang, ...]
    domain_word: str = "domain"

    @cached_property
    def plain(self) -> Question | None:
        """The same question in numbers of pods if all members are alike; else None."""
        requests = [m.request for g in self.gangs for m in g.members]
        if any(r != requests[0] for r in requests):
            return None
        word = f"pods of {self.gangs[0].members[0].label}" if len(self.gangs) == 1 else "pods"
        domains = tuple(Nodes(d.label, {word: capacity(d, requests[0])}, d.count) for d in self.domains)
        gangs = tuple(Pods(g.label, {word: g.size}, g.count) for g in self.gangs)
        return Question(domains, gangs, self.domain_word, "gang")

    @cached_property
    def nodes(self) -> tuple[Nodes, ...]:
        """The domains, as named in messages."""
        return tuple(Nodes(d.label, {}, d.count) for d in self.domains)

    @cached_property
    def pods(self) -> tuple[Pods, ...]:
        """The gangs, as named in messages."""
        return tuple(Pods(g.label, {}, g.count) for g in self.gangs)

    @property
    def node_word(self) -> str:
        return self.domain_word

    @property
    def pod_word(self) -> str:
        return "gang"

    @cached_property
    def rooms(self) -> tuple[Room, ...]:
        return tuple(GangRoom(d, self.gangs) for d in self.domains)

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(d.count for d in self.domains)

    @property
    def wanted(self) -> tuple[int, ...]:
        return tuple(g.count for g in self.gangs)

    def why_no_more(self, node: int, pod: int, most: int) -> str:
        """Return why one more gang does not fit into a domain, node by node."""
        one_more = tuple((most + 1) * (g == pod) for g in range(len(self.gangs)))
        return GangRoom(self.domains[node], self.gangs).why_not(one_more)


def pack_gangs(question: GangQuestion) -> tuple[Answer, Question | GangQuestion]:
    """Return the answer, and the question in whose terms to explain its certificate."""
    if not question.gangs:
        return Fits(()), question
    posed = question.plain or question
    return solve(posed), posed


class GangRoom(Value, cached=True):
    """One domain as a room. An undecided case counts as held when computing a bound, else as not held."""

    domain: Domain
    gangs: tuple[Gang, ...]

    @cached_property
    def _answers(self) -> dict[Filling, Answer]:
        return {}

    def _answer(self, filling: Filling) -> Answer:
        if filling not in self._answers:
            self._answers[filling] = solve(self._on_nodes(filling))
        return self._answers[filling]

    def _on_nodes(self, filling: Filling) -> Question:
        """Return the question whether the domain's nodes hold all members of some gangs."""
        pods = (replace(m, count=m.count * n) for g, n in zip(self.gangs, filling, strict=True) for m in g.members if n)
        return Question(tuple(self.domain.all_nodes()), tuple(pods))

    def why_not(self, filling: Filling) -> str:
        answer = self._answer(filling)
        return explain(self._on_nodes(filling), answer.certificate) if isinstance(answer, DoesNotFit) else ""

    def holds(self, filling: Sequence[int]) -> bool:
        return isinstance(self._answer(tuple(filling)), Fits)

    def _may_hold(self, filling: Filling) -> bool:
        return not isinstance(self._answer(filling), DoesNotFit)

    @cached_property
    def limits(self) -> tuple[int, ...]:
        return tuple(self._most((0,) * at, gang.count) for at, gang in enumerate(self.gangs))

    def _most(self, begun: Filling, high: int) -> int:
        """Return an upper bound for the gangs of the next kind beside those of `begun`, by bisection."""
        low, rest = 0, (0,) * (len(self.gangs) - len(begun) - 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._may_hold((*begun, middle, *rest)) else (low, middle - 1)
        return low

    def best(self, weights: Sequence[int]) -> Best:
        listed = self._full
        if listed is None:
            return Best((0,) * len(weights), 0, self._pooled(weights))
        bound = max((_weigh(f, weights) for f in listed), default=0)
        held = [f for f in listed if self.holds(f)]
        heaviest = max(held, key=lambda f: _weigh(f, weights), default=(0,) * len(weights))
        return Best(heaviest, _weigh(heaviest, weights), bound)

    @cached_property
    def _full(self) -> list[Filling] | None:
        return self.fillings(_MOST_FILLINGS)

    def fillings(self, most: int) -> list[Filling] | None:
        found: list[Filling] = []
        for filling in self._walk(()):
            found.append(filling)
            if len(found) > most:
                return None
        return [f for f in found if not any(f != g and _within(f, g) for g in found)]

    def _walk(self, begun: Filling) -> Iterator[Filling]:
        """Yield fillings with as many of the last kind of gang as may fit beside the others."""
        most = self._most(begun, self.limits[len(begun)])
        if len(begun) + 1 == len(self.gangs):
            yield (*begun, most)
            return
        for number in range(most, -1, -1):
            yield from self._walk((*begun, number))

    def _pooled(self, weights: Sequence[int]) -> int:
        """Return a bound that ignores the boundaries of the domain's nodes: it sums up their resources."""
        asked = sorted({r for g in self.gangs for m in g.members for r in m.request})
        free = tuple(sum(n.count * n.free.get(r, 0) for n in self.domain.all_nodes()) for r in asked)
        requests = tuple(
            tuple(sum(m.count * m.request.get(r, 0) for m in g.members) for r in asked) for g in self.gangs
        )
        return VectorRoom(free, requests, self.limits).best(weights).bound


def _weigh(filling: Filling, weights: Sequence[int]) -> int:
    return sum(n * w for n, w in zip(filling, weights, strict=True))


def _within(inner: Filling, outer: Filling) -> bool:
    return all(a <= b for a, b in zip(inner, outer, strict=True))
