"""Feature gates of Kueue that affect admission: as they are set, else by the release."""

from __future__ import annotations

from qcheck.cluster import kueue_gates as gate_table
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster

TOPOLOGY = "TopologyAwareScheduling"
MIXED_PROFILE = "TASProfileMixed"
LEAST_FREE = "TASProfileLeastFreeCapacity"
DEFAULT_QUEUE = "LocalQueueDefaulting"
PARTIAL = "PartialAdmission"
ELASTIC = "ElasticJobsViaWorkloadSlices"
QUOTA_CHECK = "QuotaCheckStrategy"
SELECTOR_RESPECTED = "ManagedJobsNamespaceSelectorAlwaysRespected"


def is_on(cluster: Cluster, gate: str) -> bool:
    """Return whether a gate is on: as it is set, else by the release's default."""
    chosen = cluster.feature_gates.get(gate)
    release = cluster.policy.kueue
    return gate_table.is_on(gate, (release.major, release.minor)) if chosen is None else chosen
