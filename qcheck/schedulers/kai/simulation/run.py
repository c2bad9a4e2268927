"""The state of a simulated run: arrivals, ends and cycles, and the past usage on which shares depend."""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.simulation import reclaim
from qcheck.schedulers.kai.simulation.accounts import Refusal, accounts_of
from qcheck.schedulers.kai.simulation.eviction import EvictionSearch
from qcheck.schedulers.kai.simulation.failures import SmallestFailures
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, NOTHING, Held, SimulatedGang, minus, plus
from qcheck.schedulers.kai.simulation.nodes import Floor
from qcheck.schedulers.kai.simulation.queue_order import Turns
from qcheck.schedulers.kai.simulation.session import Action, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from qcheck.schedulers.kai.hierarchy import Amounts, Hierarchy
    from qcheck.schedulers.kai.simulation.eviction import IsAllowed
    from qcheck.schedulers.kai.simulation.gang import Vector
    from qcheck.schedulers.kai.simulation.session import Eviction
    from qcheck.schedulers.kai.simulation.usage_history import Past

    Exchange = tuple[list[Held], IsAllowed]
    """The gangs that may be evicted for another one, and the test of a selection of them."""
    Victims = Callable[[Session, SimulatedGang], Exchange | None]


class ShardState(Value):
    """The setting of a run: the queues, the capacity, the GPUs of each node, and the shard's switches."""

    tree: Hierarchy
    total: Vector
    nodes: tuple[float, ...]
    k: float = 0.0
    past: Past | None = None
    multiplier: float = 1.0
    reclaims: bool = True
    preempts: bool = True
    eviction_delay: int = 0


class KaiCycle(Value):
    """The events of a cycle: its second, the finished gangs, the started ones, and the evictions with their causes.

    `evicted` gives the gang that gets the room and the action that takes it.
    """

    at: int
    ended: tuple[str, ...]
    has_arrivals: bool
    started: tuple[str, ...]
    evicted: dict[str, Eviction]
    shares: Amounts

    @property
    def has_event(self) -> bool:
        """Return whether a gang has arrived or finished."""
        return bool(self.ended) or self.has_arrivals

    @property
    def changes(self) -> bool:
        """Return whether a gang starts or is evicted."""
        return bool(self.started or self.evicted)


