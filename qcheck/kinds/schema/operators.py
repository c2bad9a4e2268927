"""Kinds of job operators, described only where they hold pod templates and counts: their CRDs are not ours."""

from __future__ import annotations

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


def _kubeflow(field: str) -> str:
    return f"status any\nspec open\n  {field} {{..}} Replica\n"


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
    ("kubeflow.org", "PyTorchJob"): (("v1",), _kubeflow("pytorchReplicaSpecs")),
    ("kubeflow.org", "TFJob"): (("v1",), _kubeflow("tfReplicaSpecs")),
    ("kubeflow.org", "XGBoostJob"): (("v1",), _kubeflow("xgbReplicaSpecs")),
    ("kubeflow.org", "PaddleJob"): (("v1",), _kubeflow("paddleReplicaSpecs")),
    ("kubeflow.org", "JAXJob"): (("v1",), _kubeflow("jaxReplicaSpecs")),
    ("kubeflow.org", "MPIJob"): (("v2beta1",), _kubeflow("mpiReplicaSpecs")),
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
