"""One cycle of the scheduler: what is allocated, what is evicted, and what is promised to whom."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.simulation.gang import Held

if TYPE_CHECKING:
    from qcheck.schedulers.kai.simulation.accounts import Accounts
    from qcheck.schedulers.kai.simulation.gang import SimulatedGang
    from qcheck.schedulers.kai.simulation.nodes import Floor


class Action(StrEnum):
    """The action for which KAI evicts, in its own words."""

    RECLAIM = "Reclaim"
    PREEMPT = "Preempt"


class Eviction(Value):
    """For whom a gang must leave, and by which action."""

    by: str
    action: Action


class Session:
    """The state that the actions of a cycle work on.

    `running` are gangs by name; `evicted` those that leave, with the gang they make room for; `promised` are gangs that
    start in a later cycle, when the room is there.
    """

    def __init__(self, accounts: Accounts, floor: Floor, running: dict[str, Held], at: int) -> None:
        self.accounts = accounts
        self.floor = floor
        self.running = running
        self.at = at
        self.evicted: dict[str, tuple[Held, Eviction]] = {}
        self.promised: set[str] = set()

    def copy(self) -> Session:
        """An independent copy, to try something out."""
        other = Session(self.accounts.copy(), self.floor.copy(), dict(self.running), self.at)
        other.evicted.update(self.evicted)
        other.promised.update(self.promised)
        return other

    def start(self, gang: SimulatedGang) -> bool:
        """Start a gang, or promise it what is about to be free; say whether either is possible."""
        if self.accounts.refusal(gang) is not None:
            return False
        nodes = self.floor.place(gang.pods, later=False)
        if nodes is not None:
            self.accounts.add(gang)
            self.running[gang.name] = Held(gang, nodes, self.at)
            return True
        return self.promise(gang) is not None

    def promise(self, gang: SimulatedGang) -> tuple[int, ...] | None:
        """Promise a gang what is or will be free; return the nodes, or None if it does not fit."""
        if self.accounts.refusal(gang) is not None:
            return None
        nodes = self.floor.place(gang.pods, later=True)
        if nodes is not None:
            self.accounts.add(gang)
            self.promised.add(gang.name)
        return nodes

    def evict(self, held: Held, by: Eviction) -> None:
        """A gang must leave for another one."""
        del self.running[held.gang.name]
        self.accounts.remove(held.gang)
        self.floor.leave(held)
        self.evicted[held.gang.name] = (held, by)

    def keep(self, held: Held) -> None:
        """A gang that was to leave is promised its own nodes: it stays."""
        name = held.gang.name
        del self.evicted[name]
        self.promised.discard(name)
        self.running[name] = held

    def become(self, other: Session) -> None:
        """Go on from what was tried out."""
        self.accounts.become(other.accounts)
        self.floor, self.running = other.floor, other.running
        self.evicted, self.promised = other.evicted, other.promised
