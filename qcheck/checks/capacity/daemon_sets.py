"""QC104: DaemonSets on nodes with quota."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import show_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import DaemonSet
    from qcheck.supply.groups import NodeGroup


@rule("QC104")
def daemonset_takes_accelerators(cluster: Cluster) -> Iterator[Finding]:
    """Report DaemonSets that request accelerators on nodes promised as quota, once per DaemonSet and resource."""
    for daemon_set in cluster.daemon_sets:
        for resource, amount in daemon_set.template.amounts().items():
            if amount > 0 and is_compute(resource):
                yield from _taken(cluster, daemon_set, resource)


def _taken(cluster: Cluster, daemon_set: DaemonSet, resource: str) -> Iterator[Finding]:
    hit: dict[str, NodeGroup] = {}
    flavors: list[str] = []
    for (flavor, name), quotas in promises_of(cluster).cells.items():
        landed = [m.group for m in supply_of(cluster).matches(flavor) if _lands(m.group, daemon_set)]
        if name == resource and landed and sum(q.promised for q in quotas):
            flavors.append(flavor)
            hit.update({g.name: g for g in landed})
    if not flavors:
        return
    amount = daemon_set.template.amounts()[resource]
    largest = max((q for f in flavors for q in promises_of(cluster).cells[f, resource]), key=lambda q: q.promised)
    reserved = sum(q.promised for f in flavors for q in promises_of(cluster).cells[f, resource])
    counts = {g.name: _nodes(g) for g in hit.values()}
    known = [c for c in counts.values() if c is not None]
    count = sum(known) if len(known) == len(counts) else None
    where = "each node" if count is None else f"each of {plural(count, 'node')} ({amount * count} in total)"
    found = finding(
        daemon_set.template.place_of(resource),
        f"DaemonSet {daemon_set.name} takes {amount} {resource} on {where} in {names(sorted(hit))}; "
        f"the {show_amount(resource, reserved)} promised by {names(map(pool_name, sorted(flavors)))} do not account for it",
    ).about(daemon_set.id)
    for group in hit.values():
        nodes = counts[group.name]
        found = found.near(
            group.count_place, f"{group.name}: {'number unknown' if nodes is None else plural(nodes, 'node')}"
        )
    yield found.near(largest.place, "promised here").with_data(
        resource=resource,
        perNode=amount,
        nodes=count,
        total=None if count is None else amount * count,
        flavors=sorted(flavors),
    )


def _nodes(group: NodeGroup) -> int | None:
    """Return the most nodes that a group can have, or the current number without a bound; None if unknown."""
    return None if group.pool is not None and group.pool.count_unknown else group.ceiling or group.static


def _lands(group: NodeGroup, daemon_set: DaemonSet) -> bool:
    return any(t.daemon_set is daemon_set and t.certain for c in group.classes for t in c.takings)
