"""Kinds of job operators, described only around their pod templates and counts: their CRDs are not ours."""

from __future__ import annotations

from qcheck.kinds.pod_sets import REPLICA_SPECS

TYPES = {
    "RayCluster": """
headGroupSpec open
  template! PodTemplate
workerGroupSpecs [..] open
  groupName string
  replicas int32
  minReplicas int32
  maxReplicas int32
  numOfHosts int32
  template! PodTemplate
enableInTreeAutoscaling bool
open
""",
    "Replica": """
replicas int32
template PodTemplate
open
""",
}


def _kubeflow(kind: str) -> tuple[tuple[str, ...], str]:
    version = "v2beta1" if kind == "MPIJob" else "v1"
    return (version,), f"status any\nspec open\n  {REPLICA_SPECS[kind][0]} {{..}} Replica\n"


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
