"""Simulation of KAI's scheduler on the workloads of a scenario, cycle by cycle."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from qcheck.answers.kai_timeline import KaiRecorder
from qcheck.answers.question import QuestionError, fault
from qcheck.answers.simulated import RejectedWorkload, ShareStep, Simulated
from qcheck.cluster.kai import UNLIMITED, Dimension
from qcheck.cluster.policy import KAI_CLASSES
from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.jobs import NON_PREEMPTIBLE_FROM, job_of
from qcheck.schedulers.kai.requests import request_of
from qcheck.schedulers.kai.shards import RESOURCES, shards_of
from qcheck.schedulers.kai.simulation.clock import cycles
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS, Held, SimulatedGang
from qcheck.schedulers.kai.simulation.nodes import Floor
from qcheck.schedulers.kai.simulation.run import Run
from qcheck.schedulers.kai.simulation.shard_state import seconds_per_sample, shard_state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.scenario import Scenario, ScenarioWorkload
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kai import KaiQueue
    from qcheck.cluster.kueue import FlavorResource
    from qcheck.cluster.pods import PodTemplate
    from qcheck.schedulers.kai.shards import Shard
    from qcheck.schedulers.kai.simulation.gang import Vector
    from qcheck.schedulers.kai.simulation.run import ShardState
    from qcheck.schedulers.kueue.simulation.run import Report
    from qcheck.schedulers.kueue.simulation.workload import Flavors

TRAIN = KAI_CLASSES["train"]
"""The priority of a workload that states none."""
GPU = RESOURCES[Dimension.GPU]
MOST_PODS, MOST_NODES = 1_000_000, 100_000
"""The limits of a simulation, which places each pod individually."""


def is_for_kai(cluster: Cluster, scenario: Scenario) -> bool:
    """Return whether the workloads go to queues of KAI. Raises `QuestionError` if only some of them do."""
    if not cluster.kai_queues:
        return False
    ours = [entry for entry in scenario.workloads if _queue_name(cluster, entry) is not None]
    theirs = (a for a in scenario.workloads if a.cluster_queue in cluster.queue or a.local_queue in cluster.local_queue)
    other = next(theirs, None)
    if ours and other is not None:
        message = f"{other.name} is for Kueue and {ours[0].name} for KAI: write one scenario per scheduler"
        raise QuestionError([fault(other.place, message)])
    return bool(ours)


def simulate_kai(cluster: Cluster, scenario: Scenario, report: Report | None) -> Simulated:
    """Run a scenario on the queues of one shard."""
    shard = _shard(cluster, scenario)
    nodes = sum(group.static for group in shard.groups)
    if nodes > MOST_NODES:
        message = f"{shard.pool.title} has {nodes} nodes; a simulation supports at most {MOST_NODES}"
        raise QuestionError([fault(scenario.place, message)])
    state = shard_state_of(cluster, shard, scenario.eviction_delay)
    built = _GangBuilder(cluster, shard, state)
    for entry in scenario.workloads:
        built.add(entry)
    if built.faults:
        raise QuestionError(built.faults)
    diary = KaiRecorder(shard.pool.key, built.flavors, scenario.start, scenario.eviction_delay)
    for held in built.held:
        diary.holds(held)
    gangs = {gang.name: gang for gang in built.gangs}
    run = Run(state, built.waiting, built.held)
    shares: list[ShareStep] = []
    for number, cycle in enumerate(cycles(run, scenario.start, seconds_per_sample(shard)), 1):
        diary.write(number, cycle, gangs)
        now = {leaf.name: cycle.shares[leaf.name][Dimension.GPU] for leaf in shard.leaves if leaf.name in cycle.shares}
        if not shares or shares[-1].shares != now:
            shares.append(ShareStep(cycle.at, now))
        if report is not None:
            report(number, cycle.at)
    timeline = diary.timeline(run)
    return Simulated(
        title=_title(cluster, shard, state),
        scenario=scenario,
        quotas={queue.name: _quotas(shard, queue, state) for queue in shard.queues},
        timeline=timeline,
        jobs=tuple(diary.job(gang) for gang in gangs.values()),
        rejected=tuple(built.rejected),
        not_simulated=tuple(_left_out(cluster, scenario, shard)),
        shares=tuple(shares),
    )


def _title(cluster: Cluster, shard: Shard, state: ShardState) -> str:
    past = f"past usage with k {state.k:g}" if state.past is not None else "no past usage"
    return f"KAI {cluster.policy.kai.version}, {shard.pool.title}, {past}"


def _left_out(cluster: Cluster, scenario: Scenario, shard: Shard) -> Iterator[str]:
    yield "the start-up of pods and checkpoints: an evicted workload starts again with its full duration"
    yield "cpu and memory of the nodes: only GPUs are placed"
    yield "consolidation: no workload is moved to make room on one node"
    if any(pool.minimum != pool.maximum for pool in cluster.pools):
        yield "nodes that an autoscaler adds"
    if any(len(p.template.containers) and p.count > 1 for a in scenario.workloads for p in a.workload.pod_sets):
        yield "elastic workloads: all pods of a workload start together"
    if any(queue.min_runtimes for queue in shard.queues) or (shard.spec and shard.spec.min_runtimes):
        yield "minimum runtimes: workloads are evicted as soon as shares require it"


def _queue_name(cluster: Cluster, entry: ScenarioWorkload) -> str | None:
    """Return the KAI queue of a workload."""
    if entry.cluster_queue is not None:
        known = any(queue.name == entry.cluster_queue for queue in cluster.kai_queues)
        return entry.cluster_queue if known and entry.cluster_queue not in cluster.queue else None
    job = job_of(cluster, entry.workload) if entry.local_queue is None else None
    return job.queue.name if job is not None and job.is_scheduled else None


def _shard(cluster: Cluster, scenario: Scenario) -> Shard:
    """Return the shard of a scenario's workloads."""
    names = [_queue_name(cluster, entry) for entry in scenario.workloads]
    found = [shard for shard in shards_of(cluster) if any(name in shard.queue for name in names)]
    if len(found) > 1:
        titles = " and ".join(shard.name for shard in found)
        raise QuestionError(
            [fault(scenario.place, f"the workloads are in the shards {titles}: write a scenario for each")]
        )
    if not found:
        raise QuestionError([fault(scenario.place, "no shard uses any of the queues that the workloads name")])
    return found[0]


