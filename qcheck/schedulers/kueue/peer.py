"""Kueue's functions for the table of schedulers."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.quota_tree import quota_tree, workload_shapes
from qcheck.schedulers.kueue.routing import queue_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import Workload

__all__ = ["decide", "queue_of", "quota_tree", "workload_shapes"]


def decide(_cluster: Cluster, _workload: Workload) -> None:
    """Return None: Kueue assigns flavors before pods are created, so its decision is separate, in `admission`."""
