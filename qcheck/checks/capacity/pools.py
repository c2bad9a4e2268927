"""QC108, QC109, QC110, QC112: the composition of the pools behind a quota."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import cell_scale, names, plural, promised
from qcheck.checks.registry import rule
from qcheck.cluster.nodes import Certainty
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import show_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.nodes import Machine, NodePool
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup

SPOT_LABELS = {
    "karpenter.sh/capacity-type": "spot",
    "eks.amazonaws.com/capacityType": "SPOT",
    "cloud.google.com/gke-spot": "true",
    "cloud.google.com/gke-preemptible": "true",
    "kubernetes.azure.com/scalesetpriority": "spot",
    "compute.coreweave.com/compute-class": "spot",
}
"""Labels of nodes that the cloud may reclaim at any time."""
MOST_PODS = 737
"""The most pods per node by default in any managed service (EKS on its largest machines).

If maxPods is only assumed, this is the assumption.
"""


@rule("QC108")
def shared_counted_as_physical(cluster: Cluster) -> Iterator[Finding]:
    """Report quota that the nodes cover only because devices are advertised several times."""
    for flavor, quotas in promises_of(cluster).used_pools:
        for resource in sorted({q.resource for q in quotas if is_compute(q.resource) and q.promised}):
            groups = [m.group for m in supply_of(cluster).matches(flavor.key) if m.group.advertises(resource)]
            if any(_physical(g, resource) is not None for g in groups):
                cells = [q for q in quotas if q.resource == resource and q.promised]
                yield from _shared(flavor, resource, cells, groups)


def _physical(group: NodeGroup, resource: str) -> int | None:
    """Return devices per node behind a shared resource; None if it is not shared."""
    counts = [c.machine.physical.get(resource) for c in group.classes if c.machine.physical is not None]
    return max((n for n in counts if n is not None), default=None)


def _shared(flavor: QuotaPool, resource: str, quotas: list[Cell], groups: list[NodeGroup]) -> Iterator[Finding]:
    reserved = sum(q.promised for q in quotas)
    physical, sums = 0, []
    for group in groups:
        if group.ceiling is None:
            return
        each = _physical(group, resource)
        advertised = group.highest(resource)
        physical += group.ceiling * (advertised if each is None else each)
        if each is not None:
            sums.append(
                f"{plural(group.ceiling, 'node')} x {each} GPUs advertise {group.ceiling * advertised} ({group.name})"
            )
    if reserved <= physical:
        return
    largest = max(quotas, key=lambda q: q.promised)
    found = finding(
        largest.place,
        f"{flavor.title} promises {promised(cell_scale(resource, quotas), quotas)}, "
        f"but the nodes have {physical} GPUs: {', '.join(sums)}",
    )
    for group in groups:
        found = found.near(group.place, f"{group.name} shares its GPUs")
    yield found.with_data(flavor=flavor.name, resource=resource, reserved=reserved, physical=physical)


@rule("QC109")
def guarantee_on_spot(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors with quota all of whose nodes are spot or preemptible."""
    for flavor, quotas in promises_of(cluster).used_pools:
        groups = [m.group for m in supply_of(cluster).matches(flavor.key)]
        held = [q for q in quotas if q.promised]
        if not groups or not held or not all(_is_spot(g) for g in groups):
            continue
        largest = max(held, key=lambda q: (is_compute(q.resource), q.promised))
        resource = largest.resource
        same = [q for q in held if q.resource == resource]
        found = finding(
            largest.place,
            f"{flavor.title} promises {promised(cell_scale(resource, same), same)}, "
            f"and all its nodes ({names(sorted(g.name for g in groups))}) are spot or preemptible",
        )
        for group in groups:
            found = found.near(group.place, f"{group.name} is spot")
        yield found.with_data(
            flavor=flavor.name,
            resource=resource,
            reserved=sum(q.promised for q in same),
            pools=sorted(g.name for g in groups),
        )


def _is_spot(group: NodeGroup) -> bool:
    if group.pool is not None and group.pool.spot:
        return True
    return bool(group.classes) and all(
        any(c.labels.get(key) == value for key, value in SPOT_LABELS.items()) for c in group.classes
    )


