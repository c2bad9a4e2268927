"""A simulated run as text, JSON and HTML."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.answers.simulate import Simulated
    from qcheck.schedulers.kueue.simulation.timeline import CycleRecord

Data = dict[str, object]


def as_data(run: Simulated) -> Data:
    """The answer as plain data."""
    timeline = run.timeline
    return {
        "schema": 1,
        "end": timeline.outcome.value,
        "cycles": [_cycle(c) for c in timeline.cycles],
        "admitted": [{"workload": s.job.name, "flavors": s.flavors} for s in timeline.running],
        "pending": [
            {"workload": w.job.name, "place": w.site.value, "reason": w.reason.value if w.reason else None}
            for w in timeline.waiting
        ],
    }


def _cycle(record: CycleRecord) -> Data:
    return {
        "cycle": record.number,
        "at": record.at,
        "heads": [[name, outcome.value] for name, outcome in record.heads],
        "admitted": [{"workload": a.workload, "flavors": a.flavors} for a in record.admitted],
        "preempted": [{"workload": p.workload, "by": p.by, "reason": p.cause.value} for p in record.preempted],
    }
