"""System reservations of providers, by their documented formulas. All results are estimates.

Sources: the node bootstrap of Amazon's EKS images, GKE's page on node sizes, AKS's page on resource reservations.
"""

from __future__ import annotations

import re

from qcheck.cluster.quantity import QuantityError, amount, parse_quantity
from qcheck.cluster.value import Value

MIB = 2**20
GIB = 2**30
DEFAULT_PODS = 110
PERCENT = r"(\d{1,2})%"


class SystemReserved(Value):
    """The part of a machine that pods do not get: milli-cpu, and bytes reserved, kept free for eviction, and hidden."""

    milli_cpu: int
    memory: int
    eviction: int = 100 * MIB
    hidden: int = 0


class Kubelet(Value):
    """Kubelet settings of a definition, in base units; omitted ones follow the provider's formula.

    `eviction` is the free memory below which pods are evicted: a quantity, or a share of the memory.
    """

    max_pods: int | None = None
    pods_per_core: int | None = None
    kube_reserved: dict[str, int] = {}
    system_reserved: dict[str, int] = {}
    eviction: str | None = None
    pods_unknown: bool = False

    def pods(self, vcpu: int | None, usual: int) -> int:
        """Return the pods per node; `usual` if no number is declared."""
        most = usual if self.max_pods is None else self.max_pods
        return min(most, self.pods_per_core * vcpu) if self.pods_per_core and vcpu else most


UNTOUCHED = Kubelet()


def left_for_pods(
    provider: str, vcpu: int, memory: int, pods: int = DEFAULT_PODS, kubelet: Kubelet = UNTOUCHED
) -> tuple[int, int]:
    """Return allocatable milli-cpu and bytes of a machine with `vcpu` cores and `memory` bytes."""
    keep = {"aws": _eks, "sagemaker-hyperpod": _eks, "gcp": _gke, "azure": _aks}.get(provider)
    kept = SystemReserved(0, 0, 0) if keep is None else keep(vcpu, memory, pods)
    milli_cpu = kubelet.kube_reserved.get("cpu", kept.milli_cpu) + kubelet.system_reserved.get("cpu", 0)
    bytes_kept = kubelet.kube_reserved.get("memory", kept.memory) + kubelet.system_reserved.get("memory", 0)
    shown = memory - kept.hidden
    bytes_kept += kept.eviction if kubelet.eviction is None else _threshold(kubelet.eviction, shown, kept.eviction)
    return max(0, vcpu * 1000 - max(0, milli_cpu)), max(0, shown - max(0, bytes_kept))


def _threshold(written: str, memory: int, usual: int) -> int:
    """Return an eviction threshold in bytes: `5%` of the node's memory, rounded up, or a quantity."""
    share = re.fullmatch(PERCENT, written)
    if share:
        return -(-memory * int(share[1]) // 100)
    try:
        return max(0, amount("memory", parse_quantity(written)))
    except QuantityError:
        return usual


def _cpu_brackets(vcpu: int) -> int:
    """Return 60 milli-cpu for the first core, 10 for the second, 5 for the third and fourth, 2.5 for each other."""
    ladder = [60, 10, 5, 5]
    return sum(ladder[: min(vcpu, 4)]) + -(-max(0, vcpu - 4) * 5 // 2)


def _memory_brackets(memory: int) -> int:
    """Return 25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % up to 128 GiB, 2 % beyond."""
    if memory < GIB:
        return 255 * MIB
    kept, left = 0, memory
    for size, percent in ((4 * GIB, 25), (4 * GIB, 20), (8 * GIB, 10), (112 * GIB, 6)):
        kept += min(left, size) * percent // 100
        left = max(0, left - size)
    return kept + left * 2 // 100


def _eks(vcpu: int, memory: int, pods: int) -> SystemReserved:
    """Return reserves by cores and pods, 100 MiB for eviction, and 7.5 % for the hypervisor, as Karpenter assumes."""
    return SystemReserved(_cpu_brackets(vcpu), (255 + 11 * pods) * MIB, hidden=memory * 75 // 1000)


def _gke(vcpu: int, memory: int, pods: int) -> SystemReserved:  # noqa: ARG001 (one signature for all providers)
    """Return the brackets, 100 MiB for eviction, and the kernel's own memory (1/64 and some tables)."""
    return SystemReserved(_cpu_brackets(vcpu), _memory_brackets(memory), hidden=memory // 64 + 80 * MIB)


def _aks(vcpu: int, memory: int, pods: int) -> SystemReserved:
    """Return the reserves of 1.29 and later: 20 MB per pod plus 50 MB, at most a quarter, and 100 MiB for eviction."""
    steps = ((64, 740), (32, 420), (16, 260), (8, 180), (4, 140), (2, 100), (1, 60))
    milli_cpu = next((m for cores, m in steps if vcpu >= cores), 0)
    return SystemReserved(milli_cpu, min(20 * 10**6 * pods + 50 * 10**6, memory // 4))
