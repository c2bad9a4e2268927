"""Simulation of Kueue's scheduler on the workloads of a scenario, cycle by cycle."""

from __future__ import annotations

from qcheck.answers.question import QuestionError, fault
from qcheck.answers.scenario import MOST_WORKLOADS
from qcheck.answers.simulated import RejectedWorkload, Simulated
from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.admission import copies_of
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.inactive_queues import inactive
from qcheck.schedulers.kueue.priorities import kueue_rank
from qcheck.schedulers.kueue.routing import destination
from qcheck.schedulers.kueue.simulation.jobs import Jobs, UnknownCell
from qcheck.schedulers.kueue.simulation.ledger import Ledger
from qcheck.schedulers.kueue.simulation.rules import rules_of
from qcheck.schedulers.kueue.simulation.run import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.answers.scenario import Scenario, ScenarioWorkload
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.simulation.run import Report
    from qcheck.schedulers.kueue.simulation.timeline import Timeline
    from qcheck.schedulers.kueue.simulation.workload import Holder, Job


def simulate_kueue(cluster: Cluster, scenario: Scenario, report: Report | None) -> Simulated:
    """Run a scenario on Kueue's queues. Raises `QuestionError` for a workload that refers to something missing."""
    rules = rules_of(cluster, scenario.is_fair)
    ledger = Ledger(cohort_tree(cluster))
    built = _JobBuilder(cluster, ledger)
    for entry in scenario.workloads:
        built.add(entry)
    if built.faults:
        raise QuestionError(built.faults)
    queues = {name: cluster.queue[name] for name in ledger.queues}
    simulation = Simulation(
        queues=queues, rules=rules, ledger=ledger, start=scenario.start, eviction_delay=scenario.eviction_delay
    )
    simulation.hold(built.holders)
    simulation.submit(built.jobs)
    timeline = simulation.run(report)
    jobs = (*(h.job for h in built.holders), *built.jobs)
    mode = "fair sharing" if rules.is_fair else "classical preemption"
    return Simulated(
        title=f"Kueue {cluster.policy.kueue}, {mode}",
        scenario=scenario,
        quotas={job.queue: {q.key: q.nominal for q in cluster.queue[job.queue].quotas()} for job in jobs},
        timeline=timeline,
        jobs=jobs,
        rejected=tuple(built.rejected),
        not_simulated=tuple(_left_out(cluster, timeline, {job.queue for job in jobs})),
        names_reasons=rules.names_reasons,
    )


def _left_out(cluster: Cluster, timeline: Timeline, queues: Iterable[str]) -> Iterator[str]:
    """Yield the effects that the simulation omits."""
    yield "the start-up and the end of pods: both are instant"
    if any(pool.minimum != pool.maximum for pool in cluster.pools):
        yield "the time that an autoscaler needs to add nodes"
    used = [cluster.queue[name] for name in queues]
    flavors = {f.name for q in used for f in q.flavors()}
    if any(cluster.flavor[f].topology for f in flavors if f in cluster.flavor):
        yield "placement in the topology: a workload that fits the quota counts as placed"
    if any(q.checks for q in used):
        yield "admission checks: they pass at once"
    if cluster.configuration is not None and cluster.configuration.admission_fair_sharing:
        yield "admission fair sharing: past usage does not change the order of a queue"
    if any(s.preempted_by for s in timeline.spans):
        yield "checkpoints: a preempted workload starts again with its full duration"


