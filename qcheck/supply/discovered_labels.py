"""Labels that only running nodes have."""

from __future__ import annotations

DISCOVERED_LABELS = (
    "nvidia.com/", "amd.com/", "beta.amd.com/", "gpu.intel.com/", "gpu.nvidia.com/", "feature.node.kubernetes.io/",
    "node.coreweave.cloud/", "backend.coreweave.cloud/", "ib.coreweave.cloud/", "ds.coreweave.com/",
    "oci.oraclecloud.com/", "topology.k8s.aws/", "cloud.google.com/gce-topology", "network.topology.nvidia.com/",
    "fabric.topograph.run/", "accelerator.topograph.run/", "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/",
    "sagemaker.amazonaws.com/", "karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-", "karpenter.azure.com/sku-",
    "karpenter.k8s.gcp/instance-",
)  # fmt: skip
"""Prefixes of labels that agents, autoscalers and clouds add to nodes, with values that no pool definition contains."""


def is_discovered(key: str) -> bool:
    return key.startswith(DISCOVERED_LABELS)
