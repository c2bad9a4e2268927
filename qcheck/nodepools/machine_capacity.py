"""The resources of a node by machine type: accelerators as facts, cpu and memory as estimates."""

from __future__ import annotations

from qcheck.cluster.nodes import Certainty, Machine
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools import machine_catalogue
from qcheck.nodepools.reservations import DEFAULT_PODS, UNTOUCHED, left_for_pods

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.nodepools.machine_type import MachineType
    from qcheck.nodepools.reservations import Kubelet

EFA = "vpc.amazonaws.com/efa"


def machine(name: str, provider: str | None, own: Mapping[str, Machine]) -> Machine | None:
    """Return a node of this type; None for a type that neither settings nor the catalogue contain."""
    found = machine_catalogue.lookup(name, provider, own)
    if found is None or isinstance(found, Machine):
        return found
    return of_type(found)


def of_type(kind: MachineType, kubelet: Kubelet = UNTOUCHED, usual_pods: int = DEFAULT_PODS) -> Machine:
    """Return a node of a catalogued type. Unverified values are unknown, not zero."""
    pods = kubelet.pods(kind.vcpu, usual_pods)
    allocatable: dict[str, int] = {"pods": pods}
    sure = {"pods": Certainty.ESTIMATED if kubelet.max_pods is None else Certainty.DECLARED}
    unknown = set()
    if kubelet.pods_unknown:
        del allocatable["pods"]
        unknown.add("pods")
    if kind.vcpu is None or kind.memory is None:
        unknown |= {"cpu", "memory"}
    else:
        left = left_for_pods(kind.provider, kind.vcpu, kind.memory, pods, kubelet)
        allocatable["cpu"], allocatable["memory"] = left
        sure |= {"cpu": Certainty.ESTIMATED, "memory": Certainty.ESTIMATED}
    if kind.resource and kind.count is None:
        unknown.add(kind.resource)
    elif kind.resource and kind.count:
        allocatable[kind.resource] = kind.count
        sure[kind.resource] = Certainty.CATALOGUE
    if kind.rdma_kind == "efa" and kind.rdma_count:
        allocatable[EFA] = kind.rdma_count
        sure[EFA] = Certainty.ESTIMATED
    return Machine(
        instance_type=kind.name,
        allocatable=allocatable,
        sure=sure,
        unknown=frozenset(unknown),
        model=kind.model,
        nvlink_domain=kind.nvlink_domain,
        source=kind.source,
        capacity=_capacity(kind),
    )


def _capacity(kind: MachineType) -> dict[str, int]:
    """Return the machine's capacity before any reservation, as far as known."""
    milli_cpu = None if kind.vcpu is None else kind.vcpu * 1000
    found = {"cpu": milli_cpu, "memory": kind.memory, kind.resource or "": kind.count}
    return {r: n for r, n in found.items() if r and n}
