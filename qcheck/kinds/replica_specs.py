"""Where the jobs of `kubeflow.org` hold their replicas: the field of the spec, and its types in the order in which Kueue
takes them."""

from __future__ import annotations

REPLICA_SPECS: dict[str, tuple[str, tuple[str, ...]]] = {
    "PyTorchJob": ("pytorchReplicaSpecs", ("Master", "Worker")),
    "TFJob": ("tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator")),
    "XGBoostJob": ("xgbReplicaSpecs", ("Master", "Worker")),
    "PaddleJob": ("paddleReplicaSpecs", ("Master", "Worker")),
    "JAXJob": ("jaxReplicaSpecs", ("Worker",)),
    "MPIJob": ("mpiReplicaSpecs", ("Launcher", "Worker")),
}
MPI_VERSION = "v2beta1"
"""The only version of MPIJob that Kueue knows."""
