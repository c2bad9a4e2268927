"""Labels and taints that providers add to the nodes of a pool by themselves.

Sources: the providers' pages on node labels and GPU node pools, cluster-autoscaler's cloud providers. All of them exist
before a node boots, in the templates from which autoscalers simulate nodes.
"""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.nodes import LabelOrigin
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.labels import Labels
    from qcheck.cluster.nodes import Machine

GKE = LabelOrigin("GKE", before_boot=True)
EKS = LabelOrigin("EKS", before_boot=True)
AKS = LabelOrigin("AKS", before_boot=True)
OCI = LabelOrigin("OCI", before_boot=True)
COREWEAVE = LabelOrigin("CoreWeave", before_boot=True)

GKE_ACCELERATORS = {
    ("K80", 12): "nvidia-tesla-k80", ("P4", 8): "nvidia-tesla-p4", ("P100", 16): "nvidia-tesla-p100",
    ("V100", 16): "nvidia-tesla-v100", ("T4", 16): "nvidia-tesla-t4", ("A100", 40): "nvidia-tesla-a100",
    ("A100", 80): "nvidia-a100-80gb", ("L4", 24): "nvidia-l4", ("H100", 80): "nvidia-h100-80gb",
    ("H200", 141): "nvidia-h200-141gb", ("B200", 180): "nvidia-b200", ("GB200", 186): "nvidia-gb200",
    ("GB300", 288): "nvidia-gb300", ("RTX PRO 6000", 96): "nvidia-rtx-pro-6000",
}  # fmt: skip
"""`cloud.google.com/gke-accelerator` by model and GiB of memory."""
MEGA = "nvidia-h100-mega-80gb"
GKE_TPUS = {
    "ct3": "tpu-v3-device", "ct4p": "tpu-v4-podslice", "ct5l": "tpu-v5-lite-device", "ct5lp": "tpu-v5-lite-podslice",
    "ct5p": "tpu-v5p-slice", "ct6e": "tpu-v6e-slice", "tpu7x": "tpu7x",
}  # fmt: skip
ARM_FAMILIES = ("t2a", "c4a", "a4x", "n4a")
TPU = "google.com/tpu"


class Provided(Value):
    """The labels and taints that one provider adds to a pool's nodes."""

    by: LabelOrigin
    labels: Labels
    taints: tuple[Taint, ...] = ()


class GkePool(Value):
    """The facts on which GKE's labels depend."""

    name: str
    machine_type: str | None
    accelerator: str | None = None
    spot: bool = False
    preemptible: bool = False
    flex_start: bool = False
    queued: bool = False
    partition: str | None = None
    sharing: str | None = None
    clients: int | None = None
    tpu_topology: str | None = None
    arm_taint: bool = True


def gke(pool: GkePool, machine: Machine | None) -> Provided:
    """Return GKE's labels and taints: pools with GPUs or TPUs get their taint, Arm pools that of the architecture."""
    family = (pool.machine_type or "").partition("-")[0]
    labels = {"cloud.google.com/gke-nodepool": pool.name}
    if family:
        labels["cloud.google.com/machine-family"] = family
    labels |= _gke_provisioning(pool)
    taints = []
    if pool.queued:
        labels["cloud.google.com/gke-queued"] = "true"
        taints.append(Taint("cloud.google.com/gke-queued", "true"))
    if pool.arm_taint and family in ARM_FAMILIES:
        taints.append(Taint("kubernetes.io/arch", "arm64"))
    for resource, found in (machine.allocatable if machine else {}).items():
        if found and resource == GPU:
            taints.append(Taint(GPU, "present"))
            labels |= _gke_gpu(pool, machine)
        elif found and resource == TPU:
            taints.append(Taint(TPU, "present"))
            labels |= _gke_tpu(pool, family, found)
    return Provided(GKE, labels, tuple(taints))


def _gke_provisioning(pool: GkePool) -> Labels:
    if pool.flex_start:
        return {"cloud.google.com/gke-provisioning": "flex-start", "cloud.google.com/gke-flex-start": "true"}
    if pool.spot:
        return {"cloud.google.com/gke-provisioning": "spot", "cloud.google.com/gke-spot": "true"}
    if pool.preemptible:
        return {"cloud.google.com/gke-provisioning": "preemptible", "cloud.google.com/gke-preemptible": "true"}
    return {"cloud.google.com/gke-provisioning": "standard"}


def _gke_gpu(pool: GkePool, machine: Machine | None) -> Labels:
    labels: Labels = {}
    if pool.accelerator:
        labels["cloud.google.com/gke-accelerator"] = pool.accelerator
    physical = (machine.physical or machine.allocatable).get(GPU) if machine else None
    if physical:
        labels["cloud.google.com/gke-accelerator-count"] = str(physical)
    if pool.partition:
        labels["cloud.google.com/gke-gpu-partition-size"] = pool.partition
    if pool.sharing and pool.clients:
        labels["cloud.google.com/gke-gpu-sharing-strategy"] = pool.sharing.lower().replace("_", "-")
        labels["cloud.google.com/gke-max-shared-clients-per-gpu"] = str(pool.clients)
    return labels


def _gke_tpu(pool: GkePool, family: str, chips: int) -> Labels:
    labels = {"cloud.google.com/gke-accelerator-count": str(chips)}
    if family in GKE_TPUS:
        labels["cloud.google.com/gke-tpu-accelerator"] = GKE_TPUS[family]
    if pool.tpu_topology:
        labels["cloud.google.com/gke-tpu-topology"] = pool.tpu_topology
    return labels


def eks(name: str, capacity_type: str) -> Provided:
    """Return those of a managed node group; `capacity_type` as in the API: ON_DEMAND, SPOT, CAPACITY_BLOCK."""
    return Provided(EKS, {"eks.amazonaws.com/nodegroup": name, "eks.amazonaws.com/capacityType": capacity_type})


def aks(name: str, mode: str, spot: bool, machine: Machine | None) -> Provided:
    """Return those of an agent pool: no taint for GPUs, one for spot nodes."""
    labels = {
        "kubernetes.azure.com/agentpool": name,
        "agentpool": name,
        "kubernetes.azure.com/mode": mode.lower(),
        "kubernetes.azure.com/priority": "spot" if spot else "regular",
    }
    if machine is not None and any(machine.allocatable.get(r) for r in (GPU, "amd.com/gpu")):
        vendor = "nvidia" if machine.allocatable.get(GPU) else "amd"
        labels |= {"accelerator": vendor, "kubernetes.azure.com/accelerator": vendor}
    if not spot:
        return Provided(AKS, labels)
    labels["kubernetes.azure.com/scalesetpriority"] = "spot"
    return Provided(AKS, labels, (Taint("kubernetes.azure.com/scalesetpriority", "spot"),))


def oci(name: str, machine: Machine | None) -> Provided:
    """Return those of an OCI pool: GPU shapes get a label and a taint with an empty value."""
    labels = {"name": name}
    taints = []
    for resource in (GPU, "amd.com/gpu"):
        if machine is not None and machine.allocatable.get(resource):
            labels[resource] = "true"
            taints.append(Taint(resource))
    return Provided(OCI, labels, tuple(taints))


def coreweave(name: str, machine: Machine | None) -> Provided:
    labels = {"compute.coreweave.com/node-pool": name}
    gpus = machine.allocatable.get(GPU) if machine else None
    if gpus:
        labels["gpu.nvidia.com/count"] = str(gpus)
    return Provided(COREWEAVE, labels)
