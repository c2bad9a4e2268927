"""Kueue's decision on a workload that is alone on an otherwise idle cluster."""

from __future__ import annotations

from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import answered_once
from qcheck.cluster.workloads import Workload
from qcheck.schedulers.kueue.assignment import Assigned, Assignment, AssignmentTerms
from qcheck.schedulers.kueue.decision import Decision, Looked
from qcheck.schedulers.kueue.flavor_assignment import Assigner, demands
from qcheck.schedulers.kueue.gates import PARTIAL, is_on
from qcheck.schedulers.kueue.rejected_workloads import refusals
from qcheck.schedulers.kueue.routing import at_home, destination
from qcheck.schedulers.kueue.uncovered_resources import uncovered
from qcheck.supply.pod_requests import UNBOUNDED, bounds, breaches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import CheckUse, ClusterQueue
    from qcheck.cluster.reasons import ReasonCause
    from qcheck.cluster.workloads import PodSet
    from qcheck.schedulers.kueue.assignment import Tried, Used
    from qcheck.schedulers.kueue.routing import Destination

    Look = Callable[[Cluster, ClusterQueue, AssignmentTerms, tuple[Assigned, ...]], "Looked"]

COMPLETED_AS_PODS = ("pod", "deployment")
"""Integrations that use pods as completed by the API server, instead of templates."""
_ONLY_BLOCKING: tuple[ReasonCause, ...] = ("queue-inactive", "namespace-not-selected", "priority-class-missing")
"""Causes of doubt that can only block a workload: they change neither its queue nor its requests."""


@answered_once
def decide(cluster: Cluster, workload: Workload) -> Decision:
    """Return whether a workload is admitted, with its flavors or the reasons, by quota alone: nodes are ignored."""
    return decided(cluster, workload, None)


def uncovered_requests(cluster: Cluster, workload: Workload) -> tuple[Reason, ...]:
    """Return a reason for each requested resource that the queue does not cover."""
    workload = at_home(cluster, workload)
    queue = destination(cluster, workload).queue
    if queue is None:
        return ()
    terms = terms_of(cluster, workload)
    counts = tuple(p.count for p in workload.unit)
    return uncovered(cluster, queue, demands(cluster, queue, workload.unit, counts, terms))


def terms_of(cluster: Cluster, workload: Workload) -> AssignmentTerms:
    """Return the terms for a workload: the defaults of its namespace, and whether its pods are complete."""
    return AssignmentTerms(bounds(cluster, workload.namespace), workload.framework in COMPLETED_AS_PODS)


def decided(cluster: Cluster, workload: Workload, look: Look | None, covered_only: bool = False) -> Decision:
    """Return the decision; `look` examines the nodes for every set of flavors found.

    With `covered_only`, requests for resources that the queue does not cover are ignored.
    """
    workload = at_home(cluster, workload)
    goal = destination(cluster, workload)
    refused = tuple(refusals(cluster, workload))
    if refused:
        queue = goal.queue.name if goal.queue else None
        return Decision(workload, goal.queue_name, queue, False, reasons=refused, code=refused[0].code)
    limits = bounds(cluster, workload.namespace)
    terms = AssignmentTerms(limits, workload.framework in COMPLETED_AS_PODS, covered_only)
    found = _decided(cluster, goal, terms, workload, look)
    if limits is UNBOUNDED or found.admitted is not False or goal.blocked:
        return found
    bare = _decided(cluster, goal, replace(terms, limits=UNBOUNDED), workload, look)
    return found if bare.admitted is False else replace(found, reasons=tuple(_limited(r) for r in found.reasons))


def _limited(reason: Reason) -> Reason:
    return replace(reason, message=f"with the namespace's LimitRange, {reason.message}")


