"""Kueue's decision for a workload that is alone on an otherwise idle cluster."""

from __future__ import annotations

from qcheck.cluster.reasons import EXCEEDS_MAX_QUOTA, MISCONFIGURED, NO_MATCHING_FLAVOR, Reason
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.views import Same, answered_once, kept
from qcheck.cluster.workloads import Workload
from qcheck.schedulers.kueue.equal_workloads import how_many
from qcheck.schedulers.kueue.flavor_assignment import Assigned, Assigner, Assignment, Terms, demands
from qcheck.schedulers.kueue.gates import PARTIAL, is_on
from qcheck.schedulers.kueue.routing import UNMANAGED, at_home, destination
from qcheck.supply.pod_requests import UNBOUNDED, bounds, breaches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import CheckUse, ClusterQueue
    from qcheck.cluster.workloads import PodSet
    from qcheck.schedulers.kueue.flavor_assignment import Used
    from qcheck.schedulers.kueue.routing import Destination

UNSATISFIED = "UnsatisfiedAdmissionChecks"
ELSEWHERE = "multikueue"
"""The cause where a check sends the pods to another cluster."""
COMPLETED_AS_PODS = ("pod", "deployment")
"""Integrations that see pods, which the API server has completed, instead of templates."""


class Decision(Value):
    """What Kueue decides. `admitted` None: cannot tell, and `reasons` say why.

    * `queue` is the local queue's name, `cluster_queue` that of the cluster queue behind it.
    * `assigned`: the pod sets of one workload with their flavors.
    * `copies`: how many equal workloads the object makes (pods of a Deployment, groups of a LeaderWorkerSet), and
      `admitted_copies` how many of them get quota beside each other.
    * `held`: what keeps an admissible workload from being handed to the scheduler as it is written: a stopped local queue,
      or a LimitRange whose defaults or bounds change the request. `admitted` is the scheduler's answer without them.
    """

    workload: Workload
    queue: str | None
    cluster_queue: str | None
    admitted: bool | None
    assigned: tuple[Assigned, ...] = ()
    reasons: tuple[Reason, ...] = ()
    code: str | None = None
    copies: int = 1
    admitted_copies: int = 0
    held: tuple[Reason, ...] = ()
    relieved: bool = False

    @property
    def is_managed(self) -> bool:
        """Whether Kueue decides at all; otherwise the pods start at once."""
        return not any(r.code == UNMANAGED for r in self.reasons)

    @property
    def runs_elsewhere(self) -> bool:
        """Whether its pods run in another cluster, which MultiKueue chooses."""
        return any(r.cause == ELSEWHERE for r in self.reasons)

    @property
    def is_never_admitted(self) -> bool:
        """Refused both as written and with the defaults of LimitRanges."""
        return self.admitted is False and not self.relieved


@answered_once
def decide(cluster: Cluster, workload: Workload, skipped: frozenset[str] = frozenset()) -> Decision:
    """Whether a workload is admitted, with which flavors, or why not. Worked out once for each.

    Topology is compared with the levels of the flavors only; nodes are `topology_fit`'s business, which hands in as
    `skipped` the flavors that were tried in vain.
    """
    workload = at_home(cluster, workload)
    goal = destination(cluster, workload)
    limits = bounds(cluster, workload.namespace)
    as_pod = workload.framework in COMPLETED_AS_PODS
    plain = _decided(cluster, workload, goal, Terms(UNBOUNDED, as_pod, skipped))
    if limits is UNBOUNDED:
        return replace(plain, held=goal.held) if goal.held else plain
    bounded = _decided(cluster, workload, goal, Terms(limits, as_pod, skipped))
    if plain.admitted is False:
        return replace(plain, held=goal.held, relieved=bounded.admitted is not False)
    held = tuple(_limited(r) for r in bounded.reasons) if bounded.admitted is False else ()
    return replace(plain, held=(*goal.held, *held))


def _limited(reason: Reason) -> Reason:
    return replace(reason, message=f"with the namespace's LimitRange, {reason.message}")


def _decided(cluster: Cluster, workload: Workload, goal: Destination, terms: Terms) -> Decision:
    queue_name = goal.queue.name if goal.queue else None
    start = Decision(workload, goal.queue_name, queue_name, None, copies=copies_of(workload))
    if goal.blocked:
        return replace(start, admitted=False, reasons=goal.blocked, code=goal.blocked[0].code)
    unread = (*goal.doubts, *_unread(workload))
    if unread or goal.queue is None:
        return replace(start, reasons=unread)
    known = kept(cluster, _decided)  # refusals are left out: their reasons have places of their own
    key = (goal.queue.name, workload.ask, Same(terms.limits), terms.as_pod, terms.skipped)
    if key in known:
        return _alike(start, known[key])
    broken = tuple(_broken(cluster, workload, terms))
    if broken:
        return replace(start, admitted=False, reasons=broken, code=MISCONFIGURED)
    decided = _within(cluster, goal.queue, start, terms)
    if not decided.reasons:
        known[key] = decided
    return decided


