"""Group `kueue.x-k8s.io`. Limits are those of release 0.19 unless a line differs (CRDs and changelogs of Kueue)."""

from __future__ import annotations

import re

RESOURCE_GROUPS = """
resourceGroups CQ-S01 [..16] CQ-S02
  coveredResources! CQ-S03 [1..64] <0.14:size:1..16 string
  flavors! CQ-S04 [1..64] <0.14:size:1..16 by:name CQ-S05
    name! dns
    resources! CQ-S06 [1..64] <0.14:size:1..16 by:name CQ-S07
      name! string
      nominalQuota! quantity
      borrowingLimit quantity
      lendingLimit quantity >=0.6
"""


def _nested(text: str) -> str:
    """Return `text`, indented one level further."""
    return "\n".join("  " + line for line in text.splitlines())


CLUSTER_QUEUE = f"""
status any
spec
{_nested(RESOURCE_GROUPS)}
  cohort CQ-S08 dns @v1beta1
  cohortName CQ-S08 dns @v1beta2
  queueingStrategy CQ-S09 StrictFIFO|BestEffortFIFO =BestEffortFIFO
  namespaceSelector LabelSelector
  flavorFungibility ={{}}
    whenCanBorrow @v1beta2 CQ-S10 MayStopSearch|TryNextFlavor =MayStopSearch
    whenCanPreempt @v1beta2 CQ-S10 MayStopSearch|TryNextFlavor =TryNextFlavor
    whenCanBorrow @v1beta1 >=0.15 CQ-S11 MayStopSearch|TryNextFlavor|Borrow =MayStopSearch
    whenCanBorrow @v1beta1 <0.15 CQ-S11 Borrow|TryNextFlavor =Borrow
    whenCanPreempt @v1beta1 >=0.15 CQ-S11 MayStopSearch|TryNextFlavor|Preempt =TryNextFlavor
    whenCanPreempt @v1beta1 <0.15 CQ-S11 Preempt|TryNextFlavor =TryNextFlavor
    preference CQ-S12 >=0.15 BorrowingOverPreemption|PreemptionOverBorrowing
  preemption ={{}}
    withinClusterQueue CQ-S13 Never|LowerPriority|LowerOrNewerEqualPriority =Never
    reclaimWithinCohort CQ-S14 Never|LowerPriority|Any =Never
    borrowWithinCohort CQ-S15 >=0.6 ={{}}
      policy Never|LowerPriority =Never
      maxPriorityThreshold int32
  admissionChecks @v1beta1 CQ-S19 [..] string len:..316
  admissionChecksStrategy >=0.7
    admissionChecks! @v1beta2 CQ-S16 [1..64] by:name CQ-S17
      name! string len:1..316
      onFlavors CQ-S18 [..64] set dns
    admissionChecks @v1beta1 [..] CQ-S17
      name! string len:..316
      onFlavors CQ-S18 [..] dns
  stopPolicy CQ-S20 >=0.6 None|Hold|HoldAndDrain =None
  fairSharing >=0.7
    weight CQ-S21 quantity =1
  admissionScope >=0.12
    admissionMode! @v1beta2 CQ-S22 UsageBasedAdmissionFairSharing|NoAdmissionFairSharing
    admissionMode! @v1beta1 CQ-S22 string
  concurrentAdmissionPolicy @v1beta2 >=0.18
    migration! CQ-S23
      mode! TryPreferredFlavors|RetainFirstAdmission len:..253
      constraints
        lastAcceptableFlavorName dns
"""

COHORT = f"""
status any
spec
  parentName CO-S01 dns @v1beta1,v1beta2
  parent CO-S01 dns @v1alpha1
{_nested(re.sub("CQ-S0[1-7]", "CO-S02", RESOURCE_GROUPS))}
  fairSharing >=0.11
    weight CO-S03 quantity =1
"""

RESOURCE_FLAVOR = """
spec
  nodeLabels RF-S01 {..8} string
  nodeTaints RF-S02 [..8]
    key! string
    value string
    effect! string
    timeAdded time
  tolerations RF-S03 [..8] Toleration
  topologyName RF-S04 dns >=0.9
"""

LOCAL_QUEUE = """
status any
spec
  clusterQueue LQ-S01 dns
  stopPolicy LQ-S02 >=0.6 None|Hold|HoldAndDrain =None
  fairSharing >=0.12
    weight LQ-S03 quantity =1
"""

