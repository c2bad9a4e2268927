"""A Kueue cluster with other quotas, and what workloads need of their current quotas."""

from __future__ import annotations

from qcheck.answers.judge import judge
from qcheck.answers.verdicts import verdicts_of
from qcheck.cluster.quantity import NANO, Quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.views import view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, Quota
    from qcheck.quota.tree import Cell

    Spot = tuple[str, str, str]
    """Queue, flavor, resource."""


def quantity(resource: str, units: int) -> Quantity:
    """Return an amount in base units as a quantity."""
    return Quantity(units * (10**6 if resource == "cpu" else NANO), "decimal", "")


def with_quotas(cluster: Cluster, amounts: Mapping[Spot, int]) -> Cluster:
    """Return the cluster with other nominal quotas of ClusterQueues, in base units."""
    names = {queue for queue, _, _ in amounts}
    queues = tuple(_changed(q, amounts) if q.name in names else q for q in cluster.queues)
    return replace(cluster, queues=queues)


def _changed(queue: ClusterQueue, amounts: Mapping[Spot, int]) -> ClusterQueue:
    def changed(quota: Quota) -> Quota:
        units = amounts.get((queue.name, *quota.key))
        return quota if units is None else replace(quota, nominal_quantity=quantity(quota.resource, units))

    groups = tuple(
        replace(g, flavors=tuple(replace(f, quotas=tuple(map(changed, f.quotas))) for f in g.flavors))
        for g in queue.groups
    )
    return replace(queue, groups=groups)


@view
def _needs(cluster: Cluster) -> dict[Spot, tuple[tuple[int, Verdict], ...]]:
    """Return what each admitted workload takes of a quota, by queue, flavor and resource, the largest first."""
    found: dict[Spot, list[tuple[int, Verdict]]] = {}
    for verdict in verdicts_of(cluster):
        taken: dict[Spot, int] = {}
        for assigned in verdict.decision.assigned if verdict.admitted else ():
            for resource, flavor in assigned.flavors.items():
                spot = (verdict.decision.cluster_queue or "", flavor, resource)
                taken[spot] = taken.get(spot, 0) + assigned.demand.amounts.get(resource, 0)
        for spot, amount in taken.items():
            found.setdefault(spot, []).append((amount, verdict))
    return {spot: tuple(sorted(some, key=lambda s: -s[0])) for spot, some in found.items()}


def least_for_workloads(cluster: Cluster, cell: Cell) -> int:
    """Return the amount down to which a quota can be lowered with every workload of its queue still admitted."""
    needs = _needs(cluster).get((cell.holder, *cell.key), ())
    if not needs or cell.limit is None:
        return 0
    return max(0, cell.promised - max(0, cell.limit - needs[0][0]))


def workload_objection(cluster: Cluster, amounts: tuple[tuple[Cell, int], ...]) -> str:
    """Return which workload would never be admitted with other amounts of some quotas; empty if none is known."""
    short = [verdict for cell, amount in amounts for verdict in _short(cluster, cell, amount)]
    changed = with_quotas(cluster, {(c.holder, *c.key): n for c, n in amounts}) if short else cluster
    for verdict in short:
        now = judge(changed, verdict.workload)
        if now.admitted is False:
            why = now.reasons[0].message if now.reasons else now.word
            return f"{verdict.workload.id} would never be admitted: {why}"
    return ""


def _short(cluster: Cluster, cell: Cell, amount: int) -> Iterator[Verdict]:
    """Yield the workloads that would exceed the limit of a quota with another amount."""
    for need, verdict in _needs(cluster).get((cell.holder, *cell.key), ()):
        if cell.limit is None or cell.limit - (cell.promised - amount) >= need:
            return
        yield verdict
