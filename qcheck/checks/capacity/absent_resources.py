"""QC103: quota for resources that no node has."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, titled
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.nodes import Certainty
from qcheck.cluster.place import Place, follow
from qcheck.cluster.quota_pool import SchedulerName, pool_name
from qcheck.cluster.resources import is_accelerator, is_fabric
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup

RENAMED = ".shared"
"""The suffix of a device that time-slicing or MPS renames."""
POD_SLOTS = "pods"
"""A resource that depends on maxPods, not on devices: QC112."""


def advertised(cluster: Cluster, flavor: str, resource: str) -> bool:
    """Return whether some node of a flavor has a resource."""
    groups = [m.group for m in supply_of(cluster).matches(flavor)]
    return any(g.advertises(resource) or g.is_only_limited(resource) for g in groups)


def is_of_volcano(cluster: Cluster, pool: str) -> bool:
    """Return whether Volcano divides a pool; QC951, QC952 and QC958 report its sums and names."""
    found = cluster.quota_pools.get(pool)
    return found is not None and found.scheduler is SchedulerName.VOLCANO


@rule("QC103")
def quota_on_absent_resource(cluster: Cluster) -> Iterator[Finding]:
    """Report quota for an accelerator that none of the flavor's nodes advertises; one finding per resource name."""
    absent: dict[str, list[tuple[str, Cell]]] = {}
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        wanted = [q for q in quotas if q.promised]
        if wanted and _is_absent(cluster, flavor, resource):
            absent.setdefault(resource, []).extend((flavor, q) for q in wanted)
    for resource, cells in absent.items():
        yield _absent(cluster, resource, cells)
    for (flavor, resource), quotas in promises_of(cluster).cells.items():
        wanted = [q for q in quotas if q.promised]
        if wanted and resource.endswith(RENAMED) and _is_never_launched(cluster, flavor, resource):
            yield _never_launched(cluster, flavor, resource, wanted)


def _is_never_launched(cluster: Cluster, flavor: str, resource: str) -> bool:
    """Return whether only Karpenter could add such nodes, which knows machine types but not renamed devices."""
    groups = [m.group for m in supply_of(cluster).matches(flavor) if m.group.advertises(resource)]
    return bool(groups) and all(
        g.pool is not None and g.pool.autoscaler == "Karpenter" and g.static == 0 and not g.nodes for g in groups
    )


def _never_launched(cluster: Cluster, flavor: str, resource: str, cells: list[Cell]) -> Finding:
    groups = [m.group for m in supply_of(cluster).matches(flavor) if m.group.advertises(resource)]
    pools, first = names(g.name for g in groups), max(cells, key=lambda q: q.promised)
    message = (
        f"quota for {resource} in {cluster.quota_pools[flavor].title}, but Karpenter never launches a node of {pools} for "
        f"it: it knows the GPUs of a machine type, which are advertised as {resource} only once a node runs"
    )
    found = finding(first.name_place, message).near(groups[0].place, f"{groups[0].name} starts from 0 nodes")
    return (
        found.likely()
        .fixed_by("Set renameByDefault: false, keep some nodes (`replicas`), or add a NodeOverlay with the resource.")
        .with_data(resource=resource, flavors=[pool_name(flavor)])
    )


def _is_absent(cluster: Cluster, flavor: str, resource: str) -> bool:
    supply = supply_of(cluster)
    if supply.is_virtual(resource) or resource == POD_SLOTS or "/" not in resource:
        return False
    if is_of_volcano(cluster, flavor):
        return False
    known = bool(supply.matches(flavor)) and supply.is_known(flavor, resource)
    return known and not advertised(cluster, flavor, resource)


def _absent(cluster: Cluster, resource: str, cells: list[tuple[str, Cell]]) -> Finding:
    flavors = sorted({f for f, _ in cells})
    groups = [m.group for f in flavors for m in supply_of(cluster).matches(f)]
    offered = sorted(
        {r for g in groups for c in g.classes for r, n in c.machine.allocatable.items() if n and is_accelerator(r)}
    )
    first = max((q for _, q in cells), key=lambda q: q.promised)
    what = names(offered) if offered else "no accelerator"
    found = finding(
        first.name_place,
        f"quota for {resource} in {titled(cluster, *flavors)}, "
        f"but no node of {names(sorted({g.name for g in groups}))} advertises it; they advertise {what}",
    )
    for _, quota in cells:
        if quota is not first:
            found = found.near(quota.name_place, "also here")
    found = found.near(groups[0].place, f"{groups[0].name} advertises {what}")
    near = nearest(resource, offered)
    if near is not None:
        found = found.fixed_by(f"Write {near} instead of {resource}, or change what the device plugin advertises.")
        values = [(place, near) for _, quota in cells for place in _name_places(quota)]
        found = found.offering_all(dict(values).items(), f"Write {near} instead of {resource}.")
    return found.likely(_could_be_configured(resource, groups)).with_data(resource=resource, flavors=list(flavors))


def _name_places(quota: Cell) -> Iterator[Place]:
    """Yield the places of a cell's resource name: at the cell, and in `coveredResources` of Kueue's resource group."""
    yield quota.name_place
    if "flavors" in quota.name_place.route:
        route = quota.name_place.route[: quota.name_place.route.index("flavors")]
        covered = Place(quota.name_place.origin, (*route, "coveredResources"))
        listed = follow(covered.origin.data, covered.route)
        yield from (
            covered.at(i) for i, r in enumerate(listed if isinstance(listed, list) else ()) if r == quota.resource
        )


def _could_be_configured(resource: str, groups: list[NodeGroup]) -> bool:
    """Return whether an unread device-plugin setting could make these machines advertise the resource.

    A Node states what it advertises, a machine type only its devices; definitions often omit network devices.
    """
    vendor = resource.partition("/")[0]
    for group in groups:
        for node_class in group.classes:
            machine = node_class.machine
            has_vendor = any(r.startswith(vendor + "/") and n for r, n in machine.allocatable.items())
            is_derived = any(sure != Certainty.DECLARED for sure in machine.sure.values())
            if (is_fabric(resource) and not group.nodes) or (is_derived and has_vendor and is_accelerator(resource)):
                return True
    return False
