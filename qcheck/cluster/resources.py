"""Resource names: accelerators, fabric devices and others."""

from __future__ import annotations

from functools import lru_cache

GPU = "nvidia.com/gpu"
BASIC = frozenset({"cpu", "memory", "ephemeral-storage", "storage", "pods"})

_ACCELERATORS = frozenset(
    {
        "nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu", "google.com/tpu", "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore", "aws.amazon.com/neurondevice", "habana.ai/gaudi", "qualcomm.com/qaic",
        "huawei.com/Ascend910", "cloud-tpus.google.com/v2", "cloud-tpus.google.com/v3",
    }
)  # fmt: skip
_ACCELERATOR_PREFIXES = (
    "nvidia.com/mig-", "amd.com/", "gpu.intel.com/", "habana.ai/", "huawei.com/Ascend", "metax-tech.com/gpu",
    "cambricon.com/mlu", "enflame.com/gcu", "furiosa.ai/", "rebellions.ai/", "hygon.com/dcu", "mthreads.com/gpu",
)  # fmt: skip
_FABRIC = frozenset({"vpc.amazonaws.com/efa", "nvidia.com/rdma-vf"})
_FABRIC_PREFIXES = ("rdma/", "nvidia.com/sriov", "networking.gke.io.networks/", "openshift.io/sriov")


def is_fabric(resource: str) -> bool:
    """Return whether it is a network device that a device plugin advertises beside accelerators."""
    return resource in _FABRIC or resource.startswith(_FABRIC_PREFIXES)


@lru_cache(maxsize=1024)
def is_accelerator(resource: str) -> bool:
    """Return whether a device plugin advertises the resource (RULES: "accelerator"), fabric devices included."""
    return resource in _ACCELERATORS or resource.startswith(_ACCELERATOR_PREFIXES) or is_fabric(resource)


@lru_cache(maxsize=1024)
def is_compute(resource: str) -> bool:
    """Return whether it is an accelerator that computes, a GPU in common terms; fabric devices are not."""
    return is_accelerator(resource) and not is_fabric(resource)


def is_whole_device(resource: str) -> bool:
    """Return whether pods may request several of this accelerator; they request only one MIG instance or share."""
    return is_compute(resource) and not resource.startswith("nvidia.com/mig-") and not resource.endswith(".shared")


def looks_like_accelerator(resource: str) -> bool:
    """Return whether it looks like an accelerator, even if misspelled: it has a device family's domain and name."""
    if is_accelerator(resource):
        return True
    domain, slash, name = resource.partition("/")
    known = ("nvidia", "amd", "intel", "habana", "aws.amazon", "google", "qualcomm")
    words = ("gpu", "mig-", "tpu", "neuron", "gaudi", "npu", "dcu", "xpu")
    return bool(slash) and any(k in domain for k in known) and any(w in name.lower() for w in words)
