"""The clock of the simulation: arrivals, ends and cycles, and the history that the shares look back on."""

from __future__ import annotations

from functools import partial

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.simulation import reclaim
from qcheck.schedulers.kai.simulation.accounts import Refusal, accounts_of
from qcheck.schedulers.kai.simulation.eviction import Search
from qcheck.schedulers.kai.simulation.floor import Floor
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, NOTHING, Gang, Held, plus
from qcheck.schedulers.kai.simulation.session import Action, Session
from qcheck.schedulers.kai.simulation.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.schedulers.kai.hierarchy import Amounts, Hierarchy
    from qcheck.schedulers.kai.simulation.gang import Vector
    from qcheck.schedulers.kai.simulation.past import Past
    from qcheck.schedulers.kai.simulation.session import Eviction


class World(Value):
    """What a run takes place in: the queues, the capacity, the GPUs of each node, and the shard's switches."""

    tree: Hierarchy
    total: Vector
    nodes: tuple[float, ...]
    k: float = 0.0
    past: Past | None = None
    multiplier: float = 1.0
    reclaims: bool = True
    preempts: bool = True
    eviction_delay: int = 0


class Cycle(Value):
    """What a cycle does: its second, who is done by then, who starts, and who is evicted by whom.

    `evicted` names the gang that gets the room and the action that takes it.
    """

    at: int
    ended: tuple[str, ...]
    has_arrivals: bool
    started: tuple[str, ...]
    evicted: dict[str, Eviction]
    shares: Amounts

    @property
    def has_event(self) -> bool:
        """Whether a gang has come or is done."""
        return bool(self.ended) or self.has_arrivals

    @property
    def changes(self) -> bool:
        """Whether a gang starts or is evicted."""
        return bool(self.started or self.evicted)


class Run:
    """Gangs that wait, run and leave."""

    def __init__(self, world: World, waiting: Iterable[Gang], running: Iterable[Held] = ()) -> None:
        self._world = world
        self.waiting = {gang.name: gang for gang in waiting}
        self.running = {held.gang.name: held for held in running}
        self._leaving: list[tuple[int, Held]] = []
        self._last: int | None = None

    @property
    def past(self) -> Past | None:
        """The history, if any is read."""
        return self._world.past

    def coming(self) -> Iterator[int]:
        """The seconds at which gangs come, are done or have left."""
        yield from (gang.since for gang in self.waiting.values())
        yield from (gone for gone, _ in self._leaving)
        for held in self.running.values():
            if held.gang.runs_for is not None:
                yield held.since + held.gang.runs_for

    def cycle(self, at: int) -> Cycle:
        """The cycle of a second, after what ends or is gone by then."""
        world = self._world
        ended = self._settle(at)
        present = {name: gang for name, gang in self.waiting.items() if gang.since <= at}
        shares = self._shares(present.values())
        session = self._session(shares, at)
        _allocate(session, present.values())
        if world.reclaims:
            _reclaim(session, _left(session, present), world.multiplier)
        if world.preempts:
            _preempt(session, _left(session, present))
        started = tuple(name for name in present if name in session.running or name in session.evicted)
        for name in started:
            del self.waiting[name]
        for held, _ in session.evicted.values():
            self._leaving.append((at + max(1, world.eviction_delay), held))
        self.running = session.running
        evicted = {name: by for name, (_, by) in session.evicted.items()}
        last, self._last = self._last, at
        has_arrivals = any(last is None or gang.since > last for gang in present.values())
        return Cycle(at=at, ended=ended, has_arrivals=has_arrivals, started=started, evicted=evicted, shares=shares)

    def refusal(self, gang: Gang, at: int) -> Refusal:
        """Why a gang waits."""
        return self._session(self._shares(self.waiting.values()), at).accounts.refusal(gang) or Refusal.NO_ROOM

    def held(self) -> dict[str, Vector]:
        """What each queue holds, ancestors included."""
        sums: dict[str, Vector] = {}
        for held in self.running.values():
            for queue in self._world.tree.path(held.gang.queue):
                sums[queue.name] = plus(sums.get(queue.name, NOTHING), held.gang.total)
        return sums

    def _settle(self, at: int) -> tuple[str, ...]:
        """Takes out gangs that are done, and puts those whose eviction is over back among the waiting; names the first."""
        ended = []
        for name, held in list(self.running.items()):
            if held.gang.runs_for is not None and held.since + held.gang.runs_for <= at:
                del self.running[name]
                ended.append(name)
        for gone, held in [each for each in self._leaving if each[0] <= at]:
            self._leaving.remove((gone, held))
            self.waiting[held.gang.name] = held.gang
        return tuple(ended)

    def _shares(self, present: Iterable[Gang]) -> Amounts:
        asked: dict[str, Vector] = {}
        for gang in [*present, *(held.gang for held in self.running.values())]:
            asked[gang.queue] = plus(asked.get(gang.queue, NOTHING), gang.total)
        requests = {name: dict(zip(DIMENSIONS, amounts, strict=True)) for name, amounts in asked.items()}
        usage = self._world.past.usage() if self._world.past is not None else {}
        total = dict(zip(DIMENSIONS, self._world.total, strict=True))
        return self._world.tree.fair_shares(total, requests, usage, self._world.k)

    def _session(self, shares: Amounts, at: int) -> Session:
        world = self._world
        session = Session(accounts_of(world.tree, shares, world.total), Floor(world.nodes, world.nodes), {}, at)
        for name, held in self.running.items():
            session.running[name] = held
            session.accounts.add(held.gang)
            session.floor.hold(held)
        for _, held in self._leaving:
            session.floor.hold(held)
            session.floor.leave(held)
        return session


def _left(session: Session, present: dict[str, Gang]) -> list[Gang]:
    """The gangs that still wait in a cycle."""
    return [gang for name, gang in present.items() if name not in session.running and name not in session.promised]


def _allocate(session: Session, waiting: Iterable[Gang]) -> None:
    """Start what there is room for."""
    turns = Turns(session.accounts, waiting)
    while (gang := turns.pop()) is not None:
        if not session.start(gang):
            turns.drop(gang)


def _reclaim(session: Session, waiting: Iterable[Gang], multiplier: float) -> None:
    """Evict gangs of other queues for those whose queues are below their share."""
    turns = Turns(session.accounts, waiting)
    while (gang := turns.pop()) is not None:
        accounts = session.accounts
        victims = (
            held
            for held in session.running.values()
            if held.gang.queue != gang.queue
            and held.gang.is_preemptible
            and reclaim.may_lose(accounts, gang, held.gang.queue)
        )
        is_allowed = partial(reclaim.is_allowed, accounts.copy(), multiplier=multiplier)
        search = Search(session, gang, Action.RECLAIM, victims, is_allowed)
        after = search.solve() if reclaim.may_ask(accounts, gang) else None
        if after is None:
            turns.drop(gang)
        else:
            session.become(after)


def _preempt(session: Session, waiting: Iterable[Gang]) -> None:
    """Evict gangs of lower priority in the same queue."""
    turns = Turns(session.accounts, waiting)
    while (gang := turns.pop()) is not None:
        victims = (
            held
            for held in session.running.values()
            if held.gang.queue == gang.queue and held.gang.is_preemptible and held.gang.priority < gang.priority
        )
        after = Search(session, gang, Action.PREEMPT, victims, lambda _, __: True).solve()
        if after is None:
            turns.drop(gang)
        else:
            session.become(after)
