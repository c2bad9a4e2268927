"""Workloads as jobs of the simulation: their charges, and the flavors of their queue that match their pods.

The requests, the grouping of pod sets and the matching of flavors are those of `flavor_assignment`.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import ByIdentity
from qcheck.schedulers.kueue.admission import terms_of
from qcheck.schedulers.kueue.assignment import grouped
from qcheck.schedulers.kueue.flavor_assignment import demands
from qcheck.schedulers.kueue.flavor_eligibility import miss
from qcheck.schedulers.kueue.gates import PARTIAL, is_on
from qcheck.schedulers.kueue.partial_admission import reduced_counts, spare_pods
from qcheck.schedulers.kueue.simulation.workload import (
    FlavorChoice,
    FlavorOption,
    FlavorPlacement,
    Holder,
    Job,
    SmallerSizes,
    WorkloadShare,
)
from qcheck.schedulers.kueue.uncovered_resources import lets_through, uncharged
from qcheck.supply.pod_requests import bounds

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, FlavorQuotas, ResourceGroup
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.kueue.assignment import PodSetDemand
    from qcheck.schedulers.kueue.simulation.ledger import Ledger, LedgerNode
    from qcheck.schedulers.kueue.simulation.workload import Flavors, Usage


class UnknownCell(ValueError):
    """A workload is stated to hold something for which its queue has no quota; the message says what."""


class Jobs:
    """Creates jobs for the queues of one ledger. Workloads with equal requests share the results."""

    def __init__(self, cluster: Cluster, ledger: Ledger) -> None:
        self._cluster = cluster
        self._ledger = ledger
        self._known: dict[Hashable, tuple[FlavorPlacement, ...]] = {}

    def job(
        self, name: str, workload: Workload, queue: ClusterQueue, priority: int, since: int, runs_for: int | None
    ) -> Job:
        """Return a workload in a queue as a job. Its `since` is the time of its creation."""
        return Job(
            name=name,
            queue=queue.name,
            priority=priority,
            since=since,
            placements=self._placements(workload, queue),
            shape=(priority, *self._ask(workload)),
            runs_for=runs_for,
            smaller=self._smaller(workload, queue),
        )

    def _smaller(self, workload: Workload, queue: ClusterQueue) -> SmallerSizes | None:
        """Return the sizes to which partial admission may reduce a workload."""
        most = sum(spare_pods(workload.unit))
        if not most or not is_on(self._cluster, PARTIAL):
            return None
        unit = workload.unit
        return SmallerSizes(
            most=most,
            at=lambda step: self._placed(workload, queue, reduced_counts(unit, step)),
            counts=lambda step: {p.name: n for p, n in zip(unit, reduced_counts(unit, step), strict=True)},
        )

    def holder(self, job: Job, workload: Workload, queue: ClusterQueue, flavors: Flavors, since: int) -> Holder:
        """Return a workload that already holds quota: `flavors` by pod set and resource. Raises `UnknownCell`."""
        cells = self._ledger.queues[queue.name].cells
        covered = {r for g in queue.groups for r in g.covered}
        usage: Usage = {}
        for demand in self._demands(workload, queue, _all_pods(workload)):
            given = flavors.get(demand.pod_set.name, {})
            for resource, amount in demand.amounts.items():
                if resource not in covered:
                    continue
                if resource not in given:
                    raise UnknownCell(
                        f"pod set {demand.pod_set.name} asks for {resource}, but `admitted` gives no flavor for it"
                    )
                key = (given[resource], resource)
                if key not in cells:
                    raise UnknownCell(f"{queue.name} has no quota for {resource} in flavor {given[resource]}")
                usage[cells[key]] = usage.get(cells[key], 0) + amount
        return Holder(job, usage, flavors, since)

    def _ask(self, workload: Workload) -> tuple[Hashable, ...]:
        """Return what the charge of a workload depends on: its pods, and the LimitRanges of its namespace."""
        return ByIdentity(bounds(self._cluster, workload.namespace)), workload.ask

    def _demands(self, workload: Workload, queue: ClusterQueue, counts: tuple[int, ...]) -> tuple[PodSetDemand, ...]:
        return demands(self._cluster, queue, workload.unit, counts, terms_of(self._cluster, workload))

    def _placements(self, workload: Workload, queue: ClusterQueue) -> tuple[FlavorPlacement, ...]:
        key = (queue.name, *self._ask(workload))
        if key not in self._known:
            self._known[key] = self._placed(workload, queue, _all_pods(workload))
        return self._known[key]

    def _placed(self, workload: Workload, queue: ClusterQueue, counts: tuple[int, ...]) -> tuple[FlavorPlacement, ...]:
        node = self._ledger.queues[queue.name]
        together = grouped(self._demands(workload, queue, counts))
        placements = [self._placement(queue, node, each) for each in together]
        if any(uncharged(queue, each) for each in together[:-1]):
            placements[-1] = replace(placements[-1], is_misfit=True)
        return tuple(placements)

    def _placement(self, queue: ClusterQueue, node: LedgerNode, together: list[PodSetDemand]) -> FlavorPlacement:
        total: dict[str, int] = {}
        for demand in together:
            for resource, amount in demand.amounts.items():
                total[resource] = total.get(resource, 0) + amount
        shares = tuple(WorkloadShare(d.pod_set.name, frozenset(d.amounts)) for d in together)
        covered = {r for g in queue.groups for r in g.covered}
        if any(r not in covered and not lets_through(self._cluster, n) for r, n in total.items()):
            return FlavorPlacement(shares, (), is_misfit=True)
        asked = [g for g in queue.groups if not total.keys().isdisjoint(g.covered)]
        groups = sorted(asked, key=lambda g: min(_turn(r) for r in total if r in g.covered))
        return FlavorPlacement(shares, tuple(self._choice(queue, g, node, together, total) for g in groups))

    def _choice(
        self,
        queue: ClusterQueue,
        group: ResourceGroup,
        node: LedgerNode,
        together: list[PodSetDemand],
        total: Mapping[str, int],
    ) -> FlavorChoice:
        resources = tuple(sorted(r for r in total if r in group.covered))
        options = tuple(self._option(queue, group, f, node, together, resources) for f in group.flavors)
        return FlavorChoice(resources, tuple(total[r] for r in resources), options)

    def _option(
        self,
        queue: ClusterQueue,
        group: ResourceGroup,
        quotas: FlavorQuotas,
        node: LedgerNode,
        together: list[PodSetDemand],
        resources: tuple[str, ...],
    ) -> FlavorOption:
        flavor = self._cluster.flavor.get(quotas.name)
        cells = tuple(node.cells[quotas.name, r] for r in resources if (quotas.name, r) in node.cells)
        matches = flavor is not None and not any(
            miss(self._cluster, queue, group, flavor, d.pod_set, set(d.asked)) for d in together
        )
        return FlavorOption(quotas.name, cells if matches and len(cells) == len(resources) else None)


def _all_pods(workload: Workload) -> tuple[int, ...]:
    return tuple(p.count for p in workload.unit)


def _turn(resource: str) -> int:
    """Return the sort key by which Kueue orders resources: a hash of the name (FNV-1a, 64 bits).

    It only affects which reason is given for a workload that does not fit.
    """
    value = 0xCBF29CE484222325
    for byte in resource.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value
