"""Kinds of job operators, described only around their pod templates and counts: their CRDs are not ours."""

from __future__ import annotations

from qcheck.kinds.pod_sets import REPLICA_SPECS

TYPES = {
    "RayCluster": """
headGroupSpec open
  rayStartParams {..} string
  template! PodTemplate
workerGroupSpecs [..] open
  groupName string
  rayStartParams {..} string
  replicas int32
  minReplicas int32
  maxReplicas int32
  numOfHosts int32
  template! PodTemplate
enableInTreeAutoscaling bool
open
""",
    "SparkPod": """
cores int32 min:1
coreRequest string
coreLimit string
memory string
memoryOverhead string
instances int32 min:1
gpu
  name! string
  quantity! int64
open
""",
    "SparkApplication": "driver! SparkPod\nexecutor! SparkPod\nopen\n",
    "RunPolicy": """
ttlSecondsAfterFinished int32
activeDeadlineSeconds int64
backoffLimit int32
suspend bool
schedulingPolicy
  minAvailable int32
  queue string
  priorityClass string
  scheduleTimeoutSeconds int32
  open
open
""",
    "Replica": """
replicas int32
template PodTemplate
open
""",
}


ELASTIC_POLICY = """  elasticPolicy open
    minReplicas int32
    maxReplicas int32
    maxRestarts int32
"""


def _kubeflow(kind: str) -> tuple[tuple[str, ...], str]:
    version = "v2beta1" if kind == "MPIJob" else "v1"
    own = {"MPIJob": "  slotsPerWorker int32\n", "PyTorchJob": ELASTIC_POLICY}.get(kind, "")
    return (version,), f"status any\nspec open\n  runPolicy RunPolicy\n  {REPLICA_SPECS[kind][0]} {{..}} Replica\n{own}"


KINDS: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {
    ("jobset.x-k8s.io", "JobSet"): (
        ("v1alpha2",),
        """
status any
spec open
  replicatedJobs [..] by:name open
    name! string
    replicas int32
    template! JobTemplate
""",
    ),
    ("ray.io", "RayCluster"): (("v1",), "status any\nspec RayCluster\n"),
    ("ray.io", "RayJob"): (("v1",), "status any\nspec open\n  rayClusterSpec RayCluster\n"),
    ("ray.io", "RayService"): (("v1",), "status any\nspec open\n  rayClusterConfig RayCluster\n"),
    ("sparkoperator.k8s.io", "SparkApplication"): (("v1beta2",), "status any\nspec SparkApplication\n"),
    ("sparkoperator.k8s.io", "ScheduledSparkApplication"): (
        ("v1beta2",),
        "status any\nspec open\n  template SparkApplication\n",
    ),
    ("trainer.kubeflow.org", "TrainJob"): (
        ("v1alpha1",),
        "status any\nspec open\n  trainer open\n    numNodes int32\n    resourcesPerNode Resources\n",
    ),
    **{("kubeflow.org", kind): _kubeflow(kind) for kind in REPLICA_SPECS},
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("v1",),
        """
status any
spec open
  replicas int32
  leaderWorkerTemplate! open
    size int32
    leaderTemplate PodTemplate
    workerTemplate! PodTemplate
""",
    ),
}