def _decided(
    cluster: Cluster, goal: Destination, terms: AssignmentTerms, workload: Workload, look: Look | None
) -> Decision:
    queue_name = goal.queue.name if goal.queue else None
    start = Decision(workload, goal.queue_name, queue_name, None, copies=copies_of(workload))
    if goal.blocked:
        return replace(start, admitted=False, reasons=goal.blocked, code=goal.blocked[0].code)
    unread = (*goal.doubts, *_unread(workload))
    if goal.queue is None or not _is_judged(cluster, goal.queue, unread):
        return replace(start, reasons=unread)
    broken = tuple(_broken(cluster, workload, terms))
    if broken:
        return replace(start, admitted=False, reasons=broken, code=ReasonCode.MISCONFIGURED)
    found = _within(cluster, goal.queue, start, terms, look)
    return found if not unread or found.admitted is False else replace(start, reasons=unread)


def _is_judged(cluster: Cluster, queue: ClusterQueue, unread: tuple[Reason, ...]) -> bool:
    """Return whether to evaluate quota and flavors: the missing facts, if any, can only block the workload."""
    return all(r.cause in _ONLY_BLOCKING for r in unread) and (
        not unread or all(f.name in cluster.flavor for f in queue.flavors())
    )


def copies_of(workload: Workload) -> int:
    """Return how many equal workloads an object creates: one per pod, or per group."""
    return workload.pod_sets[0].count if workload.each_pod_alone and workload.pod_sets else workload.groups


def _unread(workload: Workload) -> Iterator[Reason]:
    """Yield the missing facts that prevent a decision."""
    if workload.not_read:
        yield Reason(ReasonCode.NOT_READ, "not-read", workload.not_read, workload.name_place)
    for pod_set in workload.pod_sets:
        if pod_set.template.claim_templates or pod_set.template.claims:
            message = f"pod set {pod_set.name} claims devices by ResourceClaim, which qcheck does not count"
            yield Reason(
                ReasonCode.DEVICE_CLAIMS,
                "device-claims",
                message,
                pod_set.template.place.at("resourceClaims"),
            )


def _broken(cluster: Cluster, workload: Workload, terms: AssignmentTerms) -> Iterator[Reason]:
    for pod_set in workload.pod_sets:
        for breach in breaches(cluster, pod_set.template, terms.limits):
            yield Reason(ReasonCode.MISCONFIGURED, "resources-invalid", breach.message, breach.place)


def _within(
    cluster: Cluster, queue: ClusterQueue, start: Decision, terms: AssignmentTerms, look: Look | None
) -> Decision:
    search = FlavorSearch(cluster=cluster, queue=queue, pod_sets=start.workload.unit, terms=terms, look=look)
    first, looked = search.run({})
    if not first.fits:
        nothing = Reason(ReasonCode.NO_MATCHING_FLAVOR, "no-flavor", f"{queue.name} has no flavor for it", queue.place)
        reasons, code = first.reasons or (nothing,), first.code or nothing.code
        if not first.certain:
            return replace(start, assigned=first.assigned, reasons=reasons)
        return replace(start, admitted=False, assigned=first.assigned, reasons=reasons, code=code)
    many = 1
    if start.copies > 1:
        from qcheck.schedulers.kueue.equal_workloads import how_many  # 0.1 ms

        many = how_many(cluster, queue, lambda held: search.run(held)[0], start.copies)
    found = replace(start, admitted=True, assigned=first.assigned, admitted_copies=many, placed=looked.placed)
    if many < start.copies:
        return replace(found, admitted=False, code=ReasonCode.EXCEEDS_MAX_QUOTA, reasons=(_short(queue, found),))
    waiting = tuple(_waiting(cluster, use) for use in queue.checks if not _passes(cluster, use, found))
    return replace(found, admitted=None, reasons=waiting) if waiting else found


