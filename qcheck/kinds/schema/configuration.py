"""Group `config.kueue.x-k8s.io`: the manager's configuration, which it reads strictly at its start (apis/config)."""

from __future__ import annotations

TYPES = {
    "Transformation": """
input! string
strategy CFG-V09 Retain|Replace =Retain
multiplyBy >=0.16 string
outputs {..} quantity
""",
    "DeviceClassMapping": """
name! string
deviceClassNames! [..] string
sources @v1beta2 >=0.19 [..]
  counter DeviceSource
  capacity DeviceSource
""",
    "DeviceSource": """
name string
driver string
deviceSelector any
""",
    "AccessProvider": """
name string
execConfig any
""",
    "Selector": """
matchLabels {..} string
matchExpressions [..] Requirement
""",
}

CONFIGURATION = """
namespace string
webhook
  port int64
  host string
  certDir string
leaderElection
  leaderElect bool
  leaseDuration duration
  renewDeadline duration
  retryPeriod duration
  resourceLock string
  resourceName string
  resourceNamespace string
metrics
  bindAddress string
  enableClusterQueueResources bool
  customLabels >=0.17 [..]
    name! string
    sourceLabelKey string
    sourceAnnotationKey string
    sourceKind CFG-V11 Cohort|LocalQueue|ClusterQueue|Workload =ClusterQueue
    trackedValues [..] string
  localQueueMetrics
    enable bool
    localQueueSelector Selector
health
  healthProbeBindAddress string
  readinessEndpointName string
  livenessEndpointName string
pprofBindAddress string
controller
  groupKindConcurrency {..} int64
  cacheSyncTimeout int64
tls >=0.16
  minVersion string
  cipherSuites [..] string
  curvePreferences [..] int32
visibilityServer >=0.17
  bindAddress string
  bindPort int32
manageJobsWithoutQueueName bool =false
managedJobsNamespaceSelector Selector
internalCertManagement
  enable bool
  webhookServiceName string
  webhookSecretName string
waitForPodsReady CFG-V01
  enable @v1beta1 bool
  timeout duration
  blockAdmission bool
  recoveryTimeout duration
  requeuingStrategy
    timestamp Eviction|Creation =Eviction
    backoffLimitCount int32
    backoffBaseSeconds int32 =60
    backoffMaxSeconds int32 =3600
clientConnection
  qps number
  burst int32
integrations
  frameworks CFG-V02 [..] string
  externalFrameworks CFG-V03 [..] string
  labelKeysToCopy [..] string
  podOptions @v1beta1
    namespaceSelector Selector
    podSelector Selector
queueVisibility @v1beta1
  clusterQueues
    maxCount int32
  updateIntervalSeconds int32
multiKueue CFG-V06
  gcInterval duration
  origin string
  workerLostTimeout duration
  dispatcherName >=0.13 string
  externalFrameworks >=0.14 [..]
    name! string
  incrementalDispatcherConfig >=0.18
    stepSize int32
  clusterProfile >=0.15
    accessProviders [..] AccessProvider
    credentialsProviders [..] AccessProvider
fairSharing CFG-V07
  enable @v1beta1 bool
  preemptionStrategies @v1beta2:required [..] LessThanOrEqualToFinalShare|LessThanInitialShare
admissionFairSharing >=0.12 CFG-V08
  usageHalfLifeTime duration
  usageSamplingInterval duration
  resourceWeights {..} number
resources
  excludeResourcePrefixes [..] string
  transformations CFG-V09 [..] Transformation
  deviceClassMappings >=0.14 CFG-V10 [..] DeviceClassMapping
  quotaCheckStrategy @v1beta2 >=0.18 CFG-V13 BlockUndeclared|IgnoreUndeclared
objectRetentionPolicies CFG-V12
  workloads
    afterFinished duration
    afterDeactivatedByKueue duration
featureGates CFG-V14 {..} bool
"""
