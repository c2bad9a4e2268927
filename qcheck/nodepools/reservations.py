"""What providers keep of a machine for the system, by their documented formulas. All results are estimates.

Sources: the node bootstrap of Amazon's EKS images, GKE's page on node sizes, AKS's page on resource reservations.
"""

from __future__ import annotations

MIB = 2**20
GIB = 2**30
DEFAULT_PODS = 110


def left_for_pods(provider: str, vcpu: int, memory: int, pods: int = DEFAULT_PODS) -> tuple[int, int]:
    """Allocatable milli-cpu and bytes of a machine with `vcpu` cores and `memory` bytes."""
    keep = {"aws": _eks, "sagemaker-hyperpod": _eks, "gcp": _gke, "azure": _aks}.get(provider)
    if keep is None:
        return vcpu * 1000, memory
    milli_cpu, kept = keep(vcpu, memory, pods)
    return max(0, vcpu * 1000 - milli_cpu), max(0, memory - kept)


def _cpu_brackets(vcpu: int) -> int:
    """60 milli-cpu of the first core, 10 of the second, 5 of the third and fourth each, 2.5 of each further one."""
    ladder = [60, 10, 5, 5]
    return sum(ladder[: min(vcpu, 4)]) + -(-max(0, vcpu - 4) * 5 // 2)


def _memory_brackets(memory: int) -> int:
    """A quarter of the first 4 GiB, a fifth of the next 4, a tenth of the next 8, 6 % up to 128 GiB, 2 % beyond."""
    if memory < GIB:
        return 255 * MIB
    kept, left = 0, memory
    for size, percent in ((4 * GIB, 25), (4 * GIB, 20), (8 * GIB, 10), (112 * GIB, 6)):
        kept += min(left, size) * percent // 100
        left = max(0, left - size)
    return kept + left * 2 // 100


def _eks(vcpu: int, memory: int, pods: int) -> tuple[int, int]:
    """Kube-reserved by cores and pods, 100 MiB for eviction, and the 7.5 % that Karpenter assumes the hypervisor hides."""
    return _cpu_brackets(vcpu), memory * 75 // 1000 + (255 + 11 * pods + 100) * MIB


def _gke(vcpu: int, memory: int, pods: int) -> tuple[int, int]:  # noqa: ARG001 (one signature for all providers)
    """The brackets, 100 MiB for eviction, and what the kernel takes (1/64 and some tables)."""
    return _cpu_brackets(vcpu), _memory_brackets(memory) + 100 * MIB + memory // 64 + 80 * MIB


def _aks(vcpu: int, memory: int, pods: int) -> tuple[int, int]:
    """From 1.29 on: 20 MB per pod and 50 MB, at most a quarter, and 100 MiB for eviction."""
    steps = ((64, 740), (32, 420), (16, 260), (8, 180), (4, 140), (2, 100), (1, 60))
    milli_cpu = next(m for cores, m in steps if vcpu >= cores)
    return milli_cpu, min(20 * 10**6 * pods + 50 * 10**6, memory // 4) + 100 * MIB
