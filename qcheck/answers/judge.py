"""The verdict on a workload: Kueue's decision and kube-scheduler's, in that order."""

from __future__ import annotations

from qcheck.answers.verdict import Verdict
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import ByIdentity, answered_once, cache_of
from qcheck.packing.kube_scheduler import Schedule, Wanted, schedule
from qcheck.schedulers.kueue.admission import decide, decided
from qcheck.schedulers.kueue.decision import Decision
from qcheck.schedulers.kueue.flavor_eligibility import uses_topology
from qcheck.schedulers.kueue.pod_injection import contradictions, created_pods
from qcheck.schedulers.kueue.rejected_workloads import api_refusals, pod_refusals
from qcheck.schedulers.kueue.routing import at_home, destination
from qcheck.schedulers.table import start_decision_of
from qcheck.supply.pod_requests import bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload
    from qcheck.quota.start_decision import StartDecision
    from qcheck.schedulers.kueue.admission import Look


def judge(cluster: Cluster, workload: Workload) -> Verdict:
    """Return the verdict on one workload."""
    start = start_decision_of(cluster, workload)
    if start is not None:
        return _judged(cluster, workload, start)
    decision = decide_on_nodes(cluster, workload)
    if decision.admitted is False:
        return Verdict(decision, False, decision.reasons)
    refused = tuple(pod_refusals(cluster, workload))
    if refused:
        return Verdict(decision, False, (*decision.reasons, *refused))
    if _is_undecided(decision):
        return Verdict(decision, None, decision.reasons)
    placed = place_pods(cluster, decision)
    if decision.is_managed and decision.admitted is None and placed.runs is not False:
        return Verdict(decision, None, decision.reasons)
    if placed.runs and _may_stay_suspended(decision):
        return Verdict(decision, None, decision.reasons)
    return Verdict(decision, placed.runs, (*decision.reasons, *placed.reasons), placed.witness)


def _may_stay_suspended(decision: Decision) -> bool:
    """Return whether the manager ignores the workload's namespace; its webhook may still suspend the job."""
    return any(r.cause == "namespace-excluded" for r in decision.reasons)


def judged_alike(cluster: Cluster, workloads: Iterable[Workload]) -> Iterator[tuple[Workload, Verdict]]:
    """Yield the verdicts on the workloads of one class.

    Those without reasons are shared; reasons have places of their own.
    """
    known: Verdict | None = None
    for workload in workloads:
        if known is not None and start_decision_of(cluster, workload) is None:
            verdict = replace(known, decision=known.decision.of(at_home(cluster, workload)))
        else:
            verdict = judge(cluster, workload)
            known = None if verdict.reasons or verdict.is_start_decision else verdict
        yield workload, verdict


@answered_once
def decide_on_nodes(cluster: Cluster, workload: Workload) -> Decision:
    """Return Kueue's decision, with the nodes if topology-aware scheduling considers them."""
    look = _look(cluster, workload)
    return decide(cluster, workload) if look is None else decided(cluster, workload, look)


def decide_on_covered(cluster: Cluster, workload: Workload) -> Decision:
    """Return Kueue's decision as if the workload did not request what its queue does not cover."""
    return decided(cluster, workload, _look(cluster, workload), covered_only=True)


def _look(cluster: Cluster, workload: Workload) -> Look | None:
    """Return the node check of topology-aware scheduling; None if it does not apply."""
    queue = destination(cluster, at_home(cluster, workload)).queue
    if queue is None or not any(uses_topology(cluster, queue, pod_set) for pod_set in workload.pod_sets):
        return None
    from qcheck.schedulers.kueue.topology import look  # 0.9 ms

    return look


def _judged(cluster: Cluster, workload: Workload, start: StartDecision) -> Verdict:
    """Return the verdict if another scheduler starts the pods itself."""
    refused = tuple(api_refusals(cluster, workload))
    if refused:
        start = replace(start, admitted=False, reasons=refused)
    code = start.reasons[0].code if start.reasons else None
    decision = Decision(workload, start.queue, None, start.admitted, reasons=start.reasons, code=code)
    if start.admitted is False:
        return Verdict(decision, False, start.reasons, is_start_decision=True)
    if not start.starts:
        return Verdict(decision, None, start.reasons, is_start_decision=True)
    limits = bounds(cluster, workload.namespace)
    wanted = [Wanted(s.pod_set, s.template, s.count) for s in start.starts]
    placed = schedule(cluster, limits, wanted)
    if start.domain is not None and placed.runs is not False:
        from qcheck.answers.one_domain import in_one_domain  # 0.9 ms

        placed = in_one_domain(cluster, limits, wanted, start.domain, placed)
    runs = None if start.admitted is None and placed.runs else placed.runs
    reasons = (*start.reasons, *placed.reasons)
    return Verdict(decision, runs, reasons, placed.witness if runs else (), is_start_decision=True)


def _is_undecided(decision: Decision) -> bool:
    """Return whether the placement of the pods cannot be judged."""
    if not decision.is_managed:
        return decision.workload.not_read is not None
    return decision.runs_elsewhere or (decision.admitted is None and not decision.assigned)


def place_pods(cluster: Cluster, decision: Decision) -> Schedule:
    """Return kube-scheduler's decision for all pods of the object, as admission lets them be created."""
    created = tuple((a.pod_set.name, a.demand.count, a.flavor_names) for a in decision.assigned)
    key = (
        decision.workload.ask,
        created,
        decision.placed,
        decision.copies,
        ByIdentity(bounds(cluster, decision.workload.namespace)),
    )
    known = cache_of(cluster, place_pods)  # refusals are not cached: their reasons have places of their own
    if key in known:
        found: Schedule = known[key]
        return found
    placed = _place(cluster, decision)
    if not placed.reasons:
        known[key] = placed
    return placed


def _place(cluster: Cluster, decision: Decision) -> Schedule:
    workload = decision.workload
    if not decision.assigned:
        wanted = [Wanted(p, p.template, p.count * workload.groups) for p in workload.pod_sets]
        return schedule(cluster, bounds(cluster, workload.namespace), wanted)
    doubts = tuple(r for a in decision.assigned for r in contradictions(cluster, a))
    if doubts:
        return Schedule(None, reasons=doubts)
    if not decision.placed and not any(a.pod_set.topology for a in decision.assigned):
        return schedule(cluster, bounds(cluster, workload.namespace), created_pods(cluster, decision))
    from qcheck.schedulers.kueue.topology_pods import in_domains, remainders  # 0.9 ms

    gated = remainders(cluster, decision)
    if gated is not None:
        return gated
    if not decision.placed:
        return schedule(cluster, bounds(cluster, workload.namespace), created_pods(cluster, decision))
    inside = in_domains(cluster, decision)
    if inside.runs is not False:
        return inside
    anywhere = schedule(cluster, bounds(cluster, workload.namespace), created_pods(cluster, decision))
    return anywhere if anywhere.runs is False else Schedule(None, reasons=inside.reasons)
