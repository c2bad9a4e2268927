"""The subjects of rules: if a cluster has no subject of a module's rules, they find nothing.

Such a module is not imported: most repositories need two thirds of them, and each import takes 0.15 ms.
"""

from __future__ import annotations

from qcheck.cluster.kueue import FungibilityPolicy, QueueingStrategy
from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view
from qcheck.schedulers.table import has_kai, has_volcano
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.cluster import Cluster

MIG = "nvidia.com/mig-"
CLIQUE = "nvidia.com/gpu.clique"


@view
def _asks_for_topology(cluster: Cluster) -> bool:
    return any(p.topology for w in cluster.workloads for p in w.pod_sets)


def _has_topologies(cluster: Cluster) -> bool:
    return bool(cluster.topologies) or any(f.topology for f in cluster.flavors) or _asks_for_topology(cluster)


def _has_gangs(cluster: Cluster) -> bool:
    if cluster.kai_topologies or cluster.hyper_nodes:
        return True
    return any(s.level and s.pods for s in cluster.policy.shapes) or _asks_for_topology(cluster)


def _has_domains(cluster: Cluster) -> bool:
    """Return whether anything may name a domain above the node; true for every cluster with KAI or Volcano."""
    if cluster.topologies or any(s.level for s in cluster.policy.shapes) or _has_gangs(cluster):
        return True
    if has_kai(cluster) or has_volcano(cluster) or any(p.topology for p in cluster.pools):
        return True
    classes = (c for g in supply_of(cluster).groups for c in g.classes)
    return any(c.machine.nvlink_domain or CLIQUE in c.labels or CLIQUE in c.varying for c in classes)


def _has_mig(cluster: Cluster) -> bool:
    classes = (c for g in supply_of(cluster).groups for c in g.classes)
    return bool(cluster.mig_layouts) or any(r.startswith(MIG) for c in classes for r in c.machine.allocatable)


def _borrows_before_the_next_flavor(cluster: Cluster) -> bool:
    stops = FungibilityPolicy.MAY_STOP_SEARCH
    return any(
        q.fungibility.when_can_borrow is stops and any(len(g.flavors) > 1 for g in q.groups) for q in cluster.queues
    )


def _has_configuration(cluster: Cluster) -> bool:
    rejected = (p.code is ProblemCode.CONFIGURATION_REJECTED for p in cluster.problems)
    return cluster.configuration is not None or any(rejected)


SUBJECTS: dict[str, Callable[[Cluster], object]] = {
    "capacity.daemon_sets": lambda c: c.daemon_sets,
    "capacity.multikueue": lambda c: c.multikueue_configs,
    "placement.device_plugins": lambda c: c.daemon_sets,
    "placement.flavor_pairs": lambda c: any(len(q.groups) > 1 for q in c.queues),
    "priority.owner_preemption": lambda c: not all(p.preempts for p in c.priority_classes),
    "priority.autoscaling": lambda c: any(p.is_autoscaled for p in c.pools),
    "priority.strict_fifo": lambda c: any(q.strategy is QueueingStrategy.STRICT_FIFO for q in c.queues),
    "queues.admission_checks": lambda c: c.admission_checks or c.multikueue_configs or any(q.checks for q in c.queues),
    "queues.admission_fair_sharing": lambda c: c.configuration,
    "queues.flavor_order": _borrows_before_the_next_flavor,
    "queues.limit_ranges": lambda c: c.limit_ranges,
    "queues.resource_quotas": lambda c: c.resource_quotas,
    "topology.levels": _has_topologies,
    "topology.requests": _has_topologies,
    "topology.gangs": _has_gangs,
    "topology.domain_multiples": _has_domains,
    "topology.mig": _has_mig,
    "workloads.queue_labels": lambda c: c.configuration or not all(w.queue for w in c.workloads),
    "workloads.pod_groups": lambda c: any(w.members or w.framework == "pod" for w in c.workloads),
    "configuration.manager": _has_configuration,
    **dict.fromkeys(
        (
            "schedulers.kai_limits", "schedulers.kai_sums", "schedulers.kai_hierarchy", "schedulers.kai_workloads",
            "schedulers.kai_sharing", "schedulers.kai_topology", "schedulers.kai_settings", "schedulers.kai_starvation",
            "schedulers.kai_history", "schedulers.kai_units",
        ),
        has_kai,
    ),
    **dict.fromkeys(
        (
            "schedulers.volcano_sums", "schedulers.volcano_amounts", "schedulers.volcano_configuration",
            "schedulers.volcano_hierarchy", "schedulers.volcano_jobs", "schedulers.volcano_hypernodes",
        ),
        has_volcano,
    ),
}  # fmt: skip
"""By module, a test whether a cluster has its subject. Unlisted modules concern queues, pools or workloads."""


def has_subject(cluster: Cluster, module: str) -> bool:
    """Return whether the rules of a module, `family.name`, may find anything; if a test crashes, its rules report it."""
    test = SUBJECTS.get(module)
    try:
        return test is None or bool(test(cluster))
    except Exception:  # noqa: BLE001  (a crash is a finding, never a traceback)
        return True
