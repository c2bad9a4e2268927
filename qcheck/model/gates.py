"""Feature gates of Kueue that change what is admitted, and the release from which each is on.

Source: Kueue `pkg/features/kube_features.go`.
"""

from __future__ import annotations

from qcheck.model.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.model.cluster import Cluster

TOPOLOGY = "TopologyAwareScheduling"
DEFAULT_QUEUE = "LocalQueueDefaulting"
PARTIAL = "PartialAdmission"
QUOTA_CHECK = "QuotaCheckStrategy"
DEVICES = "KueueDRAIntegration"

ON_SINCE = {TOPOLOGY: 14, DEFAULT_QUEUE: 12, PARTIAL: 5, QUOTA_CHECK: 19, DEVICES: 18}


def is_on(cluster: Cluster, gate: str) -> bool:
    """Whether a gate is on: as the Configuration says, else by the release's default."""
    chosen = cluster.configuration.feature_gates.get(gate) if cluster.configuration else None
    return cluster.policy.kueue.at_least(ON_SINCE[gate]) if chosen is None else chosen
