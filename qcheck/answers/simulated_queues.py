"""The result of a simulated run for each queue: devices held over time, waits and preemptions."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.workload import Job

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.answers.simulated import Simulated
    from qcheck.cluster.kueue import FlavorResource
    from qcheck.schedulers.kueue.simulation.timeline import Span

HOUR = 3600


class UsageStep(Value):
    """A queue from second `at` on: its usage within and beyond its own quota, and what its workloads wait for."""

    at: int
    own: int
    borrowed: int
    waiting: int

    @property
    def tallest(self) -> int:
        return max(self.own + self.borrowed, self.waiting)


class Wait(Value):
    """A period in which a workload waits, in seconds; `end` is None if it never gets quota."""

    job: Job
    start: int
    end: int | None


class SimulatedQueue(Value):
    """One queue: `steps` count accelerators, or milli-cpu if the queue has none (`resource` names which).

    `device_hours` are accelerator hours; `waited` is the total of all its workloads, in seconds.
    """

    queue: str
    resource: str
    steps: tuple[UsageStep, ...]
    device_hours: Fraction
    waited: int
    longest_wait: int
    preempted: int


def simulated_queues(run: Simulated) -> tuple[SimulatedQueue, ...]:
    """Return one lane for each queue that has workloads in the scenario, in order of name."""
    jobs: dict[str, list[Job]] = {}
    for job in run.jobs:
        jobs.setdefault(job.queue, []).append(job)
    spans: dict[str, list[Span]] = {}
    for span in run.timeline.spans:
        spans.setdefault(span.job.queue, []).append(span)
    return tuple(_lane(run, name, jobs[name], spans.get(name, [])) for name in sorted(jobs))


def waits(jobs: Iterable[Job], spans: Iterable[Span], start: int) -> list[Wait]:
    """Return when workloads wait: from their arrival, or the end of a preemption, until they get quota."""
    since = {job.name: max(start, job.since) for job in jobs}
    by_name = {job.name: job for job in jobs}
    found: list[Wait] = []
    for span in sorted(spans, key=lambda s: s.start):
        if span.start > since.get(span.job.name, span.start):
            found.append(Wait(span.job, since[span.job.name], span.start))
        since.pop(span.job.name, None)
        if span.end is not None and span.preempted_by is not None:
            since[span.job.name] = span.end
    return [*found, *(Wait(by_name[name], at, None) for name, at in since.items())]


def _lane(run: Simulated, name: str, jobs: list[Job], spans: list[Span]) -> SimulatedQueue:
    start, end = run.timeline.start, run.timeline.end
    cells = run.quotas[name]
    resources = sorted({r for _, r in cells if is_compute(r)}) or ["cpu"]
    waiting = waits(jobs, spans, start)
    lengths = [(end if w.end is None else w.end) - w.start for w in waiting]
    held = sum(_devices(span) * ((end if span.end is None else span.end) - max(start, span.start)) for span in spans)
    return SimulatedQueue(
        queue=name,
        resource=resources[0],
        steps=_steps(start, cells, set(resources), spans, waiting),
        device_hours=Fraction(held, HOUR),
        waited=sum(lengths),
        longest_wait=max(lengths, default=0),
        preempted=sum(s.preempted_by is not None for s in spans),
    )


def _devices(span: Span) -> int:
    return sum(n for (_, resource), n in span.held.items() if is_compute(resource))


def _steps(
    start: int,
    nominal: Mapping[FlavorResource, int],
    resources: set[str],
    spans: list[Span],
    waiting: list[Wait],
) -> tuple[UsageStep, ...]:
    """Return the changes of a queue's holdings, combined per second."""
    changes: dict[int, list[tuple[FlavorResource | None, int]]] = {}
    for span in spans:
        for cell, amount in span.held.items():
            if cell[1] in resources:
                changes.setdefault(max(start, span.start), []).append((cell, amount))
                if span.end is not None:
                    changes.setdefault(span.end, []).append((cell, -amount))
    for wait in waiting:
        asked = sum(n for r, n in wait.job.asks.items() if r in resources)
        changes.setdefault(wait.start, []).append((None, asked))
        if wait.end is not None:
            changes.setdefault(wait.end, []).append((None, -asked))
    used = dict.fromkeys(nominal, 0)
    waits_for = 0
    steps = []
    for at in sorted(changes):
        for key, amount in changes[at]:
            if key is None:
                waits_for += amount
            else:
                used[key] += amount
        own = sum(min(n, nominal[c]) for c, n in used.items())
        steps.append(UsageStep(at, own, sum(used.values()) - own, waits_for))
    return tuple(steps)
