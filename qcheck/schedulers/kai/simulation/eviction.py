"""Evictions in KAI for a waiting gang: victims are tried in order until the gang fits and the exchange is allowed."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.schedulers.kai.simulation.gang import GPU
from qcheck.schedulers.kai.simulation.queue_order import Turns
from qcheck.schedulers.kai.simulation.session import Eviction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qcheck.schedulers.kai.simulation.gang import Held, SimulatedGang
    from qcheck.schedulers.kai.simulation.session import Action, Session

    IsAllowed = Callable[[SimulatedGang, Sequence[SimulatedGang]], bool]
    Found = tuple[Session, list[Held]]


class EvictionSearch:
    """The search for the victims of one gang.

    `waiting` are the other gangs of the queue order in which the gang and its victims are retried. `is_allowed` decides
    whether the gang may displace given victims.
    """

    def __init__(
        self,
        session: Session,
        gang: SimulatedGang,
        action: Action,
        victims: Iterable[Held],
        waiting: Iterable[SimulatedGang],
        is_allowed: IsAllowed,
    ) -> None:
        self._session = session
        self._waiting = [each for each in waiting if each is not gang]
        self._gang = gang
        self._by = Eviction(gang.name, action)
        self._victims = {held.gang.name: held for held in victims}
        self._is_allowed = is_allowed

    def solve(self) -> Session | None:
        """Return the session after the eviction, in which the gang is promised its room; None if there is no way.

        Pods are added to the gang in doubling steps; victims of one step remain victims in the next.
        """
        known: list[Held] = []
        wanted = 1
        while self._victims:
            found = self._step(wanted, known)
            if found is None:
                return None
            session, known = found
            if wanted == len(self._gang.pods):
                return session
            wanted = min(2 * wanted, len(self._gang.pods))
        return None

    def _step(self, wanted: int, known: list[Held]) -> Found | None:
        """Return the first way to make room for some pods of the gang."""
        gang = replace(self._gang, pods=self._gang.pods[:wanted])
        if known:
            found = self._try(gang, known)
            if found is not None:
                return found
        victims, promised = (h.gang for h in self._victims.values()), self._session.promised
        turns = Turns(self._session.accounts, victims, for_victims=True, promised=promised)
        names = {held.gang.name for held in known}
        more: list[Held] = []
        while (popped := turns.pop()) is not None:
            if popped.name in names:
                continue
            more.append(self._victims[popped.name])
            for chosen in self._choices(gang, known, more):
                found = self._try(gang, [*known, *chosen])
                if found is not None:
                    return found
        return None

    def _choices(self, gang: SimulatedGang, known: Sequence[Held], more: Sequence[Held]) -> Iterator[list[Held]]:
        """Yield victims by node: first those on the nodes with the least sufficient room, then those on more nodes."""
        freed: dict[int, float] = {}
        for held in known:
            for node, pod in zip(held.nodes, held.gang.pods, strict=True):
                freed[node] = freed.get(node, 0.0) + pod[GPU]
        room = [amount + freed.get(node, 0.0) for node, amount in enumerate(self._session.floor.room)]
        bearing: dict[int, float] = {}
        for held in more:
            for node, pod in zip(held.nodes, held.gang.pods, strict=True):
                if node >= 0:
                    bearing[node] = bearing.get(node, room[node]) + pod[GPU]
        least = min(pod[GPU] for pod in gang.pods)
        nodes = sorted((n for n, amount in bearing.items() if amount >= least), key=lambda n: bearing[n])
        missing = gang.total[GPU] - sum(amount for node, amount in enumerate(room) if node not in bearing)
        count, step = 0, 1
        while missing > 0 and count < len(nodes):
            missing -= bearing[nodes[count]]
            count += 1
        if missing > 0:
            return
        while count <= len(nodes):
            chosen = set(nodes[:count])
            yield [held for held in more if not chosen.isdisjoint(held.nodes)]
            if count == len(nodes):
                return
            count, step = min(len(nodes), count + step), 2 * step

    def _try(self, gang: SimulatedGang, victims: list[Held]) -> Found | None:
        """Evict victims, promise the gang its room, and let victims stay or move if there is room for them."""
        session = self._session.copy()
        for held in victims:
            session.evict(held, self._by)
        leaving = {held.gang.name: held for held in victims}
        turns, left = Turns(session.accounts, [gang, *(h.gang for h in victims), *self._waiting]), {gang.name, *leaving}
        while left and (popped := turns.pop()) is not None:
            if popped.name not in left:
                turns.pass_over(popped, but=left)
                continue
            left.remove(popped.name)
            nodes = session.promise(popped)
            if popped is gang:
                if nodes is None:
                    return None
            elif popped.name in self._session.running and nodes == leaving[popped.name].nodes:
                session.keep(leaving.pop(popped.name))
        losing = [h.gang for name, h in leaving.items() if name not in session.promised]
        if not self._is_allowed(gang, losing):
            return None
        return session, list(leaving.values())
