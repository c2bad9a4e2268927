"""DaemonSets in the way of workloads, and whether kube-scheduler may evict their pods to make room.

Source: kube-scheduler treats a DaemonSet's pod as a victim like any other: it must have a strictly lower priority. With
topology-aware scheduling Kueue takes the pods of DaemonSets off a domain before it places anything (0.19).
"""

from __future__ import annotations

from qcheck.cluster.kueue import NEVER
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import DaemonSet, PodSet, Workload


def asking(cluster: Cluster, queues: Container[str], resource: str, size: int) -> Iterator[tuple[Workload, PodSet]]:
    """The pod sets of the workloads of some cluster queues whose pods ask for `size` of a resource each."""
    for workload in cluster.workloads:
        local = cluster.local_queue.get((workload.namespace, workload.queue or ""))
        if local is not None and local.cluster_queue in queues:
            for pod_set in workload.pod_sets:
                if pod_set.template.amounts().get(resource) == size:
                    yield workload, pod_set


def evictable(
    cluster: Cluster, flavors: Iterable[str], templates: list[PodTemplate], daemon_sets: Iterable[DaemonSet]
) -> list[DaemonSet]:
    """The DaemonSets whose pods all of the templates' pods may evict; none where no pods are known."""
    known = [cluster.flavor[f] for f in flavors if f in cluster.flavor]
    if not templates or any(f.topology for f in known):
        return []
    return [d for d in daemon_sets if all(_may_evict(cluster, t, d) for t in templates)]


def _may_evict(cluster: Cluster, template: PodTemplate, daemon_set: DaemonSet) -> bool:
    """Priorities of classes that are not here may be anything."""
    own, other = cluster.pod_priority(template), cluster.pod_priority(daemon_set.template)
    lower = own is None or other is None or other < own
    return lower and not _never_preempts(cluster, template)


def _never_preempts(cluster: Cluster, template: PodTemplate) -> bool:
    priority_class = cluster.priority_class.get(template.priority_class or "")
    return template.preemption_policy == NEVER or (priority_class is not None and not priority_class.preempts)
