"""QC101, QC102, QC106: quota compared with the nodes behind it."""

from __future__ import annotations

from qcheck.checks.capacity.absent_resources import advertised, is_of_volcano
from qcheck.checks.capacity.arithmetic import cell_scale, names, plural, promised, supplied, titled
from qcheck.checks.registry import rule
from qcheck.checks.repelling_taints import overdrafts_past_taints
from qcheck.cluster.nodes import at_most
from qcheck.cluster.problems import NODES
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.quota_pool import SchedulerName, is_flavor, pool_name
from qcheck.cluster.resources import is_accelerator, is_compute
from qcheck.cluster.units import show_amount
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.table import promises_of, workloads_of
from qcheck.supply.evictable_daemon_sets import evictable
from qcheck.supply.groups import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.checks.repelling_taints import Repelled
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.units import Scale
    from qcheck.quota.max_flow import Overdraft
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup, Taking

COUNTED_ELSEWHERE = "pods"
"""Pod slots, which depend on maxPods, not on devices: QC112."""


def compared_resources(cluster: Cluster) -> list[str]:
    """Return the resources with quota for which nodes are expected, in order of name."""
    supply = supply_of(cluster)
    found = {resource for _, resource in promises_of(cluster).cells}
    return sorted(r for r in found if r != COUNTED_ELSEWHERE and not supply.is_virtual(r))


@rule("QC101")
def quota_exceeds_capacity(cluster: Cluster) -> Iterator[Finding]:
    """Report sets of flavors that promise more than their nodes can ever supply."""
    for resource in compared_resources(cluster):
        for over in promises_of(cluster).overdrafts(resource, at_best=True):
            if is_proven(cluster, resource, over) and not is_of_volcano(cluster, over.pools[0]):
                yield _exceeds(cluster, resource, over)
        for over, out in overdrafts_past_taints(cluster, resource):
            if is_proven(cluster, resource, over) and not is_of_volcano(cluster, over.pools[0]):
                yield _past_taints(_exceeds(cluster, resource, over), out)


def _past_taints(found: Finding, out: Repelled) -> Finding:
    """Return the finding, unproved, with the nodes that do not count: future pods may tolerate their taints."""
    first, taint = out[0]
    which = f"{names(g.name for g, _ in out)} {'has' if len(out) == 1 else 'have'}"
    message = f"{found.message}; {which} a taint ({taint}) that neither the flavor nor a known workload tolerates"
    found = replace(found, message=message).near(first.place, f"not counted: {taint}")
    return found.likely().fixed_by(
        f"Tolerate {taint} in the flavor, or give the flavor nodeLabels that leave {first.name} out."
    )


def is_proven(cluster: Cluster, resource: str, over: Overdraft) -> bool:
    """Return whether the excess is larger than the possible error of an estimate. QC103 reports absent accelerators."""
    if "/" in resource and not any(advertised(cluster, f, resource) for f in over.pools):
        return False
    estimated = any(supply_of(cluster).is_estimated(f, resource) for f in over.pools)
    return not estimated or over.wanted > at_most(over.supply)


def _exceeds(cluster: Cluster, resource: str, over: Overdraft) -> Finding:
    quotas = _quotas(cluster, resource, over)
    groups = _groups(cluster, over)
    largest = max(quotas, key=lambda q: q.promised)
    kept, reasons = supply_of(cluster).kept_back(resource, over.groups)
    without = _supply_without_daemon_sets(resource, groups, kept) if _takers(resource, groups) else None
    fits_without = without is not None and over.supply < over.wanted <= without
    in_the_way = [str(t.daemon_set.id) for t in _takers(resource, groups)] if fits_without else []
    scale = cell_scale(resource, quotas, groups)
    message = (
        f"{_pools(cluster, over)} {_promise(over)} {promised(scale, quotas)}, "
        f"but the nodes can supply {scale(over.supply)}: {supplied(scale, groups, at_best=True)}"
    )
    if kept:
        why = f" ({names(reasons)})" if reasons else ""
        message += f", minus {scale(kept)} reserved{why} = {scale(over.supply)}"
    is_kueue = all(cluster.quota_pools[key].scheduler is SchedulerName.KUEUE for key in over.pools)
    field = "nominalQuota" if is_kueue else "what the queues are promised"
    least = f"{written_amount(resource, over.supply)} {resource}" if is_kueue else scale.name(over.supply)
    advice = f"Lower {field} to {least} in total, or add nodes."
    if fits_without:
        message += "; it would fit without the DaemonSets"
        advice = f"{advice[:-1]}, or keep the DaemonSets off these nodes."
    if lost := _lost(resource, groups):
        message += f"; {lost}"
        advice = f"{advice[:-1]}, or repair the devices."
    found = finding(largest.place, message, f"{scale(largest.promised)} for {largest.holder}")
    for quota in sorted(quotas, key=lambda q: -q.promised)[1:]:
        if quota.promised:
            found = found.near(quota.place, f"{scale(quota.promised)} for {quota.holder}")
    found = near_supply(found, scale, groups)
    provisioned = any(promises_of(cluster).is_provisioned(q) for q in quotas)
    return (
        found.fixed_by(advice)
        .likely(any(supply_of(cluster).is_estimated(f, resource) for f in over.pools) or not cluster.has_all(NODES))
        .likely(without is not None and over.wanted <= without and _make_room(cluster, resource, over, groups))
        .at_most(Severity.WARNING if provisioned else Severity.ERROR)
        .with_data(
            resource=resource,
            flavors=[pool_name(key) for key in over.pools],
            reserved=over.wanted,
            supply=over.supply,
            excess=over.wanted - over.supply,
            **({} if without is None else {"withoutDaemonSets": without}),
            **({"daemonSets": in_the_way} if in_the_way else {}),
        )
    )