ADMISSION_CHECK = """
status any
spec
  controllerName! AC-S01 string @v1beta2:len:1..253
  parameters AC-S02
    apiGroup! AC-S03 dns @v1beta2:len:1..253
    kind! AC-S04 kind-name @v1beta2:len:1..63
    name! AC-S05 dns-label @v1beta2:len:1..63
  retryDelayMinutes @v1beta1 int64 =15
"""

TOPOLOGY = """
spec
  levels! TO-S01 [1..16] <0.13:size:1..8 TO-S02
    nodeLabel! label-key len:1..316
"""

PROVISIONING_REQUEST_CONFIG = """
spec
  provisioningClassName! PRC-S01 dns @v1beta2:len:1..253
  parameters PRC-S02 {..100} string len:..255
  managedResources PRC-S03 [..100] set string
  retryStrategy PRC-S04 ={}
    backoffLimitCount int32 =3
    backoffBaseSeconds int32 =60
    backoffMaxSeconds int32 =1800
  podSetUpdates
    nodeSelector PRC-S05 [..8] @v1beta2:by:key
      key! label-key len:1..317
      valueFromProvisioningClassDetail! string len:1..32768
  podSetMergePolicy PRC-S06 IdenticalPodTemplates|IdenticalWorkloadSchedulingRequirements
"""

WORKLOAD_PRIORITY_CLASS = """
value! WPC-S01 int32
description WPC-S02 string @v1beta2:len:..2048
"""

MULTIKUEUE_CLUSTER = """
status any
spec
  clusterSource! @v1beta2 MKC-S01
    kubeConfig MKC-S02
      location! string len:1..256
      locationType Secret|Path =Secret
    clusterProfileRef MKC-S03
      name! string len:1..256
  kubeConfig! @v1alpha1,v1beta1 MKC-S04
    location! string
    locationType! Secret|Path =Secret
  clusterProfileRef @v1beta1 >=0.15 MKC-S03
    name! string len:1..256
"""

MULTIKUEUE_CONFIG = """
spec
  clusters! MKF-S01 @v1beta2 [1..20] string len:..256
  clusters! MKF-S01 @v1alpha1,v1beta1 [1..20] <0.16:size:1..10 set string
  quotaManagement MKF-S02 @v1beta2 >=0.18 Manual|Automated
"""

WORKLOAD = """
status any
spec
  podSets @v1beta1:required WL-S01 [1..18] <0.19:size:1..10 <0.18:size:1..8 by:name
    name WL-S02 dns-label =main
    template! PodTemplate
    count @v1beta1:required WL-S03 int32 min:0 =1
    minCount WL-S04 int32 min:1
    topologyRequest >=0.9 WL-S05
      required string @v1beta2:len:..63
      preferred string @v1beta2:len:..63
      unconstrained bool
      podIndexLabel string @v1beta2:len:..317
      subGroupIndexLabel string @v1beta2:len:..317
      subGroupCount int32 @v1beta2:min:0
      podSetGroupName string @v1beta2:len:..256
      podSetSliceRequiredTopology string @v1beta2:len:..63
      podSetSliceSize WL-S06 int32 min:1
      podsetSliceRequiredTopologyConstraints @v1beta2 >=0.17 WL-S06 [..3]
        topology! string len:1..63
        size! int32 min:1
  queueName dns
  active bool =true
  priority int32
  priorityClassName @v1beta1 dns
  priorityClassSource @v1beta1 kueue.x-k8s.io/workloadpriorityclass|scheduling.k8s.io/priorityclass|"" =""
  priorityClassRef @v1beta2
    group! kueue.x-k8s.io|scheduling.k8s.io
    kind! WorkloadPriorityClass|PriorityClass
    name! dns len:1..253
  maximumExecutionTimeSeconds int32 min:1
  preemptionGates @v1beta2 >=0.17 WL-S07 [..8] by:name
    name! string len:1..63
"""

KINDS = {
    "ClusterQueue": CLUSTER_QUEUE,
    "Cohort": COHORT,
    "ResourceFlavor": RESOURCE_FLAVOR,
    "LocalQueue": LOCAL_QUEUE,
    "AdmissionCheck": ADMISSION_CHECK,
    "Topology": TOPOLOGY,
    "ProvisioningRequestConfig": PROVISIONING_REQUEST_CONFIG,
    "WorkloadPriorityClass": WORKLOAD_PRIORITY_CLASS,
    "MultiKueueCluster": MULTIKUEUE_CLUSTER,
    "MultiKueueConfig": MULTIKUEUE_CONFIG,
    "Workload": WORKLOAD,
}