class FlavorSearch:
    """Kueue's successive attempts at one workload, until it is admitted or nothing is left to try."""

    def __init__(
        self,
        cluster: Cluster,
        queue: ClusterQueue,
        pod_sets: tuple[PodSet, ...],
        terms: AssignmentTerms,
        look: Look | None,
    ) -> None:
        self._cluster = cluster
        self._queue = queue
        self._pod_sets = pod_sets
        self._terms = terms
        self._look = look

    def run(self, held: Used) -> tuple[Assignment, Looked]:
        """Return the assignment beside what is `held`. If none fits, the reasons are those of all attempts, each once.

        With partial admission they are those of the smallest size.
        """
        tried: Tried = {}
        seen: list[Tried] = []
        failed: list[Assignment] = []
        while True:
            full, looked = self._attempt(held, self._full, tried)
            smaller = full
            if not full.fits and is_on(self._cluster, PARTIAL):
                smaller, looked = self._reduced(held, tried) or (full, looked)
            if smaller.fits:
                return smaller, looked
            failed.append(smaller)
            if not full.has_more_to_try or full.tried in seen:
                return _failed(failed), looked
            seen.append(full.tried)
            tried = full.tried

    @property
    def _full(self) -> tuple[int, ...]:
        return tuple(p.count for p in self._pod_sets)

    def _attempt(self, held: Used, counts: tuple[int, ...], tried: Tried) -> tuple[Assignment, Looked]:
        wanted = demands(self._cluster, self._queue, self._pod_sets, counts, self._terms)
        found = Assigner(self._cluster, self._queue, held, tried).assign(wanted)
        if not found.fits or self._look is None:
            return found, Looked()
        looked = self._look(self._cluster, self._queue, self._terms, found.assigned)
        if not looked.reasons:
            return found, looked
        code = looked.reasons[0].code
        return replace(found, reasons=looked.reasons, code=code, certain=looked.certain), looked

    def _reduced(self, held: Used, tried: Tried) -> tuple[Assignment, Looked] | None:
        """Return the largest size that fits, by bisection as in Kueue; else the last attempt, at the smallest size.

        None if no pod set can do without any of its pods.
        """
        from qcheck.schedulers.kueue.partial_admission import first_fitting, reduced_counts, spare_pods  # 0.1 ms

        spare = sum(spare_pods(self._pod_sets))
        if not spare:
            return None
        attempts: list[tuple[Assignment, Looked]] = []

        def attempted(step: int) -> tuple[Assignment, Looked] | None:
            attempts.append(self._attempt(held, reduced_counts(self._pod_sets, step), tried))
            return attempts[-1] if attempts[-1][0].fits else None

        return first_fitting(spare, attempted) or attempts[-1]


def _failed(attempts: list[Assignment]) -> Assignment:
    """Return all obstacles, with the reason code of the last attempt, as in Kueue, and the flavors of the first."""
    reasons = tuple(dict.fromkeys(r for a in attempts for r in a.reasons))
    certain = all(a.certain for a in attempts)
    return replace(attempts[0], reasons=reasons, code=attempts[-1].code, certain=certain)


def _short(queue: ClusterQueue, decided: Decision) -> Reason:
    """Return why only some of the equal workloads get quota."""
    what = "pods" if decided.workload.each_pod_alone else "groups"
    many, place = decided.admitted_copies, decided.workload.pod_sets[0].count_place
    message = f"{queue.name} can hold {many} of its {decided.copies} {what} at a time"
    near = (queue.place.at("spec", "resourceGroups"),)
    return Reason(
        code=ReasonCode.EXCEEDS_MAX_QUOTA,
        cause="quota",
        message=message,
        place=place,
        near=near,
        change=f"run at most {many} {what}",
    )


def _waiting(cluster: Cluster, use: CheckUse) -> Reason:
    """Return the reason that quota is reserved, but an admission check outside the repository may still block it."""
    check = cluster.admission_check[use.name]
    message = f"quota is reserved, but it then waits for the admission check {use.name} ({check.controller})"
    return Reason(
        ReasonCode.UNSATISFIED_CHECKS,
        "multikueue" if check.is_multikueue else "admission-check",
        message,
        use.place,
    )


def _passes(cluster: Cluster, use: CheckUse, decided: Decision) -> bool:
    """Return whether a check is ready at once: not for these flavors, or provisioning none of the requested resources."""
    if use.flavors and {f for a in decided.assigned for f in a.flavor_names}.isdisjoint(use.flavors):
        return True
    check = cluster.admission_check.get(use.name)
    if check is None or not check.is_provisioning:
        return check is None
    config = next((c for c in cluster.provisioning_configs if c.name == check.parameters_name), None)
    if config is None or not config.managed_resources:
        return False
    asked = {r for a in decided.assigned for r, amount in a.demand.amounts.items() if amount}
    return asked.isdisjoint(config.managed_resources)