def _lost(resource: str, groups: list[NodeGroup]) -> str:
    """Return `1 node of b with 7 of 8`: devices that nodes have but do not currently advertise."""
    if not is_compute(resource):
        return ""
    missing = [
        f"{plural(len(g.nodes), 'node')} of {g.name} with {have} of {c.machine.whole(resource)}"
        for g in groups
        for c in g.classes
        if g.nodes and 0 < (have := c.machine.allocatable.get(resource, 0)) < c.machine.whole(resource)
    ]
    return f"some devices are missing: {names(missing)}" if missing else ""


def _make_room(cluster: Cluster, resource: str, over: Overdraft, groups: list[NodeGroup]) -> bool:
    """Return whether kube-scheduler evicts the DaemonSets' pods for every workload that competes for the resource."""
    holders = {q.holder for q in _quotas(cluster, resource, over)}
    pod_sets = (p for w in workloads_of(cluster, holders) for p in w.pod_sets)
    templates = [p.template for p in pod_sets if p.template.amounts().get(resource)]
    takers = [t.daemon_set for t in _takers(resource, groups)]
    return len(evictable(cluster, over.pools, templates, takers)) == len(takers)


def _pools(cluster: Cluster, over: Overdraft) -> str:
    return titled(cluster, *over.pools)


def _promise(over: Overdraft) -> str:
    return "promises" if len(over.pools) == 1 else "together promise"


def _quotas(cluster: Cluster, resource: str, over: Overdraft) -> list[Cell]:
    return [q for f in over.pools for q in promises_of(cluster).cells[f, resource]]


def _groups(cluster: Cluster, over: Overdraft) -> list[NodeGroup]:
    return [g for g in supply_of(cluster).groups if g.name in over.groups]


def _supply_without_daemon_sets(resource: str, groups: list[NodeGroup], kept: int) -> int | None:
    """Return the supply after `kept` in reserves; None if some group has no ceiling."""
    total = 0
    for group in groups:
        if group.ceiling is None:
            return None
        whole = max((c.machine.allocatable.get(resource, 0) - c.reserved(resource) for c in group.classes), default=0)
        total += group.ceiling * whole
    return max(0, total - kept)


def near_supply(found: Finding, scale: Scale, groups: list[NodeGroup]) -> Finding:
    resource = scale.resource
    for group in groups:
        found = found.near(group.count_place, supplied(scale, [group], at_best=True))
    for taking in _takers(resource, groups):
        amount = show_amount(resource, taking.amounts[resource])
        found = found.near(
            taking.daemon_set.template.place_of(resource),
            f"DaemonSet {taking.daemon_set.name} takes {amount} on each node",
        )
    return found


def _takers(resource: str, groups: list[NodeGroup]) -> list[Taking]:
    """Return the DaemonSets that use a resource, each once."""
    seen: dict[str, Taking] = {}
    for group in groups:
        for node_class in group.classes:
            for taking in node_class.takings:
                if taking.amounts.get(resource, 0) > 0:
                    seen.setdefault(taking.daemon_set.id.full_name, taking)
    return list(seen.values())


