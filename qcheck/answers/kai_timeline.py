"""Recording of a run of KAI's scheduler as a timeline."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.shards import RESOURCES
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS
from qcheck.schedulers.kueue.simulation.outcomes import PendingPlace
from qcheck.schedulers.kueue.simulation.timeline import (
    Admission,
    CycleRecord,
    End,
    PendingWorkload,
    PreemptionEvent,
    Span,
    Timeline,
)
from qcheck.schedulers.kueue.simulation.workload import FlavorChoice, FlavorPlacement, Job

if TYPE_CHECKING:
    from qcheck.cluster.kueue import FlavorResource
    from qcheck.schedulers.kai.simulation.gang import Held, SimulatedGang
    from qcheck.schedulers.kai.simulation.run import KaiCycle, Run
    from qcheck.schedulers.kueue.simulation.workload import Flavors


class KaiRecorder:
    """Recorder of the events of one shard's gangs.

    `pool` is its key; `flavors` name it for the pod sets of each gang.
    """

    def __init__(self, pool: str, flavors: dict[str, Flavors], start: int, eviction_delay: int) -> None:
        self._pool = pool
        self._flavors = flavors
        self._start = self._last = start
        self._delay = eviction_delay
        self._records: list[CycleRecord] = []
        self._spans: list[Span] = []
        self._since: dict[str, tuple[SimulatedGang, int]] = {}
        self._losses: dict[str, int] = {}

    def holds(self, held: Held) -> None:
        """Record a gang that runs from the start."""
        self._since[held.gang.name] = (held.gang, held.since)

    def write(self, number: int, cycle: KaiCycle, gangs: dict[str, SimulatedGang]) -> None:
        """Record one cycle. `gangs` are all gangs of the run, by name."""
        if cycle.has_event:
            self._losses.clear()
        for name in cycle.ended:
            self._close(name, cycle.at, None)
        for name in cycle.started:
            self._since[name] = (gangs[name], cycle.at)
        for name, eviction in cycle.evicted.items():
            self._close(name, cycle.at + self._delay, eviction.by)
            self._losses[name] = self._losses.get(name, 0) + 1
        if cycle.changes:
            self._last = max(self._last, cycle.at)
            self._records.append(
                CycleRecord(
                    number=number,
                    at=cycle.at,
                    heads=(),
                    admitted=tuple(Admission(name, self._flavors[name]) for name in sorted(cycle.started)),
                    preempted=tuple(PreemptionEvent(n, e.by, e.action) for n, e in sorted(cycle.evicted.items())),
                )
            )

    def _close(self, name: str, end: int, by: str | None) -> None:
        self._spans.append(self._span(name, end, by))
        del self._since[name]
        self._last = max(self._last, end)

    def _span(self, name: str, end: int | None, by: str | None) -> Span:
        gang, start = self._since[name]
        return Span(
            job=self.job(gang),
            flavors=self._flavors[name],
            held=self._amounts(gang),
            start=start,
            end=end,
            preempted_by=by,
        )

    def _amounts(self, gang: SimulatedGang) -> dict[FlavorResource, int]:
        amounts = zip(DIMENSIONS, gang.total, strict=True)
        return {(self._pool, RESOURCES[dimension]): int(amount) for dimension, amount in amounts if amount}

    def job(self, gang: SimulatedGang) -> Job:
        """Return a gang in the form that reports use."""
        held = self._amounts(gang)
        choice = FlavorChoice(tuple(resource for _, resource in held), tuple(held.values()), ())
        return Job(
            name=gang.name,
            queue=gang.queue,
            priority=gang.priority,
            since=gang.since,
            placements=(FlavorPlacement((), (choice,)),),
            shape=gang.shape,
            runs_for=gang.runs_for,
        )

    def timeline(self, run: Run) -> Timeline:
        """Return the whole timeline. A run cycles if a gang is evicted more than once after the last arrival or end."""
        waiting = (
            PendingWorkload(self.job(g), PendingPlace.HEAP, run.refusal(g, self._last)) for g in run.waiting.values()
        )
        return Timeline(
            outcome=End.CYCLING if any(times > 1 for times in self._losses.values()) else End.QUIET,
            start=self._start,
            end=self._last,
            cycles=tuple(self._records),
            spans=(*self._spans, *(self._span(name, None, None) for name in self._since)),
            waiting=tuple(sorted(waiting, key=lambda w: w.job.name)),
        )