@rule("QC110")
def pool_limit_binds(cluster: Cluster) -> Iterator[Finding]:
    """Report pools whose cpu or memory limit is reached before their accelerator limit."""
    for pool in cluster.pools:
        devices = [r for r in pool.limits if is_compute(r) and all(m.capacity.get(r) for m in pool.machines)]
        for other in ("cpu", "memory"):
            for device in devices if other in pool.limits and pool.machines else ():
                if all(_launchable(m, other, pool) < _launchable(m, device, pool) for m in pool.machines):
                    yield _binds(pool, other, device)


def _launchable(machine: Machine, resource: str, pool: NodePool) -> int:
    """Return the number of whole nodes up to the limit on a resource, counted by capacity, not allocatable."""
    return pool.limits[resource] // max(1, machine.capacity.get(resource, 0))


def _binds(pool: NodePool, other: str, device: str) -> Finding:
    machine = max(pool.machines, key=lambda m: _launchable(m, other, pool) * m.capacity[device])
    nodes, wanted = _launchable(machine, other, pool), _launchable(machine, device, pool)
    each, per_node = machine.capacity.get(other, 0), machine.capacity[device]
    limits = pool.limits_place or pool.place
    return (
        finding(
            limits.at(other),
            f"the {other} limit of {show_amount(other, pool.limits[other])} stops pool {pool.name} at "
            f"{plural(nodes, 'node')} of {show_amount(other, each)}, which have {nodes * per_node} {device}; "
            f"its limit of {pool.limits[device]} {device} would allow {plural(wanted, 'node')}",
        )
        .near(limits.at(device), f"never reached: {nodes * per_node} of {pool.limits[device]}")
        .fixed_by(
            f"Raise the {other} limit to {written_amount(other, wanted * each, up=True)}, or lower that of {device}."
        )
        .with_data(pool=pool.name, resource=other, limit=pool.limits[other], nodes=nodes, accelerators=nodes * per_node)
    )


@rule("QC112")
def pod_slots_short(cluster: Cluster) -> Iterator[Finding]:
    """Report more promised pods, or more devices that need a pod each, than the nodes have pod slots."""
    for flavor, quotas in promises_of(cluster).used_pools:
        slots = _slots(cluster, flavor)
        if slots is None:
            continue
        total, sums, estimated = slots
        for resource in sorted({q.resource for q in quotas if q.resource == "pods" or is_compute(q.resource)}):
            cells = [q for q in quotas if q.resource == resource and q.promised]
            if sum(q.promised for q in cells) > total:
                yield _too_few(cluster, flavor, resource, cells, total, sums).likely(estimated)


def _too_few(cluster: Cluster, flavor: QuotaPool, resource: str, quotas: list[Cell], total: int, sums: str) -> Finding:
    what = "" if resource == "pods" else ", each of which a separate pod may request"
    found = finding(
        max(quotas, key=lambda q: q.promised).place,
        f"{flavor.title} promises {promised(cell_scale(resource, quotas), quotas)}{what}, "
        f"but its nodes have room for {total} pods: {sums}",
    )
    for match in supply_of(cluster).matches(flavor.key):
        found = found.near(match.group.count_place, f"{match.group.name}: {_pods_per_node(match.group)} pods per node")
    wanted = sum(q.promised for q in quotas)
    return found.with_data(flavor=flavor.name, resource=resource, wanted=wanted, slots=total)


def _slots(cluster: Cluster, flavor: QuotaPool) -> tuple[int, str, bool] | None:
    """Return a flavor's pod slots, their sum in words, and whether maxPods is assumed; None if unknown."""
    total, sums, estimated = 0, [], False
    for match in supply_of(cluster).matches(flavor.key):
        group = match.group
        each = _pods_per_node(group)
        if group.ceiling is None or each is None or not group.is_known:
            return None
        total += group.ceiling * each
        sums.append(f"{plural(group.ceiling, 'node')} x {each} = {group.ceiling * each} ({group.name})")
        estimated = estimated or any(c.is_estimated("pods") for c in group.classes)
    return (total, " + ".join(sums), estimated) if sums else None


def _pods_per_node(group: NodeGroup) -> int | None:
    """Return a node's pod slots after DaemonSets; if maxPods is assumed, the maximum."""
    found = []
    for each in group.classes:
        declared = each.machine.allocatable.get("pods")
        if declared is None:
            return None
        taken = each.taken("pods")
        assumed = each.machine.sure.get("pods") == Certainty.ESTIMATED
        found.append((max(declared, MOST_PODS) if assumed else declared) - taken)
    return max(found, default=None)
