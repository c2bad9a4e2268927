"""Labels that nodes get without a declaration: from the kubelet, the provider, and GPU Feature Discovery.

Each states whether it exists before a node boots, because an autoscaler that starts from zero sees only such labels.
"""

from __future__ import annotations

from qcheck.cluster.nodes import LabelOrigin
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.cluster.labels import Labels
    from qcheck.cluster.nodes import Machine

KUBELET = LabelOrigin("kubelet", before_boot=True)
GFD = LabelOrigin("GPU Feature Discovery", before_boot=False)
HOSTNAME = "kubernetes.io/hostname"
UNSEEN: dict[str, tuple[str, ...]] = {HOSTNAME: (), "kubernetes.io/arch": (), "beta.kubernetes.io/arch": ()}
"""Labels of every node, with values that a pool need not declare."""

PRODUCTS = {
    "T4": "Tesla-T4", "A10": "NVIDIA-A10", "A10G": "NVIDIA-A10G", "L4": "NVIDIA-L4", "L40S": "NVIDIA-L40S",
    "A100 PCIe": "NVIDIA-A100-80GB-PCIe", "H100": "NVIDIA-H100-80GB-HBM3", "H100 PCIe": "NVIDIA-H100-PCIe",
    "H100 NVL": "NVIDIA-H100-NVL", "H200": "NVIDIA-H200", "GH200": "NVIDIA-GH200-480GB", "B200": "NVIDIA-B200",
    "B300": "NVIDIA-B300-SXM6-AC", "GB200": "NVIDIA-GB200", "RTX A6000": "NVIDIA-RTX-A6000",
}  # fmt: skip
"""`nvidia.com/gpu.product` by model, for values seen on real nodes or in NVIDIA's sources."""


def machine_labels(machine: Machine) -> Labels:
    """Return the labels that the kubelet and the provider derive from the machine; equal on every node of the type."""
    labels = {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux"}
    if machine.instance_type:
        from qcheck.nodepools.machine_families import architecture  # 0.3 ms

        arch = architecture(machine.instance_type, machine.model)
        labels |= {"kubernetes.io/arch": arch, "beta.kubernetes.io/arch": arch}
        labels["node.kubernetes.io/instance-type"] = machine.instance_type
        labels["beta.kubernetes.io/instance-type"] = machine.instance_type
    return labels


def discovered_labels(machine: Machine) -> Labels:
    """Return the labels that GPU Feature Discovery adds once it runs on a node; only values that are certain.

    The product of shared GPUs has a suffix that depends on the kind of sharing.
    """
    count = (machine.physical or machine.allocatable).get("nvidia.com/gpu", 0)
    if not count:
        return {}
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": str(count)}
    if machine.model in PRODUCTS and machine.physical is None:
        labels["nvidia.com/gpu.product"] = PRODUCTS[machine.model]
    return labels


def added(machine: Machine) -> tuple[Labels, dict[str, LabelOrigin]]:
    """Return all labels and their origins."""
    early, late = machine_labels(machine), discovered_labels(machine)
    return {**early, **late}, {**dict.fromkeys(early, KUBELET), **dict.fromkeys(late, GFD)}
