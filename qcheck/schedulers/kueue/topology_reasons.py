"""Reasons why Kueue's search for domains finds none for a pod set."""

from __future__ import annotations

from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.question import devices_first
from qcheck.schedulers.kueue.topology_search import NotFound, search
from qcheck.schedulers.kueue.topology_tree import times

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.reasons import ReasonCause
    from qcheck.schedulers.kueue.assignment import Assigned
    from qcheck.schedulers.kueue.topology_nodes import TopologyNodes
    from qcheck.schedulers.kueue.topology_tree import Ask, Usage

_SHOWN = 3


def not_found(
    cluster: Cluster, flavor: str, nodes: TopologyNodes, asked: Ask, workers: Assigned, found: NotFound, usage: Usage
) -> Reason:
    """Return why the search fails: all nodes or domains are too small, or earlier pod sets took the room."""
    scarce = _scarce(nodes, asked)
    if scarce is not None:
        return _too_large(flavor, nodes, asked, workers, scarce)
    name, levels = workers.pod_set.name, nodes.tree.levels
    unit = "pods" if asked.slice_size == 1 else f"slices of {asked.slice_size} pods"
    where = f"no domain of {levels[asked.level]}" if asked.required else "the topology"
    held = f"takes more than {found.fit}" if asked.required else f"takes {found.fit}"
    message = f"in flavor {flavor} {where} {held} of the {found.wanted} {unit} of pod set {name}"
    if usage and not isinstance(search(nodes.tree, asked, {}), NotFound):
        message += " after the pods that Kueue places first; they may fit in another order, which Kueue does not try"
    if nodes.away:
        message += f" (without {_some(nodes.away)}: cordoned or not ready)"
    near = (cluster.flavor[flavor].place.at("spec", "topologyName"), workers.pod_set.count_place)
    cause: ReasonCause = "away" if nodes.away else "order"
    return Reason(
        code=ReasonCode.TOPOLOGY_FAILED, cause=cause, message=message, place=asked_at(workers), near=near, flavor=flavor
    )


def _scarce(nodes: TopologyNodes, asked: Ask) -> str | None:
    """Return the resource of which no leaf has enough for one pod; None if some leaf holds one."""
    leaves = [
        d.leaf for d in nodes.tree.by_level[-1] if d.leaf is not None and (asked.on is None or d.leaf.key in asked.on)
    ]
    if not leaves or any(times(asked.request, leaf.free) for leaf in leaves):
        return None
    lacking = [r for r, n in asked.request.items() if all(leaf.free.get(r, 0) < n for leaf in leaves)]
    return next(iter(sorted(lacking, key=devices_first)), None)


def _too_large(flavor: str, nodes: TopologyNodes, asked: Ask, workers: Assigned, scarce: str) -> Reason:
    most = max((d.leaf.free.get(scarce, 0) for d in nodes.tree.by_level[-1] if d.leaf is not None), default=0)
    shown, has = show_amounts(scarce, asked.request[scarce], max(0, most))
    message = (
        f"a pod of pod set {workers.pod_set.name} asks for {named(scarce, shown)}, more than any domain of flavor {flavor} "
        f"has free: at most {has} after DaemonSets, which Kueue subtracts regardless of priority"
    )
    change = f"ask for at most {has} {scarce} per pod" if most > 0 else ""
    place = workers.pod_set.template.place_of(scarce)
    return Reason(
        code=ReasonCode.TOPOLOGY_FAILED,
        cause="larger-than-node",
        message=message,
        place=place,
        near=(asked_at(workers),),
        change=change,
        flavor=flavor,
        resource=scarce,
    )


def _some(nodes: tuple[str, ...]) -> str:
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    return ", ".join(nodes[:_SHOWN]) + more


def asked_at(assigned: Assigned) -> Place:
    asked = assigned.pod_set.topology
    return asked.place if asked is not None else assigned.pod_set.template.place
