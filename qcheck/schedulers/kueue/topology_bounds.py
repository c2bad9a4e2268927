"""Bounds on a topology's domains that prove that no search places the pods, even with unknown facts about nodes.

Nodes are taken at their best, so a failure is a proof, or rests on estimates and says so. There is no answer about what
may fit.
"""

from __future__ import annotations

from qcheck.cluster.problems import NODES
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.packing.domains import Slice
from qcheck.packing.kube_scheduler import Wanted, schedule
from qcheck.packing.question import Pods
from qcheck.packing.required_domain import GangRequest, misfit
from qcheck.schedulers.kueue.decision import Looked
from qcheck.schedulers.kueue.flavor_assignment import has_topology
from qcheck.schedulers.kueue.pod_injection import created
from qcheck.supply.eligibility import eligible
from qcheck.supply.node_demand import demand_of, runtime_class
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import Topology
    from qcheck.cluster.pods import Amounts, PodTemplate
    from qcheck.cluster.workloads import PodSet
    from qcheck.packing.required_domain import Misfit
    from qcheck.schedulers.kueue.assignment import Assigned
    from qcheck.supply.groups import NodeGroup
    from qcheck.supply.pod_requests import LimitRangeBounds

    Members = tuple[tuple[PodSet, Amounts, int], ...]


def misfits(cluster: Cluster, asking: list[Assigned], requests: dict[str, Amounts], limits: LimitRangeBounds) -> Looked:
    """Return why pod sets with topology flavors cannot be placed in any order; empty if nothing proves this."""
    for together in _bound_together(asking):
        found = _level(cluster, together, requests)
        if found is not None:
            return found
    return _anywhere(cluster, asking, limits)


def _bound_together(asking: list[Assigned]) -> list[list[Assigned]]:
    """Group pod sets that must share a domain with each other or internally."""
    found: dict[str, list[Assigned]] = {}
    for assigned in asking:
        asked = assigned.pod_set.topology
        if asked is not None and (asked.required or asked.slices):
            key = f"group {asked.group}" if asked.group else f"alone {assigned.pod_set.name}"
            found.setdefault(key, []).append(assigned)
    return list(found.values())


def _level(cluster: Cluster, together: list[Assigned], requests: dict[str, Amounts]) -> Looked | None:
    asked = together[0].pod_set.topology
    flavor = next(f for f in together[0].flavor_names if has_topology(cluster, f))
    topology = cluster.topology.get(cluster.flavor[flavor].topology or "")
    if asked is None or topology is None or not set(asked.levels) <= set(topology.levels):
        return None
    members = tuple((a.pod_set, requests[a.pod_set.name], a.demand.count) for a in together)
    found = misfit_together(cluster, flavor, topology, members)
    if found is None:
        return None
    level = asked.required or asked.slices[0].level
    pods = " and ".join(f"{a.demand.count} {a.pod_set.name}" for a in together)
    message = f"in flavor {flavor} no domain of {level} has room for {pods}: {found.why}"
    near = tuple(m.group.count_place for m in supply_of(cluster).matches(flavor))
    change = f"run at most {found.most} pods in one domain" if found.most else ""
    reason = Reason(
        code=ReasonCode.TOPOLOGY_FAILED,
        cause="domain",
        message=message,
        place=asked.place,
        near=near,
        change=change,
        flavor=flavor,
    )
    return Looked((reason,), certain=found.certain and cluster.has_all(NODES))


def misfit_together(cluster: Cluster, flavor: str, topology: Topology, members: Members) -> Misfit | None:
    """Return why no domain of a flavor holds pod sets that must share one.

    `members`: the request of one pod, and the number of pods. Nodes that Kueue does not let the pods use do not count;
    only those of the larger pod set are considered.
    """
    workers = max(members, key=lambda m: m[2])[0]
    demand = demand_of(cluster, as_kueue_sees(cluster, workers.template), (), cluster.quota_pools[flavor])

    def admits(group: NodeGroup) -> bool:
        return not topology.has_hostname or any(eligible(demand, c).possible for c in group.classes)

    return misfit(cluster, flavor, topology.levels, party_of(members, topology), admits)


def party_of(members: Members, topology: Topology) -> GangRequest:
    """Return pod sets that must share a domain. Of nested slices only the largest count, as a bound."""
    asked = members[0][0].topology
    assert asked is not None
    slices = tuple(Slice(s.level, s.size) for s in asked.slices[:1])
    pods = tuple(Pods(pod_set.name, request, count) for pod_set, request, count in members)
    return GangRequest(
        name=members[0][0].name, members=pods, level=asked.required, slices=slices, sums=not topology.has_hostname
    )


def as_kueue_sees(cluster: Cluster, template: PodTemplate) -> PodTemplate:
    """Return a template with only what Kueue considers when it places pods: resources, labels and taints."""
    runtime = runtime_class(cluster, template)
    return replace(
        template,
        overhead=template.overhead or (runtime.overhead if runtime else {}),
        runtime_class=None,
        node_name=None,
        host_ports=(),
        spreads=(),
        one_per_node=False,
        has_pod_affinity=False,
        scheduling_gates=(),
    )


def _anywhere(cluster: Cluster, asking: list[Assigned], limits: LimitRangeBounds) -> Looked:
    """Decide as kube-scheduler would if nodes are the lowest level, because Kueue then places each pod on a node."""
    wanted = list(_by_node(cluster, asking))
    placed = schedule(cluster, limits, wanted) if wanted else None
    if placed is None or placed.runs is not False:
        return Looked()
    flavor = next(f for f in asking[0].flavor_names if has_topology(cluster, f))
    return Looked((replace(placed.reasons[0], code=ReasonCode.TOPOLOGY_FAILED, flavor=flavor),))


def _by_node(cluster: Cluster, asking: list[Assigned]) -> Iterator[Wanted]:
    for each in asking:
        flavor = next(f for f in each.flavor_names if has_topology(cluster, f))
        topology = cluster.topology.get(cluster.flavor[flavor].topology or "")
        if topology is not None and topology.has_hostname:
            yield Wanted(each.pod_set, as_kueue_sees(cluster, created(cluster, each)), each.demand.count)
