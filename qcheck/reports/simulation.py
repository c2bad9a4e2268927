"""A simulated run as text and JSON."""

from __future__ import annotations

from bisect import bisect_right

from qcheck.answers.simulated_queues import simulated_queues
from qcheck.answers.workload_outcomes import outcome_changes
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.columns import columns
from qcheck.reports.json_text import dump
from qcheck.reports.wording import plain, plural
from qcheck.schedulers.kueue.simulation.outcomes import Outcome, PendingPlace
from qcheck.schedulers.kueue.simulation.timeline import End

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from qcheck.answers.simulated import ShareStep, Simulated
    from qcheck.answers.simulated_queues import SimulatedQueue
    from qcheck.answers.workload_outcomes import WorkloadOutcome
    from qcheck.reports.json_text import Json
    from qcheck.schedulers.kueue.simulation.timeline import CycleRecord, PendingWorkload, Span
    from qcheck.schedulers.kueue.simulation.workload import Flavors, PodCounts

    Data = dict[str, Json]

MOST_EVENTS = 200
"""The number of steps that the text shows; JSON has all of them."""
MOST_PENDING = 40
PENDING = "Pending"
MOST_SHARES = 12


def render_json(run: Simulated) -> str:
    return dump(as_data(run))


def as_data(run: Simulated) -> Data:
    """Return the answer as plain data."""
    timeline = run.timeline
    pending = [(w.job.name, w.site, _reason(run, w)) for w in timeline.waiting]
    pending += [(b.workload, PendingPlace.INADMISSIBLE, b.code) for b in run.rejected]
    return {
        "schema": 1,
        "end": timeline.outcome.value,
        "cycles": [_cycle(c) for c in timeline.cycles],
        "admitted": [_admission(s.job.name, s.flavors, s.counts) for s in timeline.running],
        "pending": [{"workload": n, "place": site.value, "reason": why} for n, site, why in sorted(pending)],
        "queues": [
            {
                "queue": lane.queue,
                "deviceHours": number(lane.device_hours),
                "waited": lane.waited,
                "preempted": lane.preempted,
            }
            for lane in simulated_queues(run)
        ],
        "notSimulated": list(run.not_simulated),
        **({"shares": [{"at": s.at, "shares": _shares(s)} for s in run.shares]} if run.shares else {}),
    }


def _shares(step: ShareStep) -> Json:
    return {name: int(share) if share == int(share) else share for name, share in step.shares.items()}


def _reason(run: Simulated, waiter: PendingWorkload) -> str | None:
    """Return the reason in the release's terms: older releases write the same for all."""
    if waiter.reason is None:
        return None
    return waiter.reason.value if run.names_reasons else PENDING


def number(value: Fraction) -> Json:
    """Return an integer if possible, else a number rounded to thousandths."""
    return value.numerator if value.denominator == 1 else float(round(value, 3))


def _admission(workload: str, flavors: Flavors, counts: PodCounts) -> Data:
    return {"workload": workload, "flavors": flavors, **({"counts": counts} if counts else {})}


def _cycle(record: CycleRecord) -> Data:
    return {
        "cycle": record.number,
        "at": record.at,
        "heads": [[name, outcome.value] for name, outcome in record.heads],
        "admitted": [_admission(a.workload, a.flavors, a.counts) for a in record.admitted],
        "preempted": [{"workload": p.workload, "by": p.by, "reason": p.cause.value} for p in record.preempted],
    }


def render_text(run: Simulated) -> str:
    """Return the timeline, the end, and a table of the queues."""
    lines = [f"{run.title}, {plural(len(run.jobs), 'workload')}", "", *steps(run)]
    lines += ["", *ending(run), "", *_table(simulated_queues(run))]
    lines += ["", *_share_lines(run)] if run.shares else []
    lines += ["", *(f"not simulated: {what}" for what in run.not_simulated)]
    return "\n".join(map(plain, lines)).rstrip() + "\n"


