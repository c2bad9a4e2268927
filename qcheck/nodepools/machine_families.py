"""Machine types whose name implies their cores and memory, or the number of their TPU chips.

Sources: the machine family pages of Compute Engine, the size naming page of Azure virtual machines, the shapes of OCI
and the presets of Nebius.
"""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools.machine_type import GIB, MachineType

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 2**20
TPU = "google.com/tpu"
GCP_MIB_PER_CORE = {
    "standard": 4096, "highmem": 8192, "highcpu": 1024, "n1-standard": 3840, "n1-highmem": 6656, "n1-highcpu": 922,
    "c3-highcpu": 2048, "c3d-highcpu": 2048, "c4-highcpu": 2048, "c4a-highcpu": 2048, "c4d-highcpu": 1920,
    "c4-standard": 3840, "c4d-standard": 3968, "c4-highmem": 7936, "c4d-highmem": 8064, "n4-highcpu": 2048,
    "t2d-standard": 4096, "t2a-standard": 4096,
}  # fmt: skip
"""MiB of memory per core by family and kind, else by kind alone."""
GCP_FAMILIES = frozenset(
    {"e2", "n1", "n2", "n2d", "n4", "c2", "c2d", "c3", "c3d", "c4", "c4a", "c4d", "t2d", "t2a", "h3", "h4d", "z3", "m1"}
)
GCP = r"([a-z][0-9][a-z]*)-(standard|highmem|highcpu)-([1-9]\d{0,8})(?:-[a-z]+)?"
GCP_SHARED = {"e2-micro": 1, "e2-small": 2, "e2-medium": 4, "f1-micro": 1, "g1-small": 2}
"""Shared-core types and their memory in GiB (integers)."""
GCP_CUSTOM = r"(?:([a-z][0-9][a-z]*)-)?custom-([1-9]\d{0,8})-([1-9]\d{0,8})(?:-ext)?"
AZURE = r"(?i:standard_([defl])([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?([a-z]*)_v(\d))"
AZURE_GIB_PER_CORE = {"d": 4, "e": 8, "f": 2, "l": 8}
GCP_TPU = r"(?:ct\d[a-z]*|tpu\d[a-z]*)-(?:hightpu|standard)-([1-9]\d?)t"
NEBIUS = r"cpu-[a-z0-9]+/([1-9]\d{0,8})vcpu-([1-9]\d{0,8})gb"
SOURCE = "the type's name"
GRACE = ("GH200", "GB200", "GB300")
"""Superchips with Arm cores."""
ARM = (
    r"(?i:a1\.|[a-z]+\d+g[a-z]*\.|(?:ml\.)?p6e-|(?:t2a|c4a|n4a|a4x)-"
    r"|standard_[a-z]+\d+[a-z]*p[a-z]*_v|(?:vm|bm)\.standard\.a\d)"
)
"""Graviton, Axion, Tau T2A, Cobalt, Ampere."""


def architecture(name: str, model: str | None) -> str:
    """Return `kubernetes.io/arch` of a machine type."""
    return "arm64" if model in GRACE or re.match(ARM, name) else "amd64"


def by_name(name: str, provider: str | None) -> MachineType | None:
    """Return the values that a general-purpose type's name implies; None for other names."""
    readers = [READERS[provider]] if provider in READERS else [] if provider else list(READERS.values())
    return next((found for read in readers if (found := read(name)) is not None), None)


def plain(provider: str, name: str, vcpu: int | None, memory: int | None, source: str = SOURCE) -> MachineType:
    """Return a machine without accelerators."""
    return MachineType(
        provider=provider,
        name=name,
        vcpu=vcpu,
        memory=memory,
        resource=None,
        model=None,
        count=0,
        gpu_memory=None,
        nvlink_domain=None,
        rdma_kind=None,
        rdma_count=None,
        source=source,
    )


def _gcp(name: str) -> MachineType | None:
    if name in GCP_SHARED:
        return plain("gcp", name, 2 if name.startswith("e2") else 1, GCP_SHARED[name] * GIB)
    tpu = re.fullmatch(GCP_TPU, name)
    if tpu:
        return replace(plain("gcp", name, None, None), resource=TPU, model="TPU", count=int(tpu[1]))
    custom = re.fullmatch(GCP_CUSTOM, name)
    if custom:
        return plain("gcp", name, int(custom[2]), int(custom[3]) * MIB)
    match = re.fullmatch(GCP, name)
    if match is None or match[1] not in GCP_FAMILIES:
        return None
    per_core = GCP_MIB_PER_CORE.get(f"{match[1]}-{match[2]}", GCP_MIB_PER_CORE[match[2]])
    return plain("gcp", name, int(match[3]), int(match[3]) * per_core * MIB)


def _azure(name: str) -> MachineType | None:
    """Return a size D, E, F or L. `-4` leaves four cores and all of the memory; `l` and `m`: less and more memory."""
    match = re.fullmatch(AZURE, name)
    if match is None or (match[1].lower() == "d" and int(match[5]) < 3):
        return None
    family, cores, letters = match[1].lower(), int(match[2]), match[4].lower()
    per_core = AZURE_GIB_PER_CORE[family]
    if family == "d" and "l" in letters:
        per_core = 2
    if family == "f" and int(match[5]) >= 6:
        per_core = 8 if "m" in letters else 2 if "l" in letters else 4
    return plain("azure", name, int(match[3] or cores), cores * per_core * GIB)


def _nebius(name: str) -> MachineType | None:
    match = re.fullmatch(NEBIUS, name)
    return plain("nebius", name, int(match[1]), int(match[2]) * GIB) if match else None


def _coreweave(name: str) -> MachineType | None:
    """Return a `cd-` type, which is a CPU node; its size is not in the name."""
    return plain("coreweave", name, None, None) if name.startswith("cd-") else None


READERS: dict[str, Callable[[str], MachineType | None]] = {
    "gcp": _gcp,
    "azure": _azure,
    "nebius": _nebius,
    "coreweave": _coreweave,
}