class Run:
    """Gangs that wait, run and leave."""

    def __init__(self, state: ShardState, waiting: Iterable[SimulatedGang], running: Iterable[Held] = ()) -> None:
        self._world = state
        self.running = {held.gang.name: held for held in running}
        self.present: dict[str, SimulatedGang] = {}
        self._later = sorted(waiting, key=lambda gang: gang.since)[::-1]
        self._leaving: list[tuple[int, Held]] = []
        self._asked: dict[str, Vector] = {}
        for held in self.running.values():
            self._ask(held.gang, plus)
        self._quiet: Amounts | None = None

    @property
    def waiting(self) -> dict[str, SimulatedGang]:
        """The gangs that wait, and those that have not arrived yet."""
        return self.present | {gang.name: gang for gang in self._later}

    @property
    def past(self) -> Past | None:
        """The past usage, if any is read."""
        return self._world.past

    def coming(self) -> Iterator[int]:
        """Yield the seconds at which gangs arrive, finish or have left."""
        yield from (gang.since for gang in self._later[-1:])
        yield from (gone for gone, _ in self._leaving)
        for held in self.running.values():
            if held.gang.runs_for is not None:
                yield held.since + held.gang.runs_for

    def cycle(self, at: int) -> KaiCycle:
        """Run the cycle of a second, after handling what ends or is gone by then."""
        ended, returned, arrived = self._end(at), self._return(at), self._arrive(at)
        shares = self._shares()
        if not ended and not returned and not arrived and shares == self._quiet:
            return KaiCycle(at=at, ended=(), has_arrivals=False, started=(), evicted={}, shares=shares)
        cycle = self._act(at, shares, ended, arrived)
        self._quiet = None if cycle.changes else shares
        return cycle

    def _act(self, at: int, shares: Amounts, ended: tuple[str, ...], arrived: bool) -> KaiCycle:
        """Run the actions in order."""
        state, present = self._world, self.present
        session = self._session(shares, at)
        _allocate(session, present.values())
        if state.reclaims:
            _evict(session, present, Action.RECLAIM, partial(_of_other_queues, multiplier=state.multiplier))
        if state.preempts:
            _evict(session, present, Action.PREEMPT, _of_lower_priority)
        started = tuple(name for name in present if name in session.running or name in session.evicted)
        for name in started:
            del present[name]
        for held, _ in session.evicted.values():
            self._leaving.append((at + max(1, state.eviction_delay), held))
            self._ask(held.gang, minus)
        self.running = session.running
        evicted = {name: by for name, (_, by) in session.evicted.items()}
        return KaiCycle(at=at, ended=ended, has_arrivals=arrived, started=started, evicted=evicted, shares=shares)

    def refusal(self, gang: SimulatedGang, at: int) -> Refusal:
        """Return why a gang waits."""
        return self._session(self._shares(), at).accounts.refusal(gang) or Refusal.NO_ROOM

    def held(self) -> dict[str, Vector]:
        """Return what each queue holds, ancestors included."""
        sums: dict[str, Vector] = {}
        for held in self.running.values():
            for queue in self._world.tree.path(held.gang.queue):
                sums[queue.name] = plus(sums.get(queue.name, NOTHING), held.gang.total)
        return sums

    def _ask(self, gang: SimulatedGang, change: Callable[[Vector, Vector], Vector]) -> None:
        self._asked[gang.queue] = change(self._asked.get(gang.queue, NOTHING), gang.total)

    def _end(self, at: int) -> tuple[str, ...]:
        """Remove gangs that are finished."""
        done = [
            h.gang for h in self.running.values() if h.gang.runs_for is not None and h.since + h.gang.runs_for <= at
        ]
        for gang in done:
            del self.running[gang.name]
            self._ask(gang, minus)
        return tuple(gang.name for gang in done)

    def _return(self, at: int) -> bool:
        """Return gangs whose eviction is over to the waiting ones."""
        gone = [held.gang for second, held in self._leaving if second <= at]
        self._leaving = [each for each in self._leaving if each[0] > at]
        for gang in gone:
            self.present[gang.name] = gang
            self._ask(gang, plus)
        return bool(gone)

    def _arrive(self, at: int) -> bool:
        """Add gangs that arrive by this second."""
        before = len(self._later)
        while self._later and self._later[-1].since <= at:
            gang = self._later.pop()
            self.present[gang.name] = gang
            self._ask(gang, plus)
        return len(self._later) < before

    def _shares(self) -> Amounts:
        requests = {name: dict(zip(DIMENSIONS, amounts, strict=True)) for name, amounts in self._asked.items()}
        usage = self._world.past.usage() if self._world.past is not None else {}
        total = dict(zip(DIMENSIONS, self._world.total, strict=True))
        return self._world.tree.fair_shares(total, requests, usage, self._world.k)

    def _session(self, shares: Amounts, at: int) -> Session:
        state = self._world
        session = Session(accounts_of(state.tree, shares, state.total), Floor(state.nodes, state.nodes), {}, at)
        for name, held in self.running.items():
            session.running[name] = held
            session.accounts.add(held.gang)
            session.floor.hold(held)
        for _, held in self._leaving:
            session.floor.hold(held)
            session.floor.leave(held)
        return session


def _waiting(session: Session, present: Mapping[str, SimulatedGang]) -> list[SimulatedGang]:
    """Return the gangs that wait in a cycle and were not promised room in it."""
    taken = session.running.keys() | session.promised.keys() | session.withdrawn
    return [gang for name, gang in present.items() if name not in taken]


def _allocate(session: Session, waiting: Iterable[SimulatedGang]) -> None:
    """Start the gangs for which there is room."""
    turns = Turns(session.accounts, waiting)
    while (gang := turns.pop()) is not None:
        if not session.start(gang):
            turns.pass_over(gang)


def _evict(session: Session, present: Mapping[str, SimulatedGang], action: Action, victims_of: Victims) -> None:
    """Let the waiting gangs evict others in turn, as an action allows it."""
    turns, failures = Turns(session.accounts, _waiting(session, present)), SmallestFailures()
    while (gang := turns.pop()) is not None:
        found = victims_of(session, gang) if failures.is_worth_trying(gang) else None
        if found is None:
            turns.pass_over(gang)
            continue
        victims, is_allowed = found
        after = EvictionSearch(
            session=session,
            gang=gang,
            action=action,
            victims=victims,
            waiting=_waiting(session, present),
            is_allowed=is_allowed,
        ).solve()
        if after is None:
            failures.add(gang)
            turns.pass_over(gang)
        else:
            session.become(after)


def _of_other_queues(session: Session, gang: SimulatedGang, multiplier: float) -> Exchange | None:
    """Return the victims if the gang's queue is below its share."""
    accounts = session.accounts
    if not reclaim.may_ask(accounts, gang):
        return None
    victims = [
        held
        for held in session.holders()
        if held.gang.queue != gang.queue
        and held.gang.is_preemptible
        and reclaim.may_lose(accounts, gang, held.gang.queue)
    ]
    return victims, partial(reclaim.is_allowed, accounts.copy(), multiplier=multiplier)


def _of_lower_priority(session: Session, gang: SimulatedGang) -> Exchange:
    """Return the victims in the gang's own queue."""
    victims = [
        held
        for held in session.holders()
        if held.gang.queue == gang.queue and held.gang.is_preemptible and held.gang.priority < gang.priority
    ]
    return victims, lambda _, __: True
