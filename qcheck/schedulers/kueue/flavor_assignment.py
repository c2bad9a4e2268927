"""Kueue's flavor assigner on an idle cluster: the flavors that a workload gets from a ClusterQueue, or the reasons.

On an idle cluster nobody else holds quota, so a request fits exactly if it is within what the queue can ever hold.
Source: Kueue 0.19 `pkg/scheduler/flavorassigner/flavorassigner.go`.
"""

from __future__ import annotations

from qcheck.cluster.kueue import FlavorResource
from qcheck.cluster.place import Place
from qcheck.cluster.pods import Amounts
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.reasons import Reason, ReasonCode, least_severe
from qcheck.cluster.units import IN_PROSE, scale_of, show_amount
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.workloads import PodSet
from qcheck.schedulers.kueue.assignment import (
    LAST,
    Assigned,
    Assignment,
    AssignmentMode,
    AssignmentTerms,
    Grade,
    PodSetDemand,
    Tried,
    Used,
    grouped,
)
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.flavor_eligibility import miss
from qcheck.schedulers.kueue.uncovered_resources import lets_through, not_covered, stops, uncharged
from qcheck.supply.pod_requests import PODS, charged, completed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, FlavorQuotas, ResourceFlavor, ResourceGroup
    from qcheck.cluster.units import Scale


class _Attempt(Value):
    """One flavor tried for a group of pod sets. `level`: 0 within the queue's own quota, else the borrowing level."""

    flavor: str
    level: int
    reasons: tuple[Reason, ...]

    @property
    def grade(self) -> Grade:
        """The grade of the flavor on an idle cluster, where nothing has to be preempted."""
        return Grade(AssignmentMode.FIT, self.level)

    @property
    def code(self) -> ReasonCode:
        """The reason code of one flavor; Kueue reports a mismatch before the quota."""
        codes = [r.code for r in self.reasons]
        return ReasonCode.NO_MATCHING_FLAVOR if ReasonCode.NO_MATCHING_FLAVOR in codes else codes[0]


def demands(
    cluster: Cluster, queue: ClusterQueue, pod_sets: tuple[PodSet, ...], counts: tuple[int, ...], terms: AssignmentTerms
) -> tuple[PodSetDemand, ...]:
    """Return the charge of each pod set; `pods` count if the queue covers them."""
    covered = {r for g in queue.groups for r in g.covered}
    result = []
    for pod_set, count in zip(pod_sets, counts, strict=True):
        per_pod = charged(cluster, pod_set.template, terms.limits, terms.as_pod)
        amounts = {r: a * count for r, a in per_pod.items()}
        if PODS in covered:
            amounts[PODS] = count
        if terms.covered_only:
            amounts = {r: a for r, a in amounts.items() if r in covered}
        asked = completed(cluster, pod_set.template, terms.limits, terms.as_pod)
        result.append(PodSetDemand(pod_set, count, amounts, frozenset(asked)))
    return tuple(result)


