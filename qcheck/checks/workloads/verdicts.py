"""QC601 to QC605, QC609: findings from the verdicts on workloads."""

from __future__ import annotations

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.placement.taints import is_repelled
from qcheck.checks.problems import of_problems
from qcheck.checks.registry import rule
from qcheck.cluster.problems import QUOTA_KINDS, ProblemCode
from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kueue.admission import decide, uncovered_requests
from qcheck.supply.pod_requests import bounds
from qcheck.supply.supply import is_reachable, supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.reasons import Reason, ReasonCause
    from qcheck.cluster.workloads import PodSet
    from qcheck.schedulers.kueue.decision import Decision

_REPORTED_ELSEWHERE: tuple[ReasonCause, ...] = (
    "level",
    "flavor-missing",
    "domain",
    "flavor-matches-no-nodes",
    "kai-quota",
    "kai-no-limit",
    "volcano-limit",
)
"""Causes that another rule reports with the place to edit: QC513, QC401, QC507, QC201, QC908, QC901, QC960."""
_MOST = 4


@rule("QC601")
def never_admitted(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads that can never be admitted: quota, no matching flavor, topology, no complete KAI pod group."""
    for each in verdicts_of(cluster):
        verdict = _on_covered(cluster, each)
        is_reported = _is_reported_elsewhere(cluster, verdict) or _is_broken(cluster, verdict.decision.cluster_queue)
        if _is_refused(verdict) and not is_reported:
            yield _refusal(cluster, verdict)


def _on_covered(cluster: Cluster, verdict: Verdict) -> Verdict:
    """Return the verdict without the resources that the queue does not cover, which QC603 reports."""
    if not any(r.cause == "resource-not-covered" for r in verdict.decision.reasons):
        return verdict
    from qcheck.answers.judge import decide_on_covered  # 1 ms

    return replace(verdict, decision=decide_on_covered(cluster, verdict.workload))


def _is_broken(cluster: Cluster, queue: str | None) -> bool:
    """Return whether the API server rejects the queue as written, so that its quota is unknown."""
    return any(
        p.code is ProblemCode.API_REJECTED
        and p.object is not None
        and (p.object.kind, p.object.name) == ("ClusterQueue", queue)
        for p in cluster.problems
    )


def _is_refused(verdict: Verdict) -> bool:
    decision = verdict.decision
    by_quota = (ReasonCode.EXCEEDS_MAX_QUOTA, ReasonCode.NO_MATCHING_FLAVOR, ReasonCode.TOPOLOGY_FAILED)
    return decision.admitted is False and (decision.code in by_quota or _has_no_gang(decision))


def _has_no_gang(decision: Decision) -> bool:
    """Return whether KAI creates no pod group for the workload, or one that is never complete."""
    return any((r.code, r.cause) == (ReasonCode.REJECTED, "pod-group") for r in decision.reasons)


def _is_reported_elsewhere(cluster: Cluster, verdict: Verdict) -> bool:
    reasons = verdict.decision.reasons
    whole = {r for r in reasons if r.cause == "larger-than-node"}
    is_reported = all(r.cause in _REPORTED_ELSEWHERE for r in reasons if r not in whole)
    return is_reported and all(_asks_for_a_whole_node(cluster, verdict, r.resource or "") for r in whole)


def _refusal(cluster: Cluster, verdict: Verdict) -> Finding:
    decision = verdict.decision
    main = next((r for r in decision.reasons if r.code == decision.code), decision.reasons[0])
    shown = "; ".join(r.message for r in decision.reasons[:_MOST])
    found = finding(main.place, f"{_queue(verdict)} {_outcome(decision)} {verdict.workload.id}: {shown}")
    for reason in decision.reasons[:_MOST]:
        for place in reason.near:
            found = found.near(place, reason.flavor or reason.cause)
    change = next((r.change for r in (main, *decision.reasons) if r.change), "")
    return (
        _advised(found, change)
        .about(verdict.workload.id)
        .likely(not _is_certain(cluster, decision))
        .at_most(Severity.WARNING if decision.is_in_part else Severity.ERROR)
        .with_data(
            reason=decision.code,
            queue=_queue(verdict),
            causes=sorted({r.cause for r in decision.reasons}),
            short={f"{r.flavor} {r.resource}": r.short for r in decision.reasons if r.short},
        )
    )


def _is_certain(cluster: Cluster, decision: Decision) -> bool:
    """Return whether no object elsewhere can change the decision."""
    if _has_no_gang(decision):
        return True
    return cluster.has_all(*QUOTA_KINDS) and all(r.cause != "away" for r in decision.reasons)


def _queue(verdict: Verdict) -> str | None:
    """Return the queue that decides: Kueue's ClusterQueue, or the queue of the pods' scheduler."""
    return verdict.decision.cluster_queue or verdict.decision.queue


def _outcome(decision: Decision) -> str:
    """Return what a queue does with a workload: nothing, or only a part of its equal pods or groups at once."""
    if not decision.is_in_part:
        return "can never admit"
    what = "pods" if decision.workload.each_pod_alone else "groups"
    return f"can admit only {decision.admitted_copies} of the {decision.copies} {what} at once of"


def _advised(found: Finding, change: str) -> Finding:
    return found.fixed_by(f"{change[0].upper()}{change[1:]}.") if change else found


@rule("QC602")
def admitted_but_pending(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads that get quota but whose pods no node can ever run."""
    for verdict in verdicts_of(cluster):
        if verdict.admitted and verdict.runs is False:
            reason = verdict.reasons[-1]
            if not _is_reported_of_nodes(cluster, verdict, reason):
                yield _pending(cluster, verdict, reason)


def _is_reported_of_nodes(cluster: Cluster, verdict: Verdict, reason: Reason) -> bool:
    """Return whether another rule already names the same cause (QC201, QC202, QC210, QC505, QC507, QC604)."""
    elsewhere: tuple[ReasonCause, ...] = ("flavor-matches-no-nodes", "domain")
    if reason.cause in elsewhere or reason.code is ReasonCode.REJECTED:
        return True
    if reason.cause == "selector":
        return any(not is_reachable(cluster, p.template) for p in verdict.workload.pod_sets)
    if reason.cause == "taint":
        return any(is_repelled(cluster, f) for a in verdict.decision.assigned for f in a.flavor_names)
    return reason.cause == "larger-than-node" and _asks_for_a_whole_node(cluster, verdict, reason.resource or "")


def _asks_for_a_whole_node(cluster: Cluster, verdict: Verdict, resource: str) -> bool:
    """Return whether a pod would fill a machine exactly if nothing were taken from it first."""
    sizes = {c.machine.allocatable.get(resource, 0) for g in supply_of(cluster).groups for c in g.classes}
    asked = {p.template.amounts().get(resource, 0) for p in verdict.workload.pod_sets}
    return is_compute(resource) and max(sizes, default=0) in asked


def _pending(cluster: Cluster, verdict: Verdict, reason: Reason) -> Finding:
    decision = verdict.decision
    flavors = sorted({f for a in decision.assigned for f in a.flavor_names})
    granted = f" in flavor {names(flavors)}" if flavors else ""
    message = f"{_queue(verdict)} admits {verdict.workload.id}{granted}, but its pods can never run: {reason.message}"
    found = finding(reason.place, message)
    for place in reason.near[:_MOST]:
        found = found.near(place, "where they must run")
    return (
        _advised(
            found.near(_quota_taken(cluster, verdict, reason), "the quota that it holds while pending"), reason.change
        )
        .about(verdict.workload.id)
        .with_data(cause=reason.cause, queue=_queue(verdict), flavors=[*flavors])
    )


def _quota_taken(cluster: Cluster, verdict: Verdict, reason: Reason) -> Place | None:
    """Return the most informative cell that is taken: of the resource in question, else of an accelerator."""
    queue = cluster.queue.get(verdict.decision.cluster_queue or "")
    cells = [(r, f) for a in verdict.decision.assigned for r, f in a.flavors.items()]
    if queue is None or not cells:
        return None
    resource, flavor = max(cells, key=lambda c: (c[0] == reason.resource, is_compute(c[0])))
    quota = queue.quota(flavor, resource)
    return None if quota is None else quota.nominal_place


@rule("QC603")
def resource_not_covered(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads that request something for which their queue has no quota."""
    for verdict in verdicts_of(cluster):
        if _is_refused(verdict) and verdict.decision.cluster_queue is not None:
            reasons = uncovered_requests(cluster, verdict.workload)
            asked = [r for r in reasons if not _is_a_default(cluster, verdict, r)]
            if asked:
                yield _uncovered(verdict, asked).likely(not cluster.has_all(*QUOTA_KINDS))


def _uncovered(verdict: Verdict, reasons: Sequence[Reason]) -> Finding:
    first, *others = reasons
    also = f"; nor does it cover {names([str(r.resource) for r in others])}" if others else ""
    found = finding(first.place, f"{verdict.workload.id} is never admitted: {first.message}{also}")
    for reason in others:
        found = found.near(reason.place, f"the request for {reason.resource}")
    queue, resources = verdict.decision.cluster_queue, [str(r.resource) for r in reasons]
    for place in first.near:
        found = found.near(place, f"resources of {queue}")
    requests = "requests" if others else "request"
    return (
        found.fixed_by(f"Add {names(resources)} to coveredResources of {queue}, or remove the {requests}.")
        .about(verdict.workload.id)
        .with_data(resource=first.resource, resources=resources, queue=queue)
    )


def _is_a_default(cluster: Cluster, verdict: Verdict, reason: Reason) -> bool:
    """Return whether only a LimitRange adds the request, which QC419 reports."""
    asked = any(reason.resource in p.template.amounts() for p in verdict.workload.pod_sets)
    return not asked and reason.resource in bounds(cluster, verdict.workload.namespace).default_requests


@rule("QC605")
def no_requests(cluster: Cluster) -> Iterator[Finding]:
    """Report queued pods without requests that count."""
    for verdict in verdicts_of(cluster):
        if verdict.decision.cluster_queue is None or verdict.admitted is False:
            continue
        for assigned in verdict.decision.assigned:
            if assigned.flavors or not assigned.demand.count:
                continue
            pod_set, template = assigned.pod_set, assigned.pod_set.template
            asks = any(c.requests or c.limits for c in template.all_containers())
            what = "requests nothing that its queue covers" if asks else "has no requests"
            place = template.containers[0].place if template.containers else template.place
            message = (
                f"pod set {pod_set.name} of {verdict.workload.id} {what}: it takes no quota, gets no flavor, and its "
                f"{plural(assigned.demand.count, 'pod')} may run on any node"
            )
            yield finding(place, message).about(verdict.workload.id).with_data(podSet=pod_set.name)


@rule("QC609")
def elastic_exceeds_quota(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads that may grow to a size that their queue can never hold."""
    for verdict in verdicts_of(cluster):
        workload = verdict.workload
        growing = [p for p in workload.pod_sets if p.maximum is not None and p.maximum > p.count]
        if verdict.admitted is False or not growing or verdict.decision.cluster_queue is None:
            continue
        grown = decide(cluster, replace(workload, pod_sets=tuple(_grown(p) for p in workload.pod_sets)))
        if grown.admitted is False and grown.code is ReasonCode.EXCEEDS_MAX_QUOTA:
            yield _too_large(growing[0], verdict, grown.reasons).likely(not cluster.has_all(*QUOTA_KINDS))


def _grown(pod_set: PodSet) -> PodSet:
    return pod_set if pod_set.maximum is None else replace(pod_set, count=max(pod_set.count, pod_set.maximum))


def _too_large(pod_set: PodSet, verdict: Verdict, reasons: tuple[Reason, ...]) -> Finding:
    reason = next((r for r in reasons if r.code is ReasonCode.EXCEEDS_MAX_QUOTA), reasons[0])
    message = (
        f"{verdict.workload.id} may grow to {pod_set.maximum} pods in pod set {pod_set.name}, more than "
        f"{verdict.decision.cluster_queue} can ever admit: {reason.message}"
    )
    found = finding(pod_set.maximum_place or pod_set.count_place, message).about(verdict.workload.id)
    for place in reason.near:
        found = found.near(
            place,
            f"{reason.flavor} for {reason.resource}" if reason.flavor else f"quota of {verdict.decision.cluster_queue}",
        )
    return found.with_data(podSet=pod_set.name, maximum=pod_set.maximum)


@rule("QC604")
def requests_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report requests and limits that the API server or Kueue rejects."""
    return of_problems(cluster, ProblemCode.REQUESTS_INVALID)