def _share_lines(run: Simulated) -> Iterator[str]:
    """Yield the fair shares at the start, at each preemption, and in between."""
    yield "fair shares:"
    found, preempting = run.shares, [c.at for c in run.timeline.cycles if c.preempted]
    decisive = (bisect_right(found, at, key=lambda step: step.at) - 1 for at in preempting)
    even = (number * (len(found) - 1) // (MOST_SHARES - 1) for number in range(MOST_SHARES))
    chosen = sorted(list(dict.fromkeys((0, *decisive, *even)))[:MOST_SHARES])
    for number in chosen:
        shares = ", ".join(f"{name} {share:g}" for name, share in found[number].shares.items())
        yield f"{clock(found[number].at - run.timeline.start):>10}  {shares}"
    if len(found) > len(chosen):
        yield f"... {plural(len(found) - len(chosen), 'more change')}: see --format json"


def steps(run: Simulated) -> Iterator[str]:
    """Yield the events in order of time."""
    timeline = run.timeline
    events = [(c.at, 1, list(_cycle_lines(c, timeline.start))) for c in timeline.cycles if c.moves]
    if run.scenario.eviction_delay:
        events += [(s.end or 0, 0, [_release(s, timeline.start)]) for s in timeline.spans if s.preempted_by]
    events.sort(key=lambda e: e[:2])
    yield from (line for _, _, text in events[:MOST_EVENTS] for line in text)
    if len(events) > MOST_EVENTS:
        yield f"... {plural(len(events) - MOST_EVENTS, 'more step')}: see --format json"
    if not events:
        yield "no admissions and no preemptions"


def _cycle_lines(record: CycleRecord, start: int) -> Iterator[str]:
    head = f"{clock(record.at - start):>10}  cycle {record.number:<5}"
    for preemption in record.preempted:
        yield f"{head} {preemption.by} preempts {preemption.workload} ({preemption.cause.value})"
        head = " " * len(head)
    for admission in record.admitted:
        flavors = ", ".join(sorted({f for of in admission.flavors.values() for f in of.values()}))
        pods = f" with {plural(sum(admission.counts.values()), 'pod')}" if admission.counts else ""
        yield f"{head} {admission.workload} is admitted{f' on {flavors}' if flavors else ''}{pods}"
        head = " " * len(head)
    passed = [name for name, o in record.heads if o in (Outcome.NO_LONGER_FITS, Outcome.OVERLAP)]
    if passed:
        yield f"{head} {', '.join(passed)}: lost to an earlier workload of this cycle"


def _release(span: Span, start: int) -> str:
    held = ", ".join(name_amount(r, n) for (_, r), n in sorted(span.held.items()) if n)
    return f"{clock((span.end or 0) - start):>10}  {'':11} {span.job.name} gives back {held}"


def clock(seconds: int) -> str:
    """Format seconds after the start as `+0:25:02`."""
    sign, left = ("-", -seconds) if seconds < 0 else ("+", seconds)
    days, rest = divmod(left, 86_400)
    shown = f"{rest // 3600}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{sign}{days}d {shown}" if days else f"{sign}{shown}"


def ending(run: Simulated) -> Iterator[str]:
    """Yield how the run ends, and which workloads are then pending."""
    timeline = run.timeline
    at = clock(timeline.end - timeline.start)
    waiting = [*((w.job.name, w.job.queue, _why(w.site, w.reason)) for w in timeline.waiting)]
    waiting += [(b.workload, b.queue, b.message) for b in run.rejected]
    if timeline.outcome is End.CYCLING:
        yield f"{at}  does not settle: the same workloads are admitted and preempted repeatedly"
    else:
        yield f"{at}  no further changes"
    yield f"{plural(len(waiting), 'workload')} waiting, {len(timeline.running):,} with quota"
    for name, queue, why in sorted(waiting)[:MOST_PENDING]:
        yield f"  {name} in {queue}: {why}"
    if len(waiting) > MOST_PENDING:
        yield f"  and {len(waiting) - MOST_PENDING:,} more"


def _why(site: PendingPlace, reason: object) -> str:
    return f"{site.value}, {'not tried yet' if reason is None else reason}"


def _table(found: Sequence[SimulatedQueue]) -> Iterator[str]:
    rows = [("queue", "device-hours", "waited", "longest wait", "preempted")]
    rows += [
        (
            lane.queue,
            f"{float(lane.device_hours):,.1f}",
            clock(lane.waited)[1:],
            clock(lane.longest_wait)[1:],
            str(lane.preempted),
        )
        for lane in found
    ]
    yield from columns(rows, range(1, 5))


def amount(lane: SimulatedQueue, units: int) -> str:
    """Format an amount of a lane's resource with its unit."""
    return name_amount(lane.resource, units)


def render_change_json(before: Simulated, after: Simulated, names: tuple[str, str]) -> str:
    """Return both runs, and the workloads whose outcome differs."""
    changes = outcome_changes(before, after)
    return dump(
        {
            "schema": 1,
            "before": {"name": names[0], **as_data(before)},
            "after": {"name": names[1], **as_data(after)},
            "changes": [
                {"workload": c.workload, "before": _outcome_data(c.before), "after": _outcome_data(c.after)}
                for c in changes
            ],
        }
    )


def _outcome_data(outcome: WorkloadOutcome | None) -> Json:
    if outcome is None:
        return None
    return {"queue": outcome.queue, "started": outcome.started, "preempted": outcome.preempted, "waits": outcome.waits}


def render_change(before: Simulated, after: Simulated, names: tuple[str, str]) -> str:
    """Return the effect of a change on the workloads and on each queue."""
    start = before.timeline.start
    lines = [f"{names[0]} -> {names[1]}", ""]
    changes = outcome_changes(before, after)
    lines += [
        f"{change.workload}: {_outcome(change.before, start)} -> {_outcome(change.after, start)}"
        for change in changes[:MOST_EVENTS]
    ]
    if len(changes) > MOST_EVENTS:
        lines.append(f"... and {len(changes) - MOST_EVENTS:,} more: see --format json")
    lines += ["no workload has a different outcome"] if not changes else []
    for name, run in zip(names, (before, after), strict=True):
        lines += ["", f"{name}: ends {run.timeline.outcome}", *_table(simulated_queues(run))]
    return "\n".join(map(plain, lines)).rstrip() + "\n"


def _outcome(outcome: WorkloadOutcome | None, start: int) -> str:
    if outcome is None:
        return "cannot be queued"
    parts = [] if outcome.started is None else [f"starts at {clock(outcome.started - start)}"]
    parts += [f"is preempted {plural(outcome.preempted, 'time')}"] if outcome.preempted else []
    parts += ["waits at the end"] if outcome.waits else []
    return ", ".join(parts) or "keeps running"
