"""The effect of a change on the workloads of a scenario: when each starts, and how often it is preempted."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.answers.simulated import Simulated


class WorkloadOutcome(Value):
    """The outcome of one workload.

    `started` is the second of its first admission in the run; None if there is none, as for one that holds quota from
    the start. `preempted` counts preemptions; `waits`: it is pending at the end.
    """

    queue: str
    started: int | None
    preempted: int
    waits: bool


class OutcomeChange(Value):
    """A workload with a different outcome; a side is None if it is rejected or its queue does not exist."""

    workload: str
    before: WorkloadOutcome | None
    after: WorkloadOutcome | None


def workload_outcomes(run: Simulated) -> dict[str, WorkloadOutcome]:
    """Return the outcome of every workload of a run, by name."""
    spans = run.timeline.spans
    preempted: dict[str, int] = {}
    started: dict[str, int] = {}
    for span in spans:
        name = span.job.name
        preempted[name] = preempted.get(name, 0) + (span.preempted_by is not None)
        if span.start > run.timeline.start:
            started[name] = min(span.start, started.get(name, span.start))
    waiting = {w.job.name for w in run.timeline.waiting}
    return {
        job.name: WorkloadOutcome(job.queue, started.get(job.name), preempted.get(job.name, 0), job.name in waiting)
        for job in run.jobs
    }


def outcome_changes(before: Simulated, after: Simulated) -> tuple[OutcomeChange, ...]:
    """Return the workloads with different outcomes, in order of name."""
    old, new = workload_outcomes(before), workload_outcomes(after)
    names = sorted(old.keys() | new.keys())
    return tuple(OutcomeChange(n, old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n))
