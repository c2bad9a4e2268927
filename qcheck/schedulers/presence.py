"""Detection of the schedulers that a cluster uses, before their modules are imported."""

from __future__ import annotations

from qcheck.cluster.policy import KAI_QUEUE_LABEL, KAI_SCHEDULER, VOLCANO_JOBS, VOLCANO_SCHEDULER
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kai import KaiConfig
    from qcheck.cluster.policy import KaiPolicy


def has_kueue(_cluster: Cluster) -> bool:
    """Return True: Kueue decides on every workload, because one without a queue also needs an answer."""
    return True


@view
def has_kai(cluster: Cluster) -> bool:
    """Return whether there are objects of KAI, or pods that use it or have its queue label."""
    if cluster.kai_queues or cluster.kai_shards or cluster.kai_pod_groups or cluster.kai_topologies:
        return True
    named: tuple[KaiPolicy | KaiConfig, ...] = (cluster.policy.kai, *cluster.kai_configs)
    labels = {KAI_QUEUE_LABEL, *(n.queue_label for n in named)} - {None}
    schedulers = {KAI_SCHEDULER, *(n.scheduler_name for n in named)} - {None}
    templates = [p.template for w in cluster.workloads for p in w.pod_sets]
    labelled = (
        labels & known.keys() for known in (*(w.labels for w in cluster.workloads), *(t.labels for t in templates))
    )
    return any(t.scheduler_name in schedulers for t in templates) or any(labelled)


@view
def has_volcano(cluster: Cluster) -> bool:
    """Return whether there are objects of Volcano, a configuration of its scheduler, or pods that use it."""
    if cluster.volcano_queues or cluster.volcano_pod_groups or cluster.hyper_nodes or cluster.volcano_scheduler:
        return True
    return any(
        w.id.group == VOLCANO_JOBS or p.template.scheduler_name == VOLCANO_SCHEDULER
        for w in cluster.workloads
        for p in w.pod_sets
    )
