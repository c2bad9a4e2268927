"""Built-in kinds that qcheck reads (Kubernetes 1.36), by (group, kind): served versions and description.

QC302 checks the value and policy of a PriorityClass. Kinds of operators are in `operators.py`, described only around their
pod templates.
"""

from __future__ import annotations

TYPES = {
    "JobSpec": """
parallelism int32
completions int32
activeDeadlineSeconds int64
backoffLimit int32
backoffLimitPerIndex int32
completionMode string
managedBy string
manualSelector bool
maxFailedIndexes int32
podFailurePolicy
  rules! [..]
    action! string
    onExitCodes
      containerName string
      operator! string
      values! [..] int32
    onPodConditions [..]
      type! string
      status string
podReplacementPolicy string
selector LabelSelector
successPolicy
  rules! [..]
    succeededCount int32
    succeededIndexes string
suspend bool
template? PodTemplate
ttlSecondsAfterFinished int32
scheduling any
""",
    "JobTemplate": """
metadata Metadata
spec JobSpec
""",
    "RollingUpdate": """
type string
rollingUpdate
  maxSurge int-or-string
  maxUnavailable int-or-string
  partition int32
""",
}
KINDS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("", "Namespace"): (("v1",), "spec any\nstatus any\n"),
    ("", "Pod"): (("v1",), "spec PodSpec\nstatus any\n"),
    ("", "LimitRange"): (
        ("v1",),
        """
spec
  limits! [..]
    type! string
    max {..} quantity
    min {..} quantity
    default {..} quantity
    defaultRequest {..} quantity
    maxLimitRequestRatio {..} quantity
""",
    ),
    ("", "ResourceQuota"): (
        ("v1",),
        """
status any
spec
  hard {..} quantity
  scopes [..] string
  scopeSelector
    matchExpressions [..]
      operator! string
      scopeName! string
      values [..] string
""",
    ),
    ("scheduling.k8s.io", "PriorityClass"): (
        ("v1",),
        """
value! int64
globalDefault bool
description string
preemptionPolicy string =PreemptLowerPriority
""",
    ),
    ("node.k8s.io", "RuntimeClass"): (
        ("v1",),
        """
handler! string
overhead
  podFixed {..} quantity
scheduling
  nodeSelector {..} string
  tolerations [..] Toleration
""",
    ),
    ("batch", "Job"): (("v1",), "spec JobSpec\nstatus any\n"),
    ("batch", "CronJob"): (
        ("v1",),
        """
status any
spec
  schedule! string
  jobTemplate! JobTemplate
  concurrencyPolicy string
  failedJobsHistoryLimit int32
  successfulJobsHistoryLimit int32
  startingDeadlineSeconds int64
  suspend bool
  timeZone string
""",
    ),
    ("apps", "Deployment"): (
        ("v1",),
        """
status any
spec
  replicas int32
  selector! LabelSelector
  template! PodTemplate
  strategy RollingUpdate
  minReadySeconds int32
  paused bool
  progressDeadlineSeconds int32
  revisionHistoryLimit int32
""",
    ),
    ("apps", "ReplicaSet"): (
        ("v1",),
        """
status any
spec
  replicas int32
  selector! LabelSelector
  template PodTemplate
  minReadySeconds int32
""",
    ),
    ("apps", "StatefulSet"): (
        ("v1",),
        """
status any
spec
  replicas int32
  selector! LabelSelector
  template! PodTemplate
  serviceName string
  updateStrategy RollingUpdate
  podManagementPolicy string
  minReadySeconds int32
  revisionHistoryLimit int32
  ordinals
    start int32
  persistentVolumeClaimRetentionPolicy
    whenDeleted string
    whenScaled string
  volumeClaimTemplates [..]
    apiVersion string
    kind string
    metadata Metadata
    spec ClaimSpec
    status any
""",
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        ("v1", "v2"),
        """
status any
spec! open
  scaleTargetRef! open
    kind! string
    name! string
  minReplicas int32
  maxReplicas! int32
""",
    ),
    ("apps", "DaemonSet"): (
        ("v1",),
        """
status any
spec
  selector! LabelSelector
  template! PodTemplate
  updateStrategy RollingUpdate
  minReadySeconds int32
  revisionHistoryLimit int32
""",
    ),
}
