"""QC508: quota in units of domains."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.packing.flavor_domains import CLIQUE, HOSTNAME
from qcheck.packing.required_domain import domain_size
from qcheck.schedulers.table import promises_of, workload_shapes
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.packing.required_domain import DomainSize
    from qcheck.quota.tree import Cell


@rule("QC508")
def quota_not_domain_multiple(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerator quota that leaves a rest smaller than the domains in which its workloads run."""
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        if not is_compute(resource) or not supply_of(cluster).matches(flavor):
            continue
        for level in _levels_that_matter(cluster, flavor):
            size = domain_size(cluster, flavor, level, resource)
            short = [q for q in quotas if size is not None and _leaves_rest(q, size)]
            if size is not None and short:
                yield _no_multiple(cluster, flavor, level, size, short)
                break


def _levels_that_matter(cluster: Cluster, flavor: str) -> list[str]:
    """Return what workloads and shapes require; else the finest level above the node, and the NVLink domain."""
    asked = [s.level for s in cluster.policy.shapes if s.level and (not s.flavors or flavor in s.flavors)]
    asked += [s.level for s in workload_shapes(cluster).get(flavor, ()) if s.level and s.accelerator]
    topology = cluster.topology.get(cluster.flavor[flavor].topology or "") if flavor in cluster.flavor else None
    above = [level for level in (topology.levels if topology else ()) if level != HOSTNAME]
    return list(dict.fromkeys(asked or [*above[-1:], CLIQUE]))


def _leaves_rest(quota: Cell, size: DomainSize) -> bool:
    """Return whether a quota is not a multiple of a domain, in full or after DaemonSets. Single nodes belong to QC504."""
    if size.nodes < 2 or not quota.promised or not size.free:
        return False
    return bool(quota.promised % size.free) and bool(quota.promised % size.whole)


def _no_multiple(cluster: Cluster, flavor: str, level: str, size: DomainSize, short: list[Cell]) -> Finding:
    def tell(quota: Cell) -> str:
        full, rest = divmod(quota.promised, size.free)
        return f"{name_amount(quota.resource, quota.promised)} is {full} x {size.free} + {rest}"

    first = max(short, key=lambda q: q.promised)
    full, rest = divmod(first.promised, size.free)
    message = (
        f"{tell(first)}: a domain of {level} in flavor {flavor} has {size.nodes} nodes with {size.free}, "
        f"so {rest} remain that never fill a domain"
    )
    found = finding(first.place, message)
    for quota in short:
        found = found if quota is first else found.near(quota.place, tell(quota))
    place = _size_place(cluster, flavor, level)
    return found.near(place, f"{size.nodes} nodes per domain of {level}").with_data(
        flavor=flavor, resource=first.resource, level=level, domain=size.free, whole=full, rest=rest
    )


def _size_place(cluster: Cluster, flavor: str, level: str) -> Place | None:
    """Return the place where a pool states the size of its domains, else a group's place."""
    stated = [
        t for m in supply_of(cluster).matches(flavor) if m.group.pool for t in m.group.pool.topology if t.level == level
    ]
    if stated:
        return stated[0].place
    return next((m.group.place for m in supply_of(cluster).matches(flavor)), None)