def _quotas(shard: Shard, queue: KaiQueue, state: ShardState) -> dict[FlavorResource, int]:
    """Return the quota of a queue; without bounds, the whole capacity."""
    return {
        (shard.pool.key, RESOURCES[dimension]): int(whole)
        if terms.quota == UNLIMITED
        else int(max(Fraction(0), terms.quota))
        for dimension, whole in zip(DIMENSIONS, state.total, strict=True)
        for terms in [queue.terms[dimension]]
    }


class _GangBuilder:
    """Sorts the workloads of a scenario into running, waiting and rejected ones, and collects faults."""

    def __init__(self, cluster: Cluster, shard: Shard, state: ShardState) -> None:
        self._cluster = cluster
        self._shard = shard
        self._floor = Floor(state.nodes, state.nodes)
        self.held: list[Held] = []
        self.waiting: list[SimulatedGang] = []
        self.flavors: dict[str, Flavors] = {}
        self.rejected: list[RejectedWorkload] = []
        self.faults: list[str] = []
        self._pods = 0

    @property
    def gangs(self) -> list[SimulatedGang]:
        """Return all workloads of the run."""
        return [*(held.gang for held in self.held), *self.waiting]

    def add(self, entry: ScenarioWorkload) -> None:
        """Add a workload."""
        queue, priority = _queue_name(self._cluster, entry), self._priority(entry)
        if queue is None:
            known = ", ".join(sorted(q.name for q in self._shard.leaves))
            named = entry.cluster_queue or "/".join(entry.local_queue or ("without a name",))
            message = f"{entry.name}: there is no Queue {named}; there are: {known}"
            self.faults.append(fault(entry.place, message))
        if queue is None or priority is None:
            return
        why = self._why_rejected(queue)
        if why is not None:
            self.rejected.append(RejectedWorkload(entry.name, queue, ReasonCode.QUEUE_DOES_NOT_EXIST, why))
            return
        self._pods += sum(p.count for p in entry.workload.pod_sets) * entry.workload.groups
        if self._pods > MOST_PODS:
            raise QuestionError(
                [fault(entry.place, f"with {entry.name}, the workloads have more than {MOST_PODS} pods")]
            )
        gang = self._gang(entry, queue, priority)
        pod_sets = entry.workload.pod_sets
        self.flavors[gang.name] = {p.name: dict.fromkeys(p.template.amounts(), self._shard.name) for p in pod_sets}
        if not gang.pods:
            self.faults.append(fault(entry.place, f"{entry.name} has no pods"))
        elif entry.admitted is None:
            self.waiting.append(gang)
        else:
            nodes = self._floor.place(gang.pods, later=False)
            if nodes is None:
                message = f"{entry.name} does not fit on the nodes with the running workloads"
                self.faults.append(fault(entry.admitted.place, message))
            else:
                self.held.append(Held(gang, nodes, entry.admitted.at))

    def _gang(self, entry: ScenarioWorkload, queue: str, priority: int) -> SimulatedGang:
        job = job_of(self._cluster, entry.workload)
        stays = job.is_preemptible if job is not None and entry.priority is None else None
        pods = ((_pod(p.template), p.count * entry.workload.groups) for p in entry.workload.pod_sets)
        return SimulatedGang(
            name=entry.name,
            queue=queue,
            pods=tuple(pod for pod, count in pods for _ in range(count)),
            priority=priority,
            is_preemptible=priority < NON_PREEMPTIBLE_FROM if stays is None else stays,
            since=entry.created,
            runs_for=entry.runs_for,
        )

    def _why_rejected(self, queue: str) -> str | None:
        if queue not in self._shard.queue:
            return f"no Queue {queue} was read for {self._shard.pool.title}"
        if queue in self._shard.inner:
            return f"{queue} has queues below it and runs no jobs"
        path = self._shard.path(queue)
        if queue not in self._shard.hierarchy.queues:
            return f"the parent of {path[-1].name} was not read"
        return f"the queues above {queue} form a cycle" if path[-1].parent else None

    def _priority(self, entry: ScenarioWorkload) -> int | None:
        if entry.priority is not None:
            return entry.priority
        if entry.priority_class is not None:
            known = self._cluster.priority_class.get(entry.priority_class)
            value = KAI_CLASSES.get(entry.priority_class) if known is None else known.value
            if value is None:
                message = f"{entry.name}: there is no PriorityClass {entry.priority_class}"
                self.faults.append(fault(entry.place.at("priorityClass"), message))
            return value
        job = job_of(self._cluster, entry.workload)
        return TRAIN if job is None or job.priority is None else job.priority


def _pod(template: PodTemplate) -> Vector:
    """Return what a pod takes; a fraction of a GPU counts as a whole one."""
    amounts = request_of(template).amounts
    return tuple(float(ceil(amounts[d]) if d is Dimension.GPU else amounts[d]) for d in DIMENSIONS)
