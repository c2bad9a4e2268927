"""Kueue's feature gates and their default in each release (pkg/features of Kueue, site data on feature gates).

The codes: `0.18a` alpha and off, `0.18b` beta and on, `0.18-` beta and off, `0.17g` generally available and on, `0.19x`
removed.
"""

from __future__ import annotations

_TABLE = """
PartialAdmission 0.4a 0.5b
FlavorFungibility 0.5b
PrioritySortingWithinCohort 0.6b
LendingLimit 0.6a 0.9b 0.17g 0.19x
VisibilityOnDemand 0.6a 0.9b
MultiKueue 0.6a 0.9b
TopologyAwareScheduling 0.9a 0.14b
TASProfileMixed 0.10a 0.15b
TASProfileMostFreeCapacity 0.10a 0.13x
TASProfileLeastFreeCapacity 0.10a 0.17x
LocalQueueDefaulting 0.10a 0.12b 0.17g
LocalQueueMetrics 0.10a 0.17b
ConfigurableResourceTransformations 0.9a 0.10b 0.14g
HierarchicalCohorts 0.11b 0.17g 0.20x
AdmissionFairSharing 0.12a 0.15b
TASFailedNodeReplacement 0.12a 0.14b
TASFailedNodeReplacementFailFast 0.12a 0.14b
TASReplaceNodeOnPodTermination 0.13a 0.14b
ElasticJobsViaWorkloadSlices 0.13a 0.18b
ElasticJobsViaWorkloadSlicesWithTAS 0.17a
ManagedJobsNamespaceSelectorAlwaysRespected 0.13a 0.15b 0.19g
MultiKueueAdaptersForCustomJobs 0.14a 0.15b
ReclaimablePods 0.15b
TASBalancedPlacement 0.15a
MultiKueueClusterProfile 0.15a
FairSharingPreemptWithinNominal 0.17b
FairSharingPrioritizeNonBorrowing 0.17b
TASReplaceNodeOnNodeTaints 0.17b
AssignQueueLabelsForPods 0.17b
TASReplaceNodeDueToNotReadyOverFixedTime 0.17b 0.19-
TASMultiLayerTopology 0.17a 0.19b
SchedulingEquivalenceHashing 0.17- 0.18b
SparkApplicationIntegration 0.17a
PriorityBoost 0.17a
CustomMetricLabels 0.17a
ShortWorkloadNames 0.17a
MultiKueueOrchestratedPreemption 0.17a
AdmissionGatedBy 0.17a 0.19b
DynamicResourceAllocation 0.14a 0.19x
KueueDRAIntegration 0.18b
KueueDRAIntegrationExtendedResource 0.18a 0.19b
KueueDRAIntegrationPartitionableDevices 0.18a 0.19b
KueueDRAIntegrationConsumableCapacity 0.19a
KueueDRARejectWorkloadsWhenDRADisabled 0.18b
QuotaCheckStrategy 0.18a 0.19b
WorkloadPriorityClassDefaulting 0.18a 0.20b
ConcurrentAdmission 0.18a
RejectUpdatesToCQWithInvalidOnFlavors 0.18a
TASRespectNodeAffinityPreferred 0.18a
MultiKueueManagerQuotaAutomation 0.18a
TASHandleOverlappingFlavors 0.18b
WorkloadIdentifierAnnotations 0.18b
FinishOrphanedWorkloads 0.18b
ValidateRayAndSparkJobUpdates 0.18b
PodIntegrationValidateGroupOwner 0.18b
UnadmittedWorkloadsObservability 0.19b
UnadmittedWorkloadsExplicitStatus 0.19-
MultiKueueKubeConfigPathValidation 0.19a 0.20b
DisableWaitForPodsReady 0.19a
WorkloadValidateResourcesAreNonNegative 0.18b
WorkloadValidationForPodSetMetadata 0.18b
TASValidateWorkloadSliceSize 0.18b
LWSImmutableGroupSize 0.20b
FlavorFungibilityPreserveScanProgress 0.20b
MultiKueueRemoteSpecSync 0.20b
RecomputeAssignmentUponPreemptionTargetsOverlap 0.20b
TASCacheTopologyTree 0.20b
PrioritizePreemptorWorkloads 0.20a
CleanupProvisioningRequestsOnEviction 0.17b
DeferRayServiceFinalizationForRedisCleanup 0.19b
FailureRecoveryPolicy 0.15a
FastQuotaReleaseInPodIntegration 0.17a
MetricForWorkloadCreationLatency 0.18b
MetricsForCohorts 0.18b
MultiKueueIncrementalDispatcherConfig 0.19b
MultiKueueIncrementalDispatcherRespectConfigOrder 0.19b
RemoveFinalizersWithStrictPatch 0.17b
SchedulerLibraryIntegration 0.19a
SkipAncestorCheckForDeletedWorkloads 0.18b
SkipReassignmentForPodOwnedWorkloads 0.17b
TASAssignmentsEncodingByHostnamePrefix 0.19b
TASCacheNodeMatchResults 0.17b
TASCachingRemainingResources 0.17b
TASRecomputeAssignmentWithinSchedulingCycle 0.18b
TLSOptions 0.16b 0.20g
VectorizedResourceRequests 0.18b
WorkloadRequestUseMergePatch 0.14a
"""