def _alike(start: Decision, known: Decision) -> Decision:
    """The decision on a workload that asks the same as one that was admitted."""
    own = {p.name: p for p in start.workload.pod_sets}
    assigned = tuple(Assigned(replace(a.demand, pod_set=own[a.pod_set.name]), a.flavors) for a in known.assigned)
    return replace(start, admitted=True, assigned=assigned, admitted_copies=known.admitted_copies)


def copies_of(workload: Workload) -> int:
    """How many equal workloads an object makes: one per pod, or per group."""
    return workload.pod_sets[0].count if workload.each_pod_alone and workload.pod_sets else workload.groups


def unit(workload: Workload) -> tuple[PodSet, ...]:
    """The pod sets of one of those workloads."""
    if not workload.each_pod_alone:
        return workload.pod_sets
    return tuple(replace(p, count=1) for p in workload.pod_sets)


def _unread(workload: Workload) -> Iterator[Reason]:
    """Facts that are missing for a decision."""
    if workload.not_read:
        yield Reason("NotRead", "not-read", workload.not_read, workload.name_place)
    for pod_set in workload.pod_sets:
        if pod_set.template.claim_templates or pod_set.template.claims:
            message = f"pod set {pod_set.name} claims devices by ResourceClaim, which are not counted here"
            yield Reason("DeviceClaims", "device-claims", message, pod_set.template.place.at("resourceClaims"))


def _broken(cluster: Cluster, workload: Workload, terms: Terms) -> Iterator[Reason]:
    for pod_set in workload.pod_sets:
        for breach in breaches(cluster, pod_set.template, terms.limits):
            yield Reason(MISCONFIGURED, "resources-invalid", breach.message, breach.place)


def _within(cluster: Cluster, queue: ClusterQueue, start: Decision, terms: Terms) -> Decision:
    pod_sets = unit(start.workload)

    def assign(held: Used) -> Assignment:
        return _largest(cluster, queue, pod_sets, terms, held)

    first = assign({})
    if not first.fits:
        nothing = Reason(NO_MATCHING_FLAVOR, "no-flavor", f"{queue.name} has no flavor for it", queue.place)
        return replace(start, admitted=False, reasons=first.reasons or (nothing,), code=first.code or nothing.code)
    many = 1 if start.copies == 1 else how_many(cluster, queue, assign, start.copies)
    decided = replace(start, admitted=True, assigned=first.assigned, admitted_copies=many)
    if many < start.copies:
        return replace(decided, admitted=False, code=EXCEEDS_MAX_QUOTA, reasons=(_short(queue, decided),))
    waiting = tuple(_waiting(cluster, use) for use in queue.checks if not _passes(cluster, use, decided))
    return replace(decided, admitted=None, reasons=waiting) if waiting else decided


def _largest(
    cluster: Cluster, queue: ClusterQueue, pod_sets: tuple[PodSet, ...], terms: Terms, held: Used
) -> Assignment:
    """Flavors at full size or, where partial admission is asked for, at the largest size that fits.

    Where none does, the reasons are those of the smallest size that was tried.
    """

    def assign(counts: tuple[int, ...]) -> Assignment:
        return Assigner(cluster, queue, held, terms.skipped).assign(demands(cluster, queue, pod_sets, counts, terms))

    full = tuple(p.count for p in pod_sets)
    best = assign(full)
    index = next((i for i, p in enumerate(pod_sets) if p.minimum is not None and p.minimum < p.count), None)
    if best.fits or index is None or not is_on(cluster, PARTIAL):
        return best
    low, high = pod_sets[index].minimum or 1, full[index] - 1
    while low <= high:
        middle = (low + high) // 2
        attempt = assign((*full[:index], middle, *full[index + 1 :]))
        if attempt.fits or not best.fits:
            best = attempt
        low, high = (middle + 1, high) if attempt.fits else (low, middle - 1)
    return best


def _short(queue: ClusterQueue, decided: Decision) -> Reason:
    """Why only some of the equal workloads get quota."""
    what = "pods" if decided.workload.each_pod_alone else "groups"
    many, place = decided.admitted_copies, decided.workload.pod_sets[0].count_place
    message = f"{queue.name} can hold {many} of its {decided.copies} {what} at a time"
    near = (queue.place.at("spec", "resourceGroups"),)
    return Reason(EXCEEDS_MAX_QUOTA, "quota", message, place, near, f"run at most {many} {what}")


def _waiting(cluster: Cluster, use: CheckUse) -> Reason:
    """Quota is reserved; an admission check may still keep the workload, for reasons outside of the repository."""
    check = cluster.admission_check[use.name]
    message = f"quota is reserved; then it waits for the admission check {use.name} ({check.controller})"
    return Reason(UNSATISFIED, ELSEWHERE if check.is_multikueue else "admission-check", message, use.place)


def _passes(cluster: Cluster, use: CheckUse, decided: Decision) -> bool:
    """Whether a check is ready at once: not for these flavors, or provisioning none of the requested resources."""
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
