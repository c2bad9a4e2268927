"""QC313: pod priorities and the cluster autoscaler."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.priority.layers import class_place
from qcheck.checks.registry import rule
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.competitors import Contender, contention_of, landing_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.supply.groups import NodeGroup

WITHOUT_CUTOFF = ("karpenter",)
"""Autoscalers that add nodes for pods of any priority."""


@rule("QC313")
def autoscaler_ignores_pod(cluster: Cluster, cutoff: int) -> Iterator[Finding]:
    """Report pods for which cluster-autoscaler adds no node although nodes have to be added."""
    reported: set[str] = set()
    for each in contention_of(cluster).contenders:
        key = each.lowest.name or str(each.workload.id)
        groups = _growing(cluster, each) if each.lowest.value < cutoff and key not in reported else []
        if groups:
            reported.add(key)
            yield (
                finding(
                    class_place(cluster, each.lowest),
                    f"pods of {each.workload.id} have priority {each.lowest}, below {cutoff}: cluster-autoscaler adds no "
                    f"node of {names(sorted({g.name for g in groups}))} for them",
                )
                .about(each.workload.id)
                .near(each.lowest.place if each.lowest.name else None, f"named by {each.workload.name}")
                .near(groups[0].count_place, f"{groups[0].name} has {groups[0].static} nodes without the autoscaler")
                .with_data(priority=each.lowest.value, cutoff=cutoff)
            )


def _growing(cluster: Cluster, contender: Contender) -> list[NodeGroup]:
    """Return the pools that have to grow for a workload; none if some of its nodes exist without an autoscaler."""
    groups = landing_groups(cluster, contender.workload, contender.queue)
    if any(g.static == g.ceiling or g.nodes for g in groups):
        return []
    return [g for g in groups if g.pool is not None and g.pool.is_autoscaled and _has_cutoff(g)]


def _has_cutoff(group: NodeGroup) -> bool:
    autoscaler = group.pool.autoscaler if group.pool else None
    return autoscaler is None or not autoscaler.lower().startswith(WITHOUT_CUTOFF)
