"""DaemonSets whose pods occupy capacity that workloads need, and whether kube-scheduler may evict them.

Source: kube-scheduler treats a DaemonSet's pod as a victim like any other: it must have a strictly lower priority. With
topology-aware scheduling Kueue subtracts the pods of DaemonSets from a domain before it places anything (0.19).
"""

from __future__ import annotations

from qcheck.cluster.pods import NEVER_PREEMPTS
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import DaemonSet


def evictable(
    cluster: Cluster, pools: Iterable[str], templates: list[PodTemplate], daemon_sets: Iterable[DaemonSet]
) -> list[DaemonSet]:
    """Return the DaemonSets whose pods every template's pods may evict; none if there are no templates."""
    known = [cluster.quota_pools[p] for p in pools if p in cluster.quota_pools]
    if not templates or any(p.has_topology for p in known):
        return []
    return [d for d in daemon_sets if all(may_evict(cluster, t, d) for t in templates)]


def may_evict(cluster: Cluster, template: PodTemplate, daemon_set: DaemonSet) -> bool:
    """Return whether a template's pods may evict a DaemonSet's pod. An unknown priority class may have any value."""
    own, other = cluster.pod_priority(template), cluster.pod_priority(daemon_set.template)
    lower = own is None or other is None or other < own
    return lower and not _never_preempts(cluster, template)


def _never_preempts(cluster: Cluster, template: PodTemplate) -> bool:
    priority_class = cluster.priority_class.get(template.priority_class or "")
    return template.preemption_policy == NEVER_PREEMPTS or (priority_class is not None and not priority_class.preempts)
