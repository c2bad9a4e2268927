"""Promised and existing accelerators of a whole cluster, in devices. Each node is counted once."""

from __future__ import annotations

from qcheck.cluster.resources import is_accelerator
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.fleet import AcceleratorSum, ClusterSummary
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster


def cluster_summary(cluster: Cluster) -> ClusterSummary:
    """Return a cluster's name and the sums of each kind of accelerator."""
    promised = {resource for _, resource in promises_of(cluster).cells}
    kinds = sorted(r for r in promised | supply_of(cluster).resources if is_accelerator(r))
    sums = [_sum(cluster, resource) for resource in kinds]
    shown = tuple(s for s in sums if s.nominal or s.static or s.static is None)
    return ClusterSummary(cluster.name, shown, cluster.size)


def _sum(cluster: Cluster, resource: str) -> AcceleratorSum:
    supply = supply_of(cluster)
    cells = [c for (_, r), found in promises_of(cluster).cells.items() if r == resource for c in found]
    held: dict[str, int | None] = {g.name: g.static_supply(resource) for g in supply.groups}
    supply.set_aside(resource, held)
    is_known = bool(supply.groups) and all(g.is_known for g in supply.groups)
    static = sum(amount or 0 for amount in held.values())
    return AcceleratorSum(resource, sum(c.promised for c in cells), static if is_known else None)
