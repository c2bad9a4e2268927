"""Admission at the current load: with the workloads that hold quota and the pods on the nodes."""

from __future__ import annotations

from datetime import datetime

from qcheck.answers.judge import judge, place_pods
from qcheck.answers.question import QuestionError
from qcheck.answers.scenario import Admitted, Scenario, ScenarioWorkload
from qcheck.answers.simulate import simulate
from qcheck.answers.verdict import Verdict
from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.place import Place
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import Workload
from qcheck.schedulers.kueue.admission import terms_of
from qcheck.schedulers.kueue.assignment import Assigned
from qcheck.schedulers.kueue.flavor_assignment import demands
from qcheck.schedulers.kueue.topology import look
from qcheck.supply.occupied import occupied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.running import Key, QueuedWorkload, State
    from qcheck.schedulers.kueue.decision import Decision
    from qcheck.schedulers.kueue.simulation.workload import Flavors, PodCounts

NEWCOMER = "the workload itself"
"""The workload's name in the simulation; no real object can have this name."""
LATER = 1
"""Its arrival: a second after the workloads that hold quota."""
NOTHING_RUNS = "no running workload was read: --busy needs --live or a snapshot among the paths"


class Arrival(Value):
    """Kueue's decision when the workload arrives: whether it gets quota, and which workloads are preempted for it.

    `flavors` are keyed by pod set and resource. `counts` are pods by pod set, if partial admission reduced them.
    """

    admitted: bool
    victims: tuple[str, ...]
    flavors: Flavors
    counts: PodCounts


def judge_now(cluster: Cluster, workload: Workload) -> Verdict:
    """Return the verdict beside the running workloads.

    If the workload would not run on an idle cluster either, the result is the verdict for that.
    """
    verdict = judge(cluster, workload)
    is_open = verdict.runs is None and verdict.admitted is not True
    if cluster.state is None or verdict.runs is False or is_open:
        return verdict
    try:
        return _beside_others(cluster, cluster.state, verdict)
    except QuestionError as error:  # a workload holds quota of a queue that no longer exists
        doubt = Reason(ReasonCode.CANNOT_TELL, "busy", str(error), workload.place)
        return Verdict(verdict.decision, None, (doubt,))


def _beside_others(cluster: Cluster, state: State, verdict: Verdict) -> Verdict:
    workload = verdict.workload
    gone = {_key(verdict.workload)}
    victims: tuple[str, ...] = ()
    decision = verdict.decision
    if verdict.decision.is_managed and verdict.decision.cluster_queue is not None:
        now = _quota_now(cluster, state, verdict.decision)
        if not now.admitted:
            reason = _waits(cluster, state, verdict.decision)
            decision = replace(verdict.decision, admitted=False, reasons=(reason,), code=reason.code)
            return Verdict(decision, False, (reason,))
        victims = now.victims
        gone |= {state.origin(w.owner) for w in state.workloads if w.id.full_name in victims}
        decision = _granted(cluster, verdict.decision, now)
    here = occupied(cluster, gone)
    placed = judge(here, workload) if decision is verdict.decision else _placed(here, decision)
    reasons = tuple(_beside(r) for r in placed.reasons)
    if victims:
        reasons = (*reasons, _preempts(workload.place, victims))
    if decision.admitted and placed.admitted is False:  # Kueue finds no room in the topology
        admitted = None if _may_preempt(cluster, decision) else False
        decision = replace(decision, admitted=admitted, reasons=reasons, code=placed.decision.code)
        return Verdict(decision, admitted, reasons)
    return replace(placed, decision=decision, reasons=reasons)


def _granted(cluster: Cluster, decision: Decision, now: Arrival) -> Decision:
    """Return the decision with the flavors and pod counts of the arrival, if they differ from those on an idle cluster."""
    same = all(a.flavors == now.flavors.get(a.pod_set.name, {}) for a in decision.assigned)
    unit = decision.workload.unit
    counts = tuple(now.counts.get(p.name, p.count) for p in unit)
    if same and counts == tuple(a.demand.count for a in decision.assigned):
        return decision
    queue, terms = cluster.queue[decision.cluster_queue or ""], terms_of(cluster, decision.workload)
    wanted = demands(cluster, queue, unit, counts, terms)
    return replace(
        decision, assigned=tuple(Assigned(d, now.flavors.get(d.pod_set.name, {})) for d in wanted), placed=()
    )


def _placed(here: Cluster, decision: Decision) -> Verdict:
    """Place the pods of a decision on the nodes beside the pods that run."""
    queue = here.queue[decision.cluster_queue or ""]
    looked = look(here, queue, terms_of(here, decision.workload), decision.assigned)
    if looked.reasons:
        admitted = False if looked.certain else None
        refused = replace(decision, admitted=admitted, reasons=looked.reasons, code=looked.reasons[0].code)
        return Verdict(refused, admitted, looked.reasons)
    found = place_pods(here, replace(decision, placed=looked.placed))
    return Verdict(decision, found.runs, found.reasons, found.witness)


def _may_preempt(cluster: Cluster, decision: Decision) -> bool:
    """Return whether Kueue may preempt workloads to free domains of the topology."""
    policy = cluster.queue[decision.cluster_queue or ""].preemption
    return policy.within_queue is not PreemptionPolicy.NEVER or policy.reclaim is not PreemptionPolicy.NEVER


