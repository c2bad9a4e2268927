"""Values of flavor assignment: the requests of pod sets to a queue, and the flavors they get."""

from __future__ import annotations

from qcheck.cluster.kueue import FlavorResource
from qcheck.cluster.pods import Amounts
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import Value, replace
from qcheck.cluster.workloads import PodSet
from qcheck.supply.pod_requests import LimitRangeBounds

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