class _JobBuilder:
    """Sorts the workloads of a scenario into holders of quota, waiting and rejected ones, and collects faults."""

    def __init__(self, cluster: Cluster, ledger: Ledger) -> None:
        self._cluster = cluster
        self._ledger = ledger
        self._jobs = Jobs(cluster, ledger)
        self._queues: dict[str, list[RejectedWorkload]] = {}
        self.holders: list[Holder] = []
        self.jobs: list[Job] = []
        self.rejected: list[RejectedWorkload] = []
        self.faults: list[str] = []

    def add(self, entry: ScenarioWorkload) -> None:
        """Add a workload, or as many as its object creates."""
        queue, priority = self._queue(entry), self._priority(entry)
        if queue is None or priority is None:
            return
        if queue.name not in self._ledger.queues:
            self._reject(entry, queue, ReasonCode.SUSPENDED, f"the cohorts above {queue.name} form a cycle")
            return
        stopped = next(iter(inactive(self._cluster, queue)), None)
        if stopped is not None and entry.admitted is None:
            self._reject(
                entry, queue, ReasonCode.SUSPENDED, f"{queue.name} is inactive ({stopped.reason}): {stopped.message}"
            )
            return
        copies = copies_of(entry.workload)
        if len(self.jobs) + len(self.holders) + copies > MOST_WORKLOADS:
            message = (
                f"{entry.name} creates {copies} workloads; a simulation supports at most {MOST_WORKLOADS} in total"
            )
            raise QuestionError([fault(entry.place, message)])
        for number in range(copies):
            name = entry.name if copies == 1 else f"{entry.name}-{number}"
            self._add(name, entry, queue, priority)

    def _add(self, name: str, entry: ScenarioWorkload, queue: ClusterQueue, priority: int) -> None:
        job = self._jobs.job(name, entry.workload, queue, priority, entry.created, entry.runs_for)
        if entry.admitted is None:
            self.jobs.append(job)
            return
        try:
            flavors, since = entry.admitted.flavors, entry.admitted.at
            self.holders.append(self._jobs.holder(job, entry.workload, queue, flavors, since))
        except UnknownCell as error:
            self.faults.append(fault(entry.admitted.place, f"{name}: {error}"))

    def _reject(self, entry: ScenarioWorkload, queue: ClusterQueue, code: ReasonCode, message: str) -> None:
        self.rejected.append(RejectedWorkload(entry.name, queue.name, code, message))

    def _queue(self, entry: ScenarioWorkload) -> ClusterQueue | None:
        """Return the ClusterQueue of a workload; None, with a fault, if there is none."""
        if entry.cluster_queue is not None:
            return self._named(entry, "clusterQueue", entry.cluster_queue)
        if entry.local_queue is None:
            goal = destination(self._cluster, entry.workload)
            if goal.queue is None:
                why = next((r.message for r in (*goal.blocked, *goal.doubts)), "it names no queue")
                self.faults.append(fault(entry.place, f"{entry.name} reaches no cluster queue: {why}"))
            return goal.queue
        local = self._cluster.local_queue.get(entry.local_queue)
        if local is None:
            named = "/".join(entry.local_queue)
            self.faults.append(fault(entry.place.at("queue"), f"{entry.name}: there is no LocalQueue {named}"))
            return None
        return self._named(entry, "queue", local.cluster_queue or "")

    def _named(self, entry: ScenarioWorkload, key: str, name: str) -> ClusterQueue | None:
        queue = self._cluster.queue.get(name)
        if queue is None:
            known = ", ".join(sorted([*self._cluster.queue, *(q.name for q in self._cluster.kai_queues)])) or "none"
            kinds = "ClusterQueue and no Queue" if self._cluster.kai_queues else "ClusterQueue"
            message = f"{entry.name}: there is no {kinds} {name}; there are: {known}"
            self.faults.append(fault(entry.place.at(key), message))
        return queue

    def _priority(self, entry: ScenarioWorkload) -> int | None:
        if entry.priority is not None:
            return entry.priority
        if entry.priority_class is None:
            rank = kueue_rank(self._cluster, entry.workload)
            return rank.value if rank else 0
        for known in (self._cluster.workload_priority_class, self._cluster.priority_class):
            if entry.priority_class in known:
                return known[entry.priority_class].value
        message = f"{entry.name}: there is no WorkloadPriorityClass {entry.priority_class}"
        self.faults.append(fault(entry.place.at("priorityClass"), message))
        return None
