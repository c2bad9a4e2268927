"""Groups `scheduling`, `batch`, `topology` and `flow.volcano.sh`: Volcano's CRDs, by its releases 1.7 to 1.15."""

from __future__ import annotations

EVENTS = (
    "*|PodPending|PodRunning|PodFailed|PodEvicted|Unknown|TaskCompleted|OutOfSync|CommandIssued|JobUpdated|TaskFailed"
)

QUEUE = """
status any
spec
  weight VQ-S01 int32 >=1.12:min:1 >=1.12:max:65535 =1
  capability VQ-S02 {..} quantity
  deserved VQ-S02 >=1.9 {..} quantity
  guarantee
    resource VQ-S02 {..} quantity
  reclaimable bool
  parent VQ-S03 >=1.9 dns
  priority VQ-S04 >=1.10 int32 >=1.14:min:0
  affinity >=1.7
    nodeGroupAffinity VQ-S05
      requiredDuringSchedulingIgnoredDuringExecution [..] string
      preferredDuringSchedulingIgnoredDuringExecution [..] string
    nodeGroupAntiAffinity VQ-S05
      requiredDuringSchedulingIgnoredDuringExecution [..] string
      preferredDuringSchedulingIgnoredDuringExecution [..] string
  type >=1.7 string len:..253
  dequeueStrategy VQ-S06 >=1.14 fifo|traverse =traverse
  extendClusters [..]
    name string
    weight int32
    capacity {..} quantity
"""


def _network_topology(depth: int) -> str:
    lines = (
        "networkTopology VJ-S07",
        "  mode hard|soft =hard",
        "  highestTierAllowed int64 >=1.14:min:0",
        "  highestTierName >=1.14 string len:..253",
    )
    return "\n".join("  " * depth + line for line in lines)


POD_GROUP = f"""
status any
spec
  minMember VP-S01 int32 >=1.14:min:0
  minTaskMember {{..}} int32
  queue VP-S02 dns =default
  priorityClassName string len:..253
  minResources VP-S03 {{..}} quantity
{_network_topology(1)}
  subGroupPolicy VP-S04 >=1.14 [..]
    name string len:..253
{_network_topology(2)}
    subGroupSize int32 min:1 =1
    minSubGroups int32 min:0 =0
    labelSelector LabelSelector
    matchLabelKeys [..] string
"""

TYPES = {
    "VolcanoPolicies": f"""
action string
event VJ-S04 >=1.11 {EVENTS}
event <1.11 string
events VJ-S04 >=1.11 [..] {EVENTS}
events <1.11 [..] string
exitCode int32
timeout VJ-S08 go-duration
""",
    "VolcanoJob": f"""
schedulerName string len:..63
minAvailable VJ-S01 int32 >=1.14:min:0
minSuccess VJ-S01 int32 min:1
queue VJ-S02 dns =default
maxRetry int32 >=1.14:min:0 =3
priorityClassName dns
runningEstimate VJ-S08 go-duration
ttlSecondsAfterFinished int32 >=1.14:min:0
plugins VJ-S05 {{..}} [..] string
policies [..] VolcanoPolicies
volumes VJ-S06 [..]
  mountPath! string len:1..
  volumeClaimName string len:..253
  volumeClaim any
{_network_topology(0)}
tasks VJ-S03 [..] >=1.14:size:1..
  name dns-label
  replicas int32 >=1.14:min:0
  minAvailable int32 >=1.14:min:0
  maxRetry int32 >=1.14:min:0
  template PodTemplate
  policies [..] VolcanoPolicies
  topologyPolicy >=1.11 none|best-effort|restricted|single-numa-node
  topologyPolicy <1.11 string
  dependsOn
    name [..] string
    iteration string
  partitionPolicy >=1.14
    totalPartitions! int32 min:1
    partitionSize! int32 min:1
    minPartitions int32 min:0 =0
{_network_topology(2)}
""",
}

CRON_JOB = """
status any
spec!
  schedule! VC-S01 string
  timeZone string
  startingDeadlineSeconds int64 min:0
  concurrencyPolicy Allow|Forbid|Replace =Allow
  suspend bool
  successfulJobsHistoryLimit int32 min:0 =3
  failedJobsHistoryLimit int32 min:0 =1
  jobTemplate!
    metadata any
    spec VolcanoJob
"""

HYPER_NODE = """
status any
spec
  tier! VH-S01 int64 >=1.14:min:0
  tierName >=1.14 string len:..253
  members VH-S02 [..] >=1.14:size:1..
    type! Node|HyperNode
    selector
      exactMatch
        name string len:1..253
      regexMatch
        pattern string len:1..
      labelMatch LabelSelector
"""

JOB_FLOW = """
status any
spec
  jobRetainPolicy VF-S01 retain|delete
  flows VF-S01 [..]
    name! string len:1..
    patch any
    dependsOn
      targets [..] string
      probe any
"""

KINDS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("scheduling.volcano.sh", "Queue"): (("v1beta1",), QUEUE),
    ("scheduling.volcano.sh", "PodGroup"): (("v1beta1",), POD_GROUP),
    ("batch.volcano.sh", "Job"): (("v1alpha1",), "status any\nspec VolcanoJob\n"),
    ("batch.volcano.sh", "CronJob"): (("v1alpha1",), CRON_JOB),
    ("topology.volcano.sh", "HyperNode"): (("v1alpha1",), HYPER_NODE),
    ("flow.volcano.sh", "JobFlow"): (("v1alpha1",), JOB_FLOW),
    ("flow.volcano.sh", "JobTemplate"): (("v1alpha1",), "status any\nspec VolcanoJob\n"),
}
