"""Labels by which Karpenter's providers describe a machine type, and the types that match requirements on them.

A label may have several possible values for a type, if the provider is known to err or names differ between its
releases, so that a type is excluded only if it certainly violates a requirement. Sources: the API types and the
generated tables of the providers for AWS, Azure and GCP.
"""

from __future__ import annotations

from qcheck.cluster.labels import Requirement
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.nodepools import gke, machine_catalogue
from qcheck.nodepools.machine_families import plain
from qcheck.nodepools.provider_labels import GKE_ACCELERATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qcheck.nodepools.machine_type import MachineType

    Shown = dict[str, tuple[str | None, ...]]

AWS, AUTO_MODE = "karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-"
AZURE, GCP = "karpenter.azure.com/sku-", "karpenter.k8s.gcp/instance-"
GKE_ACCELERATOR = "cloud.google.com/gke-accelerator"
VENDORS = {GPU: "nvidia", "amd.com/gpu": "amd"}
NOT_COUNTED = frozenset({"Standard_ND128isr_NDR_GB200_v6", "Standard_ND128isr_GB300_v6", "Standard_ND96is_MI300X_v5"})
"""Sizes for which Azure's API does not report GPUs."""
ABSENT: tuple[str | None, ...] = (None, "0")


class Scheme(Value):
    """The labels of one provider.

    `named` are the key parts after the prefix that a type's nodes have; `shown` returns the known values. `whole`: the
    catalogue also has the provider's types without accelerators.
    """

    prefixes: tuple[str, ...]
    shown: Callable[[MachineType], Shown]
    named: tuple[str, ...]
    whole: bool = False