Release = tuple[int, int]
_TOPOLOGY = "TopologyAwareScheduling"
NEEDS = {
    "TASFailedNodeReplacement": (_TOPOLOGY,),
    "TASFailedNodeReplacementFailFast": (_TOPOLOGY, "TASFailedNodeReplacement"),
    "TASReplaceNodeOnPodTermination": (_TOPOLOGY, "TASFailedNodeReplacement"),
    "TASReplaceNodeDueToNotReadyOverFixedTime": (_TOPOLOGY, "TASFailedNodeReplacement"),
    "TASBalancedPlacement": (_TOPOLOGY,),
    "TASReplaceNodeOnNodeTaints": (_TOPOLOGY,),
    "TASMultiLayerTopology": (_TOPOLOGY,),
    "TASRespectNodeAffinityPreferred": (_TOPOLOGY,),
    "TASHandleOverlappingFlavors": (_TOPOLOGY,),
    "TASProfileMixed": (_TOPOLOGY,),
    "TASRecomputeAssignmentWithinSchedulingCycle": (_TOPOLOGY,),
    "KueueDRAIntegrationExtendedResource": ("KueueDRAIntegration",),
    "KueueDRAIntegrationPartitionableDevices": ("KueueDRAIntegration",),
    "KueueDRAIntegrationConsumableCapacity": ("KueueDRAIntegration",),
    "ElasticJobsViaWorkloadSlicesWithTAS": ("ElasticJobsViaWorkloadSlices", _TOPOLOGY),
    "UnadmittedWorkloadsExplicitStatus": ("UnadmittedWorkloadsObservability",),
    "FlavorFungibilityPreserveScanProgress": ("FlavorFungibility",),
}
"""Gates that require other gates to be on."""
_OLDEST_NEEDS: dict[str, Release] = {"TASProfileMixed": (0, 15), "TASRecomputeAssignmentWithinSchedulingCycle": (0, 20)}
"""The first release that refuses to start if the gate is on by default and a required gate is off; 0.18 if absent."""

_gates: dict[str, list[tuple[Release, str]]] = {}


def gates() -> dict[str, list[tuple[Release, str]]]:
    """Return every gate with its stages, oldest first; a stage is a release and its letter in the table."""
    if not _gates:
        for line in _TABLE.split("\n")[1:-1]:
            name, *stages = line.split()
            _gates[name] = [(_release(stage[:-1]), stage[-1]) for stage in stages]
    return _gates


def stage(name: str, release: Release) -> str | None:
    """Return the stage of a gate in a release; None if the release does not have the gate."""
    current = None
    for since, letter in gates().get(name, ()):
        if since <= release:
            current = letter
    return None if current == "x" else current


def is_on(name: str, release: Release) -> bool:
    """Return whether a gate is on by default in a release."""
    return stage(name, release) in ("b", "g")


def needed_by(name: str) -> tuple[str, ...]:
    """Return the gates that must be on for this gate."""
    return NEEDS.get(name, ())


def dependents(name: str, release: Release) -> list[str]:
    """Return the gates that are on by default and keep Kueue from starting if only the gate `name` is turned off."""
    first = (0, 18)
    return [
        gate
        for gate, needed in NEEDS.items()
        if name in needed and is_on(gate, release) and _OLDEST_NEEDS.get(gate, first) <= release
    ]


def _release(text: str) -> Release:
    major, _, minor = text.partition(".")
    return int(major), int(minor)