def _quota_now(cluster: Cluster, state: State, decision: Decision) -> Arrival:
    """Return the result of one simulated arrival in addition to the workloads that hold quota."""
    running = _holders(w for w in _others(state, decision.workload) if w.cluster_queue in cluster.queue)
    newcomer = ScenarioWorkload(
        name=NEWCOMER,
        place=decision.workload.place,
        workload=decision.workload,
        cluster_queue=decision.cluster_queue,
        local_queue=None,
        priority=None,
        priority_class=None,
        created=LATER,
        admitted=None,
        runs_for=None,
    )
    place = decision.workload.place
    scenario = Scenario(place=place, is_fair=None, start=LATER, eviction_delay=0, workloads=(*running, newcomer))
    run = simulate(cluster, scenario)
    copies = sum(s.job.name.startswith(NEWCOMER) for s in run.timeline.running)
    victims = {s.job.name for s in run.timeline.spans if s.preempted_by is not None}
    first = next((s for s in run.timeline.running if s.job.name.startswith(NEWCOMER)), None)
    flavors, counts = (first.flavors, first.counts) if first is not None else ({}, {})
    return Arrival(copies >= decision.copies, tuple(sorted(victims)), flavors, counts)


def holders(cluster: Cluster) -> tuple[ScenarioWorkload, ...]:
    """Return the workloads that hold quota now, for a scenario to start from."""
    found = cluster.state.workloads if cluster.state else ()
    return _holders(w for w in found if w.cluster_queue in cluster.queue and not w.holds("Finished"))


def _holders(found: Iterable[QueuedWorkload]) -> tuple[ScenarioWorkload, ...]:
    """Return workloads that hold quota as entries of a scenario.

    Times are relative to the last quota reservation, at second 0: of equal workloads, Kueue preempts the latest first.
    """
    workloads = list(found)
    reserved = [_seconds(w.conditions["QuotaReserved"].since) if w.holds("QuotaReserved") else None for w in workloads]
    latest = max((at for at in reserved if at is not None), default=0)
    entries = []
    for each, at in zip(workloads, reserved, strict=True):
        created = _seconds(each.created)
        since = 0 if at is None else at - latest
        entries.append(_holder(each, since if created is None else min(0, created - latest), since))
    return tuple(entries)


def _seconds(written: str) -> int | None:
    try:
        return int(datetime.fromisoformat(written).timestamp())
    except (ValueError, OverflowError):
        return None


def _others(state: State, workload: Workload) -> Iterator[QueuedWorkload]:
    """Yield the workloads that hold quota, except those of the object in question if the cluster already has it."""
    for found in state.workloads:
        if found.cluster_queue and not found.holds("Finished") and state.origin(found.owner) != _key(workload):
            yield found


def _key(workload: Workload) -> Key:
    return workload.id.kind, workload.id.namespace or "", workload.id.name


def _holder(found: QueuedWorkload, created: int, since: int) -> ScenarioWorkload:
    counts = {a.pod_set: a.count for a in found.assignments}
    pod_sets = tuple(replace(p, count=counts.get(p.name, p.count)) for p in found.pod_sets)
    nowhere = found.place
    workload = Workload(
        found.id, found.place, found.labels, found.annotations,
        framework=None, queue=found.queue, queue_place=nowhere, priority_class=None, priority_class_place=nowhere,
        pod_sets=pod_sets,
    )  # fmt: skip
    return ScenarioWorkload(
        name=found.id.full_name,
        place=found.place,
        workload=workload,
        cluster_queue=found.cluster_queue,
        local_queue=None,
        priority=found.priority,
        priority_class=None,
        created=created,
        admitted=Admitted(since, {a.pod_set: a.flavors for a in found.assignments}, found.place),
        runs_for=None,
    )


def _waits(cluster: Cluster, state: State, decision: Decision) -> Reason:
    """Return why it gets no quota now: the queue's quota, and the quota in use."""
    queue = decision.cluster_queue or ""
    cells = list(_cells(cluster, state, decision, queue))
    message = f"waits for quota of {queue}: {'; '.join(cells)}" if cells else f"waits for quota of {queue}"
    return Reason(ReasonCode.WAITING_FOR_QUOTA, "busy", message, decision.workload.place)


def _cells(cluster: Cluster, state: State, decision: Decision, queue: str) -> Iterator[str]:
    """Yield each requested amount with the quota and the usage of its queue."""
    asked: dict[tuple[str, str], int] = {}
    for each in decision.assigned:
        for resource, flavor in each.flavors.items():
            amount = each.demand.amounts.get(resource, 0)
            asked[flavor, resource] = asked.get((flavor, resource), 0) + amount
    usage: dict[tuple[str, str], int] = {}
    for found in _others(state, decision.workload):
        if found.cluster_queue == queue:
            for key, amount in found.usage.items():
                usage[key] = usage.get(key, 0) + amount
    quota = {q.key: q.nominal for q in cluster.queue[queue].quotas()} if queue in cluster.queue else {}
    for key, amount in sorted(asked.items()):
        flavor, resource = key
        has, used, asks = show_amounts(resource, quota.get(key, 0), usage.get(key, 0), amount)
        yield f"asks for {named(resource, asks)} of {flavor}, where {used} of {has} are in use"


def _beside(reason: Reason) -> Reason:
    return replace(reason, cause="busy", message=f"with the pods that run now, {reason.message}")


def _preempts(place: Place, victims: tuple[str, ...]) -> Reason:
    return Reason(ReasonCode.PREEMPTS, "busy", f"preempts {', '.join(victims)}", place)
