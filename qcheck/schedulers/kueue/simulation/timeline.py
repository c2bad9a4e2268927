"""The record of a simulation: each cycle, and the state at the end."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.outcomes import Outcome, PendingPlace

if TYPE_CHECKING:
    from qcheck.cluster.kueue import FlavorResource
    from qcheck.schedulers.kueue.simulation.entry import Entry
    from qcheck.schedulers.kueue.simulation.workload import Flavors, Holder, Job, PodCounts


class End(StrEnum):
    """The end of a run: nothing changes any more, or the same workloads preempt each other repeatedly."""

    QUIET = "quiet"
    CYCLING = "cycling"


class Admission(Value):
    """An admission. `counts` are pods by pod set, if partial admission reduced them."""

    workload: str
    flavors: Flavors
    counts: PodCounts = {}


class PreemptionEvent(Value):
    """A preemption. `cause` is in the terms of the simulated scheduler."""

    workload: str
    by: str
    cause: StrEnum


class CycleRecord(Value):
    """One cycle: its number from 1, its second, the heads in the order of processing, and what changed."""

    number: int
    at: int
    heads: tuple[tuple[str, Outcome], ...]
    admitted: tuple[Admission, ...]
    preempted: tuple[PreemptionEvent, ...]

    @property
    def moves(self) -> bool:
        return bool(self.admitted or self.preempted)


class PendingWorkload(Value):
    """A workload that waits at the end; `reason`, in its scheduler's terms, is None if it was never tried."""

    job: Job
    site: PendingPlace
    reason: StrEnum | None


class Span(Value):
    """A period in which a workload holds quota, in seconds; `end` is None if it still holds it at the end of the run.

    `held` is in base units by cell. `preempted_by` names the preemptor that ended it, if any. `counts` are its
    pods by pod set, if partial admission reduced them.
    """

    job: Job
    flavors: Flavors
    held: dict[FlavorResource, int]
    start: int
    end: int | None
    preempted_by: str | None = None
    counts: PodCounts = {}


class Timeline(Value):
    """A whole run, from second `start` to `end`, after which nothing changes.

    `waiting`: the workloads pending at the end. `spans`: the periods of holding quota, in the order of their ends.
    """

    outcome: End
    start: int
    end: int
    cycles: tuple[CycleRecord, ...]
    spans: tuple[Span, ...]
    waiting: tuple[PendingWorkload, ...]

    @property
    def running(self) -> tuple[Span, ...]:
        """Return the workloads that hold quota at the end, by name."""
        return tuple(sorted((s for s in self.spans if s.end is None), key=lambda s: s.job.name))


class Recorder:
    """Records a run as it proceeds."""

    def __init__(self, start: int) -> None:
        self._start = self._last = start
        self._cycles: list[CycleRecord] = []
        self._spans: list[Span] = []
        self._ends_in_loop = False

    def cycle(self, number: int, at: int, entries: list[Entry], evicted: list[Holder]) -> None:
        """Record a cycle, with the workloads whose eviction it started."""
        admitted = [Admission(e.job.name, e.flavors, e.counts) for e in entries if e.outcome is Outcome.ADMITTED]
        preempted = [PreemptionEvent(h.job.name, *h.evicted_by) for h in evicted if h.evicted_by is not None]
        record = CycleRecord(
            number=number,
            at=at,
            heads=tuple((e.job.name, e.outcome) for e in entries),
            admitted=tuple(sorted(admitted, key=lambda a: a.workload)),
            preempted=tuple(sorted(preempted, key=lambda p: p.workload)),
        )
        self._cycles.append(record)
        self._ends_in_loop = False
        if record.moves:
            self._last = at

    def leaves(self, holder: Holder, at: int) -> None:
        """Record that a workload releases its quota."""
        by = holder.evicted_by[0] if holder.evicted_by else None
        self._spans.append(_span(holder, at, by))
        self._last = max(self._last, at)

    def stops(self, still: int, is_loop: bool) -> None:
        """Record that nothing changed in the last `still` cycles, or that the run loops."""
        if still:
            del self._cycles[-still:]
        self._ends_in_loop |= is_loop

    def timeline(self, holders: list[Holder], waiting: list[PendingWorkload]) -> Timeline:
        """Return the whole timeline, with the workloads that hold quota or wait at the end."""
        open_spans = (_span(h, None, None) for h in holders)
        return Timeline(
            outcome=End.CYCLING if self._ends_in_loop else End.QUIET,
            start=self._start,
            end=self._last,
            cycles=tuple(self._cycles),
            spans=(*self._spans, *open_spans),
            waiting=tuple(sorted(waiting, key=lambda w: w.job.name)),
        )


def _span(holder: Holder, end: int | None, by: str | None) -> Span:
    return Span(
        job=holder.job,
        flavors=holder.flavors,
        held={cell.key: amount for cell, amount in holder.usage.items()},
        start=holder.since,
        end=end,
        preempted_by=by,
        counts=holder.counts,
    )
