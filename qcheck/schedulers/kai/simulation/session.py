"""One cycle of the scheduler: what is allocated, what is evicted, and what is promised to which gang."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kai.simulation.gang import Held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.schedulers.kai.simulation.accounts import Accounts
    from qcheck.schedulers.kai.simulation.gang import SimulatedGang
    from qcheck.schedulers.kai.simulation.nodes import Floor


class Action(StrEnum):
    """The action for which KAI evicts, in its own terms."""

    RECLAIM = "Reclaim"
    PREEMPT = "Preempt"


class Eviction(Value):
    """The gang for which another must leave, and the action."""

    by: str
    action: Action


class Session:
    """The state on which the actions of a cycle work.

    `running` contains gangs by name; `evicted`, those that leave, each with the gang for which it leaves; `promised`, gangs
    that start in a later cycle, once there is room; `withdrawn`, those that lose such a promise to another gang.
    """

    def __init__(self, accounts: Accounts, floor: Floor, running: dict[str, Held], at: int) -> None:
        self.accounts = accounts
        self.floor = floor
        self.running = running
        self.at = at
        self.evicted: dict[str, tuple[Held, Eviction]] = {}
        self.promised: dict[str, Held] = {}
        self.withdrawn: set[str] = set()

    def copy(self) -> Session:
        """Return an independent copy, for a trial."""
        other = Session(self.accounts.copy(), self.floor.copy(), dict(self.running), self.at)
        other.evicted.update(self.evicted)
        other.promised.update(self.promised)
        other.withdrawn.update(self.withdrawn)
        return other

    def start(self, gang: SimulatedGang) -> bool:
        """Start a gang, or promise it what will be free; return whether either is possible."""
        if self.accounts.refusal(gang) is not None:
            return False
        nodes = self.floor.place(gang.pods, later=False)
        if nodes is not None:
            self.accounts.add(gang)
            self.running[gang.name] = Held(gang, nodes, self.at)
            return True
        return self.promise(gang) is not None

    def promise(self, gang: SimulatedGang) -> tuple[int, ...] | None:
        """Promise a gang what is or will be free; return its nodes, or None if it does not fit."""
        if self.accounts.refusal(gang) is not None:
            return None
        nodes = self.floor.place(gang.pods, later=True)
        if nodes is not None:
            self.accounts.add(gang)
            self.promised[gang.name] = Held(gang, nodes, self.at)
            self.withdrawn.discard(gang.name)
        return nodes

    def evict(self, held: Held, by: Eviction) -> None:
        """Evict a gang for another one, or withdraw its promise."""
        name = held.gang.name
        self.accounts.remove(held.gang)
        if name in self.promised:
            self.floor.withdraw(self.promised.pop(name))
            if name not in self.evicted:
                self.withdrawn.add(name)
            return
        del self.running[name]
        self.floor.leave(held)
        self.evicted[name] = (held, by)

    def keep(self, held: Held) -> None:
        """Promise a leaving gang its own nodes, so that it stays."""
        name = held.gang.name
        del self.evicted[name]
        del self.promised[name]
        self.running[name] = held

    def holders(self) -> Iterator[Held]:
        """Yield the gangs that hold room or are promised room."""
        yield from self.running.values()
        yield from self.promised.values()

    def become(self, other: Session) -> None:
        """Adopt the state of a trial."""
        self.accounts.become(other.accounts)
        self.floor, self.running = other.floor, other.running
        self.evicted, self.promised, self.withdrawn = other.evicted, other.promised, other.withdrawn
