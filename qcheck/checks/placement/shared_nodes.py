"""QC205: flavors that count the same nodes."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.checks.repelling_taints import keeps_off
from qcheck.cluster.quota_pool import SchedulerName, pool_name
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import scale_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.groups import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.groups import NodeGroup


@rule("QC205")
def flavors_share_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors with quota of one resource on the same nodes, unless QC101 already shows that they exceed them.

    Each set of flavors is reported once, for the accelerator that they share if there is one.
    """
    resources = {r for _, r in promises_of(cluster).cells if r != "pods" and not supply_of(cluster).is_virtual(r)}
    reported: set[tuple[str, ...]] = set()
    for resource in sorted(resources, key=lambda r: (not is_compute(r), r)):
        for over in promises_of(cluster).overdrafts(resource, at_best=True):
            reported.add(over.pools)
        for group, flavors in _shared(cluster, resource):
            if not any(set(flavors) <= set(t) for t in reported):
                reported.add(flavors)
                yield _sharing(cluster, resource, group, flavors)


def _shared(cluster: Cluster, resource: str) -> Iterator[tuple[NodeGroup, tuple[str, ...]]]:
    """Yield the flavors with quota of a resource whose pods may use all nodes of a group, if there are several.

    Each scheduler is judged separately: QC990 adds up several. A queue of Volcano may be restricted to a part of the
    nodes of others.
    """
    for tree in promises_of(cluster).trees:
        wanted = sorted(p.key for p in tree.pools if promises_of(cluster).total((p.key, resource)))
        selecting: dict[str, list[str]] = {}
        for flavor in wanted if tree.scheduler is not SchedulerName.VOLCANO else ():
            for group in _selected(cluster, flavor, resource):
                selecting.setdefault(group.name, []).append(flavor)
        for group in supply_of(cluster).groups:
            flavors = tuple(selecting.get(group.name, ()))
            if len(flavors) > 1:
                yield group, flavors


def _selected(cluster: Cluster, flavor: str, resource: str) -> Iterator[NodeGroup]:
    """Yield the groups with a resource of which a flavor selects all nodes, and whose taints do not keep its pods off."""
    for match in supply_of(cluster).matches(flavor):
        counts = match.how_many == ALL and match.group.advertises(resource)
        if counts and not keeps_off(cluster, cluster.quota_pools[flavor], match.group):
            yield match.group


def _sharing(cluster: Cluster, resource: str, group: NodeGroup, flavors: tuple[str, ...]) -> Finding:
    first, *others = [cluster.quota_pools[f] for f in flavors]
    quotas = [sum(q.promised for q in promises_of(cluster).cells[f, resource]) for f in flavors]
    scale = scale_of(resource, (group.static_supply(resource), *quotas))
    sums = [f"{pool_name(f)} {scale(quota)}" for f, quota in zip(flavors, quotas, strict=True)]
    have = scale.name(group.static_supply(resource))
    found = finding(
        others[0].labels_place.key(),
        f"the {first.word}s {names(pool_name(f) for f in flavors)} select the same nodes ({group.name}, {have}) "
        f"and each has quota for them: {names(sums)}",
    )
    found = found.near(first.labels_place.key(), f"{first.name} selects them too")
    for other in others[1:]:
        found = found.near(other.labels_place.key(), f"{other.name} too")
    return found.near(group.place, group.name).with_data(flavors=[pool_name(f) for f in flavors], resource=resource)
