"""Groups `scheduling.run.ai` and `kai.scheduler`: KAI Scheduler's CRDs, by its releases 0.4 to 0.17."""

from __future__ import annotations

_MIN_RUNTIMES = """
  preemptMinRuntime string
  reclaimMinRuntime string
"""

_TOPOLOGY_CONSTRAINT = """
topology string
requiredTopologyLevel string
preferredTopologyLevel string
"""


def _nested(text: str, levels: int) -> str:
    return "\n".join("  " * levels + line for line in text.splitlines())


QUEUE = """
status any
spec
  displayName string
  parentQueue string
  priority KQ-S01 int64
  preemptMinRuntime >=0.6 string
  reclaimMinRuntime >=0.6 string
  resources
    cpu
      quota KQ-S02 number
      overQuotaWeight KQ-S02 number
      limit KQ-S02 number
    memory
      quota KQ-S02 number
      overQuotaWeight KQ-S02 number
      limit KQ-S02 number
    gpu
      quota KQ-S02 number
      overQuotaWeight KQ-S02 number
      limit KQ-S02 number
"""

POD_GROUP = f"""
status any
spec
  queue string
  minMember KP-S01 int32 min:0 <0.17:min:1
  minSubGroup KP-S01 >=0.15 int32 min:0 <0.17:min:1
  priorityClassName string
  preemptibility KP-S02 >=0.10 preemptible|non-preemptible
  preemptionDelay >=0.17 string
  stalenessGracePeriod >=0.17 string
  markUnschedulable bool
  schedulingBackoff int32
  backoffLimit <0.15 int32
  completions <0.15 int32
  parallelism <0.15 int32
  topologyConstraint >=0.8
{_nested(_TOPOLOGY_CONSTRAINT, 2)}
  subGroups >=0.8 [..]
    name! KP-S03 string len:1..
    minMember KP-S01 int32 min:0
    minSubGroup KP-S01 >=0.15 int32 min:0
    parent >=0.10 string
    topologyConstraint >=0.10
{_nested(_TOPOLOGY_CONSTRAINT, 3)}
"""

SCHEDULING_SHARD = f"""
status any
spec
  args {{..}} string
  partitionLabelValue string
  placementStrategy
    cpu string
    gpu string
  queueDepthPerAction {{..}} int64
  minRuntime
{_nested(_MIN_RUNTIMES, 1)}
  kValue KS-S01 >=0.10 number
  usageDBConfig KS-S02 >=0.10
    clientType! string
    connectionString string
    connectionStringEnvVar string
    usageParams
      halfLifePeriod string
      windowSize string
      windowType string
      tumblingWindowStartTime >=0.12 time
      tumblingWindowCronString <0.12 string
      cronString >=0.12 string
      fetchInterval string
      stalenessPeriod string
      waitTimeout string
      extraParams {{..}} string
  plugins KS-S03 >=0.13 {{..}}
    enabled bool
    priority int64
    arguments {{..}} string
  actions KS-S03 >=0.13 {{..}}
    enabled bool
    priority int64
  scenarioSearchBudgets >=0.16
    maxActionSearchDuration {{..}} string
    maxJobSearchDuration string
    minJobSearchDuration string
    maxGeneratorSearchDuration {{..}} string
  goMemLimitRatio >=0.17 number
  goMemLimit >=0.17 quantity
"""

TOPOLOGY = """
status any
spec! KT-S01
  levels! KT-S01 [1..16]
    nodeLabel! label-key len:1..316
    alias >=0.17 label-key len:1..316
"""

CONFIG = """
status any
spec open
  namespace string
  global open
    schedulerName string
    queueLabelKey string
    nodePoolLabelKey string
  admission open
    gpuSharing KC-S01 bool
  prometheus open
    enabled bool
    externalPrometheusUrl string
"""

KINDS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("scheduling.run.ai", "Queue"): (("v2",), QUEUE),
    ("scheduling.run.ai", "PodGroup"): (("v2alpha2",), POD_GROUP),
    ("kai.scheduler", "SchedulingShard"): (("v1",), SCHEDULING_SHARD),
    ("kai.scheduler", "Topology"): (("v1alpha1",), TOPOLOGY),
    ("kai.scheduler", "Config"): (("v1",), CONFIG),
}