class Assigner:
    """Assigns flavors of one ClusterQueue.

    `held` is what earlier workloads of the same object already hold; `tried` how far the previous attempt went.
    """

    def __init__(self, cluster: Cluster, queue: ClusterQueue, held: Used, tried: Tried) -> None:
        self._cluster = cluster
        self._queue = queue
        self._used: Used = dict(held)
        self._tried = tried

    def assign(self, wanted: tuple[PodSetDemand, ...]) -> Assignment:
        """Return flavors for all pod sets, in order; it stops at the first (group of) pod sets that gets none."""
        assigned: list[Assigned] = []
        tried: Tried = {}
        groups = grouped(wanted)
        for position, together in enumerate(groups, 1):
            flavors, seen, reasons, code = self._flavors_of(together)
            if code is not None:
                also = tuple(self._also_too_large(groups[position:]))
                return Assignment(tuple(assigned), (*reasons, *also), code, tried)
            blocking = uncharged(self._queue, together)
            if blocking is not None and position < len(groups):
                return Assignment(tuple(assigned), (stops(self._queue, blocking),), ReasonCode.NO_MATCHING_FLAVOR)
            for demand in together:
                own = {r: f for r, f in flavors.items() if r in demand.amounts or self._lends(demand, f)}
                assigned.append(Assigned(demand, own))
                tried[demand.pod_set.name] = {r: seen[r] for r in own}
            for resource, flavor in flavors.items():
                cell = (flavor, resource)
                taken = sum(d.amounts.get(resource, 0) for d in together)
                self._used[cell] = self._used.get(cell, 0) + taken
        return Assignment(tuple(assigned), tried=tried)

    def _also_too_large(self, later: list[list[PodSetDemand]]) -> Iterator[Reason]:
        """Yield reasons for further pod sets that exceed the quota, even without the requests of the first one."""
        for together in later:
            _, _, reasons, code = self._flavors_of(together)
            if code is ReasonCode.EXCEEDS_MAX_QUOTA:
                yield from reasons

    def _lends(self, demand: PodSetDemand, flavor: str) -> bool:
        """Return whether a pod set without requests follows its group."""
        asked = demand.pod_set.topology
        return not demand.amounts and asked is not None and bool(asked.group) and has_topology(self._cluster, flavor)

    def _flavors_of(
        self, together: list[PodSetDemand]
    ) -> tuple[dict[str, str], dict[str, int], tuple[Reason, ...], ReasonCode | None]:
        """Return flavors by resource for pod sets assigned as one, and how far the search went for each.

        If there are none, return the reasons and Kueue's code instead.
        """
        total: Amounts = {}
        for demand in together:
            total = {r: total.get(r, 0) + demand.amounts.get(r, 0) for r in {**total, **demand.amounts}}
        flavors: dict[str, str] = {}
        seen: dict[str, int] = {}
        begun = self._tried.get(together[0].pod_set.name, {})
        for resource in sorted(total):
            group = next((g for g in self._queue.groups if resource in g.covered), None)
            if resource in flavors or (group is None and lets_through(self._cluster, total[resource])):
                continue
            if group is None:
                return {}, {}, (not_covered(self._queue, together, resource),), ReasonCode.NO_MATCHING_FLAVOR
            start = begun.get(resource, LAST) + 1
            best, attempts = self._choose(group, together, total, start)
            if best is None:
                reasons = tuple(r for a in attempts for r in a.reasons)
                return (
                    {},
                    {},
                    reasons,
                    least_severe([a.code for a in attempts]) if attempts else ReasonCode.NO_MATCHING_FLAVOR,
                )
            flavors.update({r: best for r in total if r in group.covered})
            at = start + len(attempts) - 1
            seen.update({r: at if at < len(group.flavors) - 1 else LAST for r in total if r in group.covered})
        return flavors, seen, (), None

    def _choose(
        self, group: ResourceGroup, together: list[PodSetDemand], total: Amounts, start: int
    ) -> tuple[str | None, list[_Attempt]]:
        """Return the flavor that Kueue takes from `start` on.

        It is the first that fits, or with TryNextFlavor the one that borrows least.
        """
        attempts: list[_Attempt] = []
        fungibility = self._queue.fungibility
        best: _Attempt | None = None
        for quotas in group.flavors[start:]:
            attempt = self._try(group, quotas, together, total)
            attempts.append(attempt)
            if attempt.reasons:
                continue
            if attempt.grade.stops_search(fungibility):
                return attempt.flavor, attempts
            if best is None or attempt.grade.rank(fungibility) > best.grade.rank(fungibility):
                best = attempt
        return (best.flavor if best else None), attempts

    def _try(
        self, group: ResourceGroup, quotas: FlavorQuotas, together: list[PodSetDemand], total: Amounts
    ) -> _Attempt:
        flavor = self._cluster.flavor.get(quotas.name)
        if flavor is None:
            message = f"flavor {quotas.name} does not exist"
            reason = Reason(
                ReasonCode.NO_MATCHING_FLAVOR,
                "flavor-missing",
                message,
                quotas.name_place,
                flavor=quotas.name,
            )
            return _Attempt(quotas.name, 0, (reason,))
        mismatch = self._mismatch(group, flavor, together)
        if mismatch is not None:
            return _Attempt(flavor.name, 0, (mismatch,))
        reasons, level = [], 0
        for resource in sorted(r for r in total if r in group.covered):
            cell = (flavor.name, resource)
            held = self._used.get(cell, 0) + total[resource]
            if held > cohort_tree(self._cluster).queue_potential(self._queue.name, cell):
                reasons.append(self._exceeds(cell, together, total[resource]))
            else:
                level = max(level, cohort_tree(self._cluster).borrowing_level(self._queue.name, cell, held))
        return _Attempt(flavor.name, level, tuple(reasons))

    def _mismatch(self, group: ResourceGroup, flavor: ResourceFlavor, together: list[PodSetDemand]) -> Reason | None:
        for demand in together:
            found = miss(self._cluster, self._queue, group, flavor, demand.pod_set, set(demand.asked))
            if found is not None:
                near = () if found.near is None else (found.near,)
                code = ReasonCode.NO_MATCHING_FLAVOR
                return Reason(
                    code=code,
                    cause=found.cause,
                    message=found.message,
                    place=found.place,
                    near=near,
                    change=found.change,
                    flavor=flavor.name,
                    taint=found.taint,
                )
        return None

    def _exceeds(self, cell: FlavorResource, together: list[PodSetDemand], asked: int) -> Reason:
        flavor, resource = cell
        asking = max(together, key=lambda d: d.amounts.get(resource, 0))
        queue = self._queue.name
        reach, own = cohort_tree(self._cluster).queue_potential(queue, cell), self._own(cell)
        used = self._used.get(cell, 0)
        scale = scale_of(resource, (reach, own, asked, used, asking.amounts.get(resource, 0)), IN_PROSE)
        return Reason(
            code=ReasonCode.EXCEEDS_MAX_QUOTA,
            cause="quota",
            message=f"{_sum(asking, scale, asked, used)}; in flavor {flavor} {queue} can hold at most "
            f"{scale(reach)} (nominal {scale(own)}{_beyond(scale, reach - own)})",
            place=asking.place_of(resource),
            near=self._quota_places(cell),
            change=f"raise the quota or borrowing limit of {queue} for {resource} in {flavor} by "
            f"{written_amount(resource, used + asked - reach, up=True)}, or ask for less",
            flavor=flavor,
            resource=resource,
            short=used + asked - reach,
        )

    def _own(self, cell: FlavorResource) -> int:
        quota = self._queue.quota(*cell)
        return 0 if quota is None else quota.nominal

    def _quota_places(self, cell: FlavorResource) -> tuple[Place, ...]:
        quota = self._queue.quota(*cell)
        if quota is None:
            return (self._queue.place.at("spec", "resourceGroups"),)
        if quota.borrowing_limit is None:
            return (quota.nominal_place,)
        return quota.nominal_place, quota.place.at("borrowingLimit")


def has_topology(cluster: Cluster, flavor: str) -> bool:
    """Return whether a flavor uses a topology."""
    return flavor in cluster.flavor and bool(cluster.flavor[flavor].topology)


def _sum(demand: PodSetDemand, scale: Scale, asked: int, before: int) -> str:
    """Return the request with its arithmetic: `pod set main asks for 16 x 8 = 128 nvidia.com/gpu`."""
    own = demand.amounts.get(scale.resource, 0)
    shown = scale.name(own)
    if demand.count > 1 and scale.resource != PODS:
        shown = f"{demand.count} x {show_amount(scale.resource, own // demand.count)} = {shown}"
    text = f"pod set {demand.pod_set.name} asks for {shown}"
    beside = asked - own + before
    return f"{text} in addition to {scale(beside)} of other pods" if beside > 0 else text


def _beyond(scale: Scale, extra: int) -> str:
    return f" + {scale(extra)} to borrow" if extra else ", nothing to borrow"
