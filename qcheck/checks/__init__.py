"""What is wrong: one module per family (split where a family is large), one function per rule.

A check reads the model and yields findings; it knows nothing of documents, files or reports.
"""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "input": ("input",),
    "capacity": ("capacity", "pools", "consumers", "headroom", "multikueue"),
    "placement": ("placement", "taints", "bootstrap", "flavor_pairs"),
    "priority": ("priority", "reclaim", "layers", "autoscaling", "strict_fifo"),
    "queues": (
        "queues",
        "admission_checks",
        "limit_ranges",
        "lending",
        "cohorts",
        "unused",
        "flavor_order",
        "resource_quotas",
    ),
    "topology": ("topology", "packing", "domains", "gangs", "stranding", "mig"),
    "change": ("change",),
    "workloads": ("workloads", "queue_labels", "pod_groups"),
    "configuration": ("configuration",),
}
"""The modules of `qcheck.checks` that hold the rules of each family."""
