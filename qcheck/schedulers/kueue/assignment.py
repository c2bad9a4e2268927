"""Values of flavor assignment: pod set requests, the fit of a flavor, and the chosen flavors.

Source: Kueue 0.20 `pkg/scheduler/flavorassigner/flavorassigner.go` (isPreferred, shouldTryNextFlavor).
"""

from __future__ import annotations

from enum import IntEnum

from qcheck.cluster.kueue import FlavorPreference, FlavorResource, FungibilityPolicy
from qcheck.cluster.pods import Amounts
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import PodSet
from qcheck.supply.pod_requests import PODS, LimitRangeBounds

if TYPE_CHECKING:
    from qcheck.cluster.kueue import Fungibility
    from qcheck.cluster.place import Place

    Rank = tuple[int, int, int]

LAST = -1

Used = dict[FlavorResource, int]
Tried = dict[str, dict[str, int]]


class AssignmentTerms(Value):
    """The completion of requests: the LimitRanges and their order (see `pod_requests.adjusted`).

    `covered_only`: omit the resources that the queue does not cover.
    """

    limits: LimitRangeBounds
    as_pod: bool
    covered_only: bool = False


class PodSetDemand(Value):
    """A pod set with its total charge in base units for `count` pods.

    `asked` are the resources that the pods themselves request, before exclusion and transformation.
    """

    pod_set: PodSet
    count: int
    amounts: Amounts
    asked: frozenset[str]

    def place_of(self, resource: str) -> Place:
        """Return the place at which the pod set requests a resource; for `pods` that of its count."""
        return self.pod_set.count_place if resource == PODS else self.pod_set.template.place_of(resource)


def grouped(wanted: tuple[PodSetDemand, ...]) -> list[list[PodSetDemand]]:
    """Return pod sets grouped by podset group, in the order of their first member."""
    groups: dict[str, list[PodSetDemand]] = {}
    for index, demand in enumerate(wanted):
        asked = demand.pod_set.topology
        key = f"group {asked.group}" if asked and asked.group else str(index)
        groups.setdefault(key, []).append(demand)
    return list(groups.values())


class Assigned(Value):
    """A pod set with its flavors by resource name; empty if it requests no covered resource."""

    demand: PodSetDemand
    flavors: dict[str, str]

    def of(self, pod_set: PodSet) -> Assigned:
        """Return the same flavors for an equal pod set."""
        return Assigned(replace(self.demand, pod_set=pod_set), self.flavors)

    @property
    def pod_set(self) -> PodSet:
        return self.demand.pod_set

    @property
    def flavor_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.flavors.values()))


class Assignment(Value):
    """The result of the assigner. `reasons` say for each flavor why it was skipped; `code` is what Kueue would report.

    `tried` is how far the search went, by pod set and resource: the index of the last flavor considered, or LAST if it
    is the last one. `certain`: the reasons prove that it does not fit.
    """

    assigned: tuple[Assigned, ...]
    reasons: tuple[Reason, ...] = ()
    code: ReasonCode | None = None
    tried: Tried = {}
    certain: bool = True

    @property
    def has_more_to_try(self) -> bool:
        """Return whether Kueue retries at once, each pod set from the flavor after the one it got."""
        return any(index != LAST for of in self.tried.values() for index in of.values())

    @property
    def fits(self) -> bool:
        return self.code is None

    def usage(self) -> Used:
        """Return the usage of each cell."""
        used: Used = {}
        for each in self.assigned:
            for resource, flavor in each.flavors.items():
                cell = (flavor, resource)
                used[cell] = used.get(cell, 0) + each.demand.amounts.get(resource, 0)
        return used


class AssignmentMode(IntEnum):
    """The fit of a request in a cell, worst first. RECLAIM preempts only in other queues, PREEMPT also in its own."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


class Grade(Value):
    """The fit of a request in a flavor. `level`: 0 within its own quota, else the borrowing level."""

    mode: AssignmentMode
    level: int

    def rank(self, fungibility: Fungibility) -> Rank:
        """Return the sort key by the queue's preference; a higher key is better."""
        if self.mode <= AssignmentMode.NO_CANDIDATES:
            return (int(self.mode), 0, -self.level)
        if fungibility.preference is FlavorPreference.PREEMPTION_OVER_BORROWING:
            return (2, -self.level, int(self.mode))
        return (2, int(self.mode), -self.level)

    def stops_search(self, fungibility: Fungibility) -> bool:
        """Return whether a flavor of this grade is taken without considering later ones."""
        if self.mode <= AssignmentMode.NO_CANDIDATES:
            return False
        if self.mode is not AssignmentMode.FIT and fungibility.when_can_preempt is FungibilityPolicy.TRY_NEXT_FLAVOR:
            return False
        return self.level == 0 or fungibility.when_can_borrow is not FungibilityPolicy.TRY_NEXT_FLAVOR


IMPOSSIBLE = Grade(AssignmentMode.NO_FIT, 0)
BEST = Grade(AssignmentMode.FIT, 0)