def aws_labels(kind: MachineType) -> dict[str, str]:
    """Return `karpenter.k8s.aws/instance-*` of a type, by the last part of the key."""
    family, _, size = kind.name.partition(".")
    category = family[: len(family) - len(family.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    generation = family[len(category) : len(category) + 1]
    found = {"family": family, "size": size, "category": category, "generation": generation}
    if kind.vcpu is not None:
        found["cpu"] = str(kind.vcpu)
    if kind.memory is not None:
        found["memory"] = str(kind.memory >> 20)
    if kind.resource == GPU and kind.count:
        found |= {"gpu-count": str(kind.count), "gpu-manufacturer": "nvidia"}
        found["gpu-name"] = (kind.model or "").lower().replace(" ", "-")
    return found


def _aws(kind: MachineType) -> Shown:
    absent = ("gpu-name", "gpu-count", "gpu-manufacturer", "accelerator-name")
    return {**dict.fromkeys(absent, (None,)), **{k: (v,) for k, v in aws_labels(kind).items()}}


def _azure(kind: MachineType) -> Shown:
    found: Shown = {"name": (kind.name,)}
    if kind.vcpu is not None:
        found["cpu"] = (str(kind.vcpu),)
    if kind.resource is None:
        return {**found, "gpu-count": ABSENT, "gpu-manufacturer": (None,), "gpu-name": (None,)}
    if kind.name in NOT_COUNTED:
        return {**found, "gpu-count": ABSENT}
    if kind.count:
        found["gpu-count"] = (str(kind.count),)
    if kind.resource in VENDORS:
        found["gpu-manufacturer"] = (VENDORS[kind.resource],)
    return found


def _gcp(kind: MachineType) -> Shown:
    """Return the labels of a GCP type.

    Up to release 0.5, the provider reports the number of kinds of accelerators, 1, as the number of GPUs. A family is
    written with or without its shape: `a3`, `a3-highgpu`.
    """
    family, _, rest = kind.name.partition("-")
    found: Shown = {"family": (family, f"{family}-{rest.partition('-')[0]}")}
    if kind.vcpu is not None:
        found["cpu"] = (str(kind.vcpu),)
    if kind.resource != GPU:
        return {**found, "gpu-count": ABSENT, "gpu-name": (None,), GKE_ACCELERATOR: (None,)}
    if kind.count:
        found["gpu-count"] = tuple({str(kind.count): None, "1": None})
    label = gke.accelerator_label(kind)
    found[GKE_ACCELERATOR] = (
        (label,) if label else tuple(n for (m, _), n in GKE_ACCELERATORS.items() if m == kind.model)
    )
    return found


GPU_PARTS = ("gpu-name", "gpu-manufacturer", "gpu-count")
SCHEMES = {
    "aws": Scheme(
        (AWS, AUTO_MODE), _aws,
        ("family", "size", "category", "generation", "cpu", "memory", "cpu-manufacturer", "cpu-sustained-clock-speed-mhz",
         "network-bandwidth", "ebs-bandwidth", "hypervisor", "encryption-in-transit-supported", "local-nvme", "tenancy",
         "gpu-memory", "accelerator-name", "accelerator-manufacturer", "accelerator-count", *GPU_PARTS), whole=True,
    ),
    "azure": Scheme(
        (AZURE,), _azure,
        ("name", "family", "series", "version", "cpu", "memory", "networking-accelerated", "storage-premium-capable",
         "storage-ephemeralos-maxsize", *GPU_PARTS),
    ),
    "gcp": Scheme((GCP,), _gcp, ("family", "shape", "generation", "size", "cpu", "memory", "gpu-name", "gpu-count")),
}  # fmt: skip


def fitting(provider: str, wanted: Iterable[Requirement]) -> tuple[MachineType, ...] | None:
    """Return the types that match the requirements; None if they do not narrow them down to known types."""
    scheme = SCHEMES.get(provider)
    if scheme is None:
        return None
    narrowing = [n for r in wanted if (n := _narrowing(r, scheme)) is not None]
    types = machine_catalogue.all_of(provider)
    if not narrowing or not (scheme.whole or _asks_for_accelerators(provider, narrowing, types)):
        return None
    return tuple(t for t in types if _fits(narrowing, scheme.shown(t)))


def _narrowing(wanted: Requirement, scheme: Scheme) -> Requirement | None:
    """Return a requirement with the last part of its key; None if it is not about the machine type."""
    if wanted.key == GKE_ACCELERATOR:
        return wanted
    prefix = next((p for p in scheme.prefixes if wanted.key.startswith(p)), None)
    return None if prefix is None else replace(wanted, key=wanted.key.removeprefix(prefix))


def _fits(narrowing: Iterable[Requirement], shown: Shown) -> bool:
    """Return whether a type may satisfy all requirements; an unknown label excludes nothing."""
    return all(_may(each, shown[each.key]) for each in narrowing if each.key in shown)


def _may(wanted: Requirement, values: tuple[str | None, ...]) -> bool:
    return any(wanted.matches({} if value is None else {wanted.key: value}) for value in values)


def _asks_for_accelerators(provider: str, narrowing: list[Requirement], types: tuple[MachineType, ...]) -> bool:
    """Return whether only machines with accelerators match, by a GPU or by a family of such machines."""
    shown = SCHEMES[provider].shown
    without = shown(plain(provider, "", None, None))
    about_gpus = {k: v for k, v in without.items() if k.startswith("gpu-") or k == GKE_ACCELERATOR}
    if not _fits(narrowing, about_gpus):
        return True
    families = {f for t in types for f in shown(t).get("family", ())}
    return any(r.operator == "In" and r.key == "family" and families >= set(r.values) for r in narrowing)


def node_labels(kind: MachineType, provider: str, prefix: str) -> dict[str, str]:
    """Return the labels of a type's nodes whose value is certain."""
    scheme = SCHEMES.get(provider)
    if scheme is None:
        return {}
    shown = scheme.shown(kind).items()
    return {k if k == GKE_ACCELERATOR else f"{prefix}{k}": v[0] for k, v in shown if len(v) == 1 and v[0] is not None}


def unseen(provider: str, prefix: str, with_gpus: bool) -> dict[str, tuple[str, ...]]:
    """Return labels that a provider's nodes may have with unknown values; without GPUs, none about GPUs."""
    named = SCHEMES[provider].named if provider in SCHEMES else ()
    return {f"{prefix}{part}": () for part in named if with_gpus or not part.startswith(("gpu-", "accelerator-"))}