@rule("QC102")
def quota_needs_autoscaling(cluster: Cluster) -> Iterator[Finding]:
    """Report quota that only future nodes can cover.

    Accelerators come first: shortages of cpu and memory on the same missing machines are not reported. Settings that
    state how autoscaled pools count, and ProvisioningRequest checks, show that the owner knows.
    """
    if cluster.policy.autoscaled is not None:
        return
    waiting: set[str] = set()
    for resource in sorted(compared_resources(cluster), key=lambda r: not is_accelerator(r)):
        never = {f for o in promises_of(cluster).overdrafts(resource, at_best=True) for f in o.pools}
        for over in promises_of(cluster).overdrafts(resource, at_best=False):
            known = not is_accelerator(resource) and waiting.issuperset(over.pools)
            if known or never & set(over.pools) or not _waits_unprovisioned(cluster, resource, over):
                continue
            if is_proven(cluster, resource, over):
                waiting.update(over.pools if is_accelerator(resource) else ())
                yield _needs_more(cluster, resource, over)


def _waits_unprovisioned(cluster: Cluster, resource: str, over: Overdraft) -> bool:
    """Return whether the quota of queues without a ProvisioningRequest check exceeds the existing capacity."""
    quotas = _quotas(cluster, resource, over)
    return sum(q.promised for q in quotas if not promises_of(cluster).is_provisioned(q)) > over.supply


def _needs_more(cluster: Cluster, resource: str, over: Overdraft) -> Finding:
    quotas = _quotas(cluster, resource, over)
    groups = [g for g in _groups(cluster, over) if g.static != g.ceiling]
    largest = max(quotas, key=lambda q: q.promised)
    scale = cell_scale(resource, quotas)
    message = (
        f"{_pools(cluster, over)} {_promise(over)} {promised(scale, quotas)}, "
        f"but only {scale(over.supply)} exist without more nodes in {names(g.name for g in groups)}"
    )
    found = finding(largest.place, message)
    for group in groups:
        found = found.near(group.count_place, _growth(scale, group))
    return found.likely(any(supply_of(cluster).is_estimated(f, resource) for f in over.pools)).with_data(
        resource=resource, flavors=[pool_name(key) for key in over.pools], reserved=over.wanted, static=over.supply
    )


def _growth(scale: Scale, group: NodeGroup) -> str:
    """Return `8 nodes x 8 = 64 (h100) now, at most 16 nodes x 8 = 128 (h100)`."""
    if group.nodes and group.pool is None:
        return f"{group.static} of {plural(group.ceiling or 0, 'node')} ready and schedulable"
    most = "no limit" if group.ceiling is None else f"at most {supplied(scale, [group], at_best=True)}"
    return f"{supplied(scale, [group], at_best=False)} now, {most}"


@rule("QC106")
def capacity_unreserved(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerators of nodes with a flavor beyond all quota; queues of KAI and Volcano divide existing ones."""
    if cluster.volcano_queues:
        return
    for resource in sorted(r for r in supply_of(cluster).resources if is_compute(r)):
        for flavors, groups in _sharing(cluster, resource):
            if not all(map(is_flavor, flavors)):
                continue
            supply = sum(g.static_supply(resource) for g in groups)
            reserved = sum(q.promised for f in flavors for q in promises_of(cluster).cells.get((f, resource), ()))
            kept = max((supply_of(cluster).total_reserve(f, resource) for f in flavors), default=0)
            idle = supply - reserved - kept
            if idle > 0:
                yield finding(
                    groups[0].count_place,
                    f"{idle} of {supply} {resource} in {names(sorted(g.name for g in groups))} are covered by no quota: "
                    f"{names(map(pool_name, sorted(flavors)))} {'promises' if len(flavors) == 1 else 'promise'} {reserved}",
                ).with_data(resource=resource, idle=idle, supply=supply, reserved=reserved)


def _sharing(cluster: Cluster, resource: str) -> Iterator[tuple[list[str], list[NodeGroup]]]:
    """Yield flavors in use, joined with the groups that they reach, if everything about these is known."""
    used = sorted({f for f, _ in promises_of(cluster).cells})
    left = [f for f in used if any(m.group.advertises(resource) for m in supply_of(cluster).matches(f))]
    while left:
        flavors, groups = [left.pop(0)], {}
        for flavor in flavors:
            groups.update(
                {m.group.name: m.group for m in supply_of(cluster).matches(flavor) if m.group.advertises(resource)}
            )
            joined = [f for f in left if any(m.group.name in groups for m in supply_of(cluster).matches(f))]
            flavors.extend(joined)
            left = [f for f in left if f not in joined]
        whole = all(m.how_many == ALL for f in flavors for m in supply_of(cluster).matches(f))
        if whole and all(supply_of(cluster).is_known(f, resource) for f in flavors):
            yield flavors, list(groups.values())
