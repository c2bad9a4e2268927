"""The rules: one folder per family, a function per rule.

A check reads the model and yields findings. It does not know documents, files or reports.
"""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "input": ("problems", "capacity_unknown"),
    "capacity": ("quota", "absent_resources", "daemon_sets", "pools", "consumers", "headroom", "multikueue"),
    "placement": ("selectors", "shared_nodes", "taints", "device_plugins", "empty_pools", "flavor_pairs"),
    "priority": ("classes", "reclaim", "layers", "owner_preemption", "autoscaling", "strict_fifo"),
    "queues": (
        "references",
        "admission_checks",
        "admission_fair_sharing",
        "limit_ranges",
        "lending",
        "cohorts",
        "unused",
        "flavor_order",
        "resource_quotas",
    ),
    "topology": (
        "node_multiples",
        "packing",
        "levels",
        "requests",
        "gangs",
        "domain_multiples",
        "stranding",
        "neighbours",
        "mig",
    ),
    "change": ("changes",),
    "workloads": ("verdicts", "queue_labels", "pod_groups"),
    "configuration": ("manager",),
    "schedulers": (
        "kai_limits",
        "kai_units",
        "kai_sums",
        "kai_hierarchy",
        "kai_workloads",
        "kai_sharing",
        "kai_topology",
        "kai_settings",
        "kai_history",
        "kai_starvation",
        "volcano_sums",
        "volcano_amounts",
        "volcano_configuration",
        "volcano_hierarchy",
        "volcano_jobs",
        "volcano_hypernodes",
        "several",
    ),
}
"""The modules of `qcheck.checks.<family>` that contain the rules of each family."""
