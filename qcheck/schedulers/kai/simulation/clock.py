"""The seconds at which something can happen: the cycles of a run, in order."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.schedulers.kai.simulation.run import KaiCycle, Run

WINDOWS = 4
"""The number of history windows for which a run continues after the last arrival or end."""
MOST_CHANGES = 1_000
"""The number of cycles that may change something after the last arrival or end."""
MOST_CYCLES = 100_000
"""The maximum number of cycles for which a run continues after the last arrival or end, whatever its window."""


def cycles(run: Run, start: int, step: int) -> Iterator[KaiCycle]:
    """Yield the cycles from the second after `start` on, except those in which nothing can change.

    Usage is sampled every `step` seconds. A run that never settles ends some time after its last arrival or end.
    """
    at = sample = last_event = start + 1
    changes = count = 0
    while True:
        cycle = run.cycle(at)
        yield cycle
        if cycle.has_event:
            last_event, changes, count = at, 0, 0
        changes, count = changes + cycle.changes, count + 1
        events = [second for second in run.coming() if second > at]
        upcoming = [*events, at + 1] if cycle.changes else events
        past = run.past
        if past is not None and run.present and (cycle.changes or not past.is_steady):
            upcoming.append(max(at, sample) + 1)
        if not upcoming or changes > MOST_CHANGES or count > MOST_CYCLES:
            return
        following = min(upcoming)
        if past is not None:
            if not events and following > last_event + WINDOWS * step * past.size:
                return
            samples = len(range(sample, following, step))
            past.add(run.held(), samples)
            sample += samples * step
        at = following
