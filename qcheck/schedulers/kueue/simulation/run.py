"""A whole run: arrivals, cycles, ends and evictions second by second, until nothing changes.

Only this module has state that changes from cycle to cycle. Events of a second (arrival, end, eviction) precede its
cycle. Source of the order: Kueue 0.20 `pkg/scheduler`, `pkg/cache/queue`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from enum import IntEnum

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.simulation.admitted import AdmittedWorkloads
from qcheck.schedulers.kueue.simulation.cycle import Cycle
from qcheck.schedulers.kueue.simulation.entry import Head
from qcheck.schedulers.kueue.simulation.flavors import LAST
from qcheck.schedulers.kueue.simulation.ledger import charge, discharge
from qcheck.schedulers.kueue.simulation.outcomes import Outcome, PendingPlace, WaitReason
from qcheck.schedulers.kueue.simulation.pending import PendingWorkloads
from qcheck.schedulers.kueue.simulation.timeline import PendingWorkload, Recorder
from qcheck.schedulers.kueue.simulation.workload import Holder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.simulation.entry import Entry, Nomination
    from qcheck.schedulers.kueue.simulation.flavors import Grades, Spot
    from qcheck.schedulers.kueue.simulation.ledger import Ledger, LedgerNode
    from qcheck.schedulers.kueue.simulation.rules import Rules
    from qcheck.schedulers.kueue.simulation.timeline import Timeline
    from qcheck.schedulers.kueue.simulation.workload import Job

    Report = Callable[[int, int], None]
    """A function called after every cycle with its number and second."""

_STILL = 4
"""The number of equal cycles after which nothing will change, if no list of flavors is longer."""
_LOOP_CYCLES, _LOOP_PREEMPTIONS = 60, 4
"""A run cycles if a workload was preempted this often within this many cycles after the last arrival or end."""
_WAITS_FOR = {
    Outcome.PENDING_PREEMPTION: WaitReason.WAITING_FOR_PREEMPTED,
    Outcome.DEFERRED_FIT: WaitReason.WAITING_FOR_PREEMPTED,
}


class _Kind(IntEnum):
    ARRIVAL = 0
    END = 1
    EVICTION = 2


class _Tried(Value):
    """A nomination and the state in which it was made: the earlier progress and the version of its tree.

    `progress` is how far the search for flavors went; `cycle` and `generation` (of the queue) say when.
    """

    nomination: Nomination
    before: Mapping[Spot, int]
    version: int
    progress: Mapping[Spot, int]
    cycle: int
    generation: int


class Simulation:
    """The scheduler with its queues, carried from second to second.

    `eviction_delay`: seconds for which a preempted workload holds its quota.
    """

    def __init__(
        self, queues: Mapping[str, ClusterQueue], rules: Rules, ledger: Ledger, start: int, eviction_delay: int = 0
    ) -> None:
        self._queues = queues
        self._rules = rules
        self._ledger = ledger
        self._delay = eviction_delay
        self._now = start
        self._waiting = {name: PendingWorkloads(queues[name], rules) for name in ledger.queues}
        self._holders = {name: AdmittedWorkloads() for name in ledger.queues}
        self._generation = dict.fromkeys(ledger.queues, 0)
        self._tried: dict[str, _Tried] = {}
        self._version: Counter[LedgerNode] = Counter()
        self._grades: dict[LedgerNode, Grades] = {node.root: {} for node in ledger.queues.values()}
        self._events: list[tuple[int, _Kind, int, Job | Holder]] = []
        self._cycle = 0
        self._still = 0
        self._since_event = 0
        self._planned = 0
        self._preemptions: Counter[str] = Counter()
        self._recorder = Recorder(start)
        longest = max((len(g.flavors) for q in queues.values() for g in q.groups), default=0)
        self._rest = max(_STILL, longest + 1)

    def hold(self, holders: Iterable[Holder]) -> None:
        """Add workloads that hold quota from the start."""
        for holder in holders:
            self._take(holder)

    def submit(self, jobs: Iterable[Job]) -> None:
        """Add workloads that wait; one that is created later arrives at that second."""
        for job in jobs:
            if job.since > self._now:
                self._plan(job.since, _Kind.ARRIVAL, job)
            else:
                self._arrive(job)

    def run(self, report: Report | None = None) -> Timeline:
        """Run until nothing changes; may be called once."""
        while self._advance():
            self._cycle += 1
            self._since_event += 1
            changed = self._apply(self._processed())
            self._still = 0 if changed else self._still + 1
            if report is not None:
                report(self._cycle, self._now)
        waiting = [PendingWorkload(job, site, w.reason(job)) for w in self._waiting.values() for job, site in w]
        holders = [h for of in self._holders.values() for h in of]
        return self._recorder.timeline(holders, waiting)

    def _advance(self) -> bool:
        """Advance to the second of the next cycle; return False if there is none."""
        if self._loops() or self._still >= self._rest:
            ahead = self._next_change()
            self._recorder.stops(self._still, is_loop=self._loops())
            if ahead is None:
                return False
            skipped = max(0, ahead - self._now - 1)
            self._cycle += skipped
            self._now += skipped
            self._still = 0
        self._now += 1
        self._happen()
        while not any(w.has_heads for w in self._waiting.values()):
            if not self._events:
                return False
            self._now = max(self._now, self._events[0][0])
            self._happen()
        return True

    def _next_change(self) -> int | None:
        """Return the second of the next event; if the run cycles, of the next event other than an eviction."""
        if self._loops():
            return min((at for at, kind, *_ in self._events if kind is not _Kind.EVICTION), default=None)
        return self._events[0][0] if self._events else None

    def _loops(self) -> bool:
        return self._since_event >= _LOOP_CYCLES and max(self._preemptions.values(), default=0) >= _LOOP_PREEMPTIONS

    def _plan(self, at: int, kind: _Kind, what: Job | Holder) -> None:
        heapq.heappush(self._events, (at, kind, self._planned, what))
        self._planned += 1

    def _happen(self) -> None:
        """Process the events up to this second, before its cycle."""
        while self._events and self._events[0][0] <= self._now:
            _, kind, _, what = heapq.heappop(self._events)
            if isinstance(what, Holder):
                if kind is _Kind.EVICTION:
                    self._release([what])
                elif what.evicted_by is None:
                    self._end(what)
            else:
                self._arrive(what)

    def _arrive(self, job: Job) -> None:
        self._waiting[job.queue].push(job)
        self._since_event = 0
        self._preemptions.clear()

    def _take(self, holder: Holder) -> None:
        """Give a workload its quota."""
        queue = holder.job.queue
        self._holders[queue].add(holder)
        charge(holder.usage)
        self._changed(queue)
        if holder.job.runs_for is not None:
            self._plan(holder.since + holder.job.runs_for, _Kind.END, holder)

    def _leave(self, holder: Holder) -> None:
        """Free a workload's quota."""
        queue = holder.job.queue
        self._holders[queue].remove(holder)
        discharge(holder.usage)
        self._changed(queue)
        self._recorder.leaves(holder, self._now)

    def _changed(self, queue: str) -> None:
        """Record that a workload of a queue got quota, lost it or is about to."""
        self._generation[queue] += 1
        root = self._ledger.queues[queue].root
        self._version[root] += 1
        self._grades[root].clear()

    def _end(self, holder: Holder) -> None:
        self._leave(holder)
        self._wake(self._ledger.queues[holder.job.queue])
        self._since_event = 0
        self._preemptions.clear()

    def _release(self, holders: list[Holder]) -> None:
        """Return evicted workloads to their heaps, together with all inadmissible workloads of their trees."""
        for holder in holders:
            self._leave(holder)
            self._waiting[holder.job.queue].take_back(holder.job)
        for root in dict.fromkeys(self._ledger.queues[h.job.queue].root for h in holders):
            self._wake(root)

    def _wake(self, node: LedgerNode) -> None:
        for queue in node.root.queues_below():
            self._waiting[queue.name].wake()

    def _processed(self) -> list[Entry]:
        """Run a cycle over the heads of all queues."""
        jobs = [job for w in self._waiting.values() if (job := w.pop()) is not None]
        heads = {job.name: self._head(job) for job in jobs}
        cycle = Cycle(
            rules=self._rules, queues=self._queues, ledger=self._ledger, holders=self._holders, grades=self._grades
        )
        entries = cycle.run(list(heads.values()))
        for entry in entries:
            self._tried[entry.job.name] = _Tried(
                nomination=entry.nomination,
                before=heads[entry.job.name].progress,
                version=self._version[entry.node.root],
                progress=entry.progress,
                cycle=self._cycle,
                generation=self._generation[entry.job.queue],
            )
        return entries

    def _head(self, job: Job) -> Head:
        """Return a workload with its known progress and nomination.

        The progress of the search for flavors counts, unless the queue has changed since and the search is older than
        the last cycle.
        """
        tried = self._tried.get(job.name)
        if tried is None:
            return Head(job, {}, None)
        is_old = tried.cycle < self._cycle - 1 and tried.generation < self._generation[job.queue]
        progress = {} if is_old else tried.progress
        is_same = tried.version == self._version[self._ledger.queues[job.queue].root] and tried.before == progress
        return Head(job, progress, tried.nomination if is_same else None)

    def _apply(self, entries: list[Entry]) -> bool:
        """Admit, preempt and requeue by the cycle's outcome; return False if nothing changed."""
        changed = False
        evicted: list[Holder] = []
        for entry in entries:
            if entry.outcome is Outcome.ADMITTED:
                self._admit(entry)
            elif entry.outcome is Outcome.PENDING_PREEMPTION:
                evicted += self._evict(entry)
            changed |= entry.outcome is Outcome.ADMITTED or self._requeue(entry) is PendingPlace.INADMISSIBLE
        self._recorder.cycle(self._cycle, self._now, entries, evicted)
        if self._delay:
            for holder in evicted:
                self._plan(self._now + self._delay, _Kind.EVICTION, holder)
        else:
            self._release(evicted)
        return changed or bool(evicted)

    def _admit(self, entry: Entry) -> None:
        self._waiting[entry.job.queue].forget(entry.job.name)
        self._tried.pop(entry.job.name, None)
        usage, flavors = entry.assignment.usage, entry.flavors
        self._take(Holder(job=entry.job, usage=usage, flavors=flavors, since=self._now, counts=entry.counts))

    def _evict(self, entry: Entry) -> list[Holder]:
        """Start the eviction of an entry's victims, unless it is under way."""
        new = [v for v in entry.targets if v.holder.evicted_by is None]
        for victim in new:
            victim.holder.evicted_by = entry.job.name, victim.cause
            self._changed(victim.holder.job.queue)
            self._preemptions[victim.holder.job.name] += 1
        return [v.holder for v in new]

    def _requeue(self, entry: Entry) -> PendingPlace:
        has_flavors_left = any(seen != LAST for seen in entry.progress.values())
        return self._waiting[entry.job.queue].requeue(entry.job, entry.outcome, has_flavors_left, self._reason(entry))

    def _reason(self, entry: Entry) -> WaitReason:
        default = _WAITS_FOR.get(entry.outcome, WaitReason.WAITING_FOR_QUOTA)
        return (entry.assignment.reason or default) if entry.outcome is Outcome.NO_FIT else default
