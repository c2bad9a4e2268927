"""QC205: flavors that count the same nodes."""

from __future__ import annotations

from qcheck.checks.capacity.sums import names
from qcheck.checks.placement.taints import keeps_off
from qcheck.checks.registry import rule
from qcheck.cluster.quantity import show_amount
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.supply.eligibility import ALL
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.supply import NodeGroup


@rule("QC205")
def flavors_share_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Flavors with quota of one resource on the same nodes, unless QC101 already shows that they promise too much.

    Each set of flavors once, by the accelerator that they share if there is one.
    """
    resources = {r for _, r in supply_of(cluster).demands if r != "pods" and not supply_of(cluster).is_virtual(r)}
    told: set[tuple[str, ...]] = set()
    for resource in sorted(resources, key=lambda r: (not is_compute(r), r)):
        for over in supply_of(cluster).overdrafts(resource, at_best=True):
            told.add(over.flavors)
        for group, flavors in _shared(cluster, resource):
            if not any(set(flavors) <= set(t) for t in told):
                told.add(flavors)
                yield _sharing(cluster, resource, group, flavors)


def _shared(cluster: Cluster, resource: str) -> Iterator[tuple[NodeGroup, tuple[str, ...]]]:
    """Yield the flavors with quota of a resource whose pods may use all nodes of a group which has it, if several."""
    wanted = sorted(
        f for (f, r), quotas in supply_of(cluster).demands.items() if r == resource and any(q.nominal for q in quotas)
    )
    for group in supply_of(cluster).groups:
        if group.advertises(resource):
            flavors = tuple(f for f in wanted if _selects_all(cluster, f, group))
            if len(flavors) > 1:
                yield group, flavors


def _selects_all(cluster: Cluster, flavor: str, group: NodeGroup) -> bool:
    """Whether the pods of a flavor may use all nodes of a group: it selects them, and no taint keeps its pods off."""
    selected = any(m.group is group and m.how_many == ALL for m in supply_of(cluster).matches(flavor))
    return selected and not keeps_off(cluster, cluster.flavor[flavor], group)


def _sharing(cluster: Cluster, resource: str, group: NodeGroup, flavors: tuple[str, ...]) -> Finding:
    first, *others = [cluster.flavor[f] for f in flavors]
    sums = [
        f"{f} {show_amount(resource, sum(q.nominal for q in supply_of(cluster).demands[f, resource]))}" for f in flavors
    ]
    have = show_amount(resource, group.static_supply(resource))
    found = finding(
        others[0].place.at("spec", "nodeLabels").key(),
        f"the flavors {names(flavors)} select the same nodes ({group.name}, {have} {resource}) "
        f"and each has quota for them: {names(sums)}",
    ).about(others[0].id)
    found = found.near(first.place.at("spec", "nodeLabels").key(), f"{first.name} selects them too")
    for other in others[1:]:
        found = found.near(other.place.at("spec", "nodeLabels").key(), f"{other.name} too")
    return found.near(group.place, group.name).with_data(flavors=[*flavors], resource=resource)
