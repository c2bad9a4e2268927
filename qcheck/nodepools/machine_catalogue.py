"""The catalogue of machine types. Facts only; each row of `machines.csv` has its source.

Rows are found by searching the file's text, so that a run that needs three types does not parse 1,600 rows.
"""

from __future__ import annotations

import os
from functools import cache

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.machine_families import by_name
from qcheck.nodepools.machine_type import GIB, MachineType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.nodes import Machine


def find(name: str, provider: str | None = None) -> MachineType | None:
    """Return the row of a machine type, or the values that its name implies.

    Without a provider, return the first type of that name. For Azure, the case of names does not matter.
    """
    text = _text()
    for each in (provider,) if provider else _providers():
        at = text.find(f"\n{each},{name},")
        if at < 0 and each == "azure":
            at = text.lower().find(f"\n{each},{name.lower()},")
        if at >= 0:
            return _row(text[at + 1 : text.find("\n", at + 1)])
    return by_name(name, provider)


def all_of(provider: str) -> tuple[MachineType, ...]:
    """Return every type of a provider, in order of name."""
    return tuple(_row(line) for line in _text().splitlines()[1:] if line.startswith(provider + ","))


@cache
def _text() -> str:
    with open(os.path.join(os.path.dirname(__file__), "machines.csv"), encoding="utf-8") as file:
        return file.read()


def _providers() -> Iterator[str]:
    last = ""
    for line in _text().splitlines()[1:]:
        provider = line[: line.index(",")]
        if provider != last:
            last = provider
            yield provider


def _row(line: str) -> MachineType:
    provider, name, vcpu, memory, resource, model, count, gpu_memory, nvlink, kind, rdma, pods, source = line.split(
        ",", 12
    )
    return MachineType(
        provider=provider,
        name=name,
        vcpu=_whole(vcpu),
        memory=_bytes(memory),
        resource=resource or None,
        model=model or None,
        count=_whole(count),
        gpu_memory=_bytes(gpu_memory),
        nvlink_domain=_whole(nvlink),
        rdma_kind=kind or None,
        rdma_count=_whole(rdma),
        source=source.strip('"'),
        pods=_whole(pods),
    )


def _whole(text: str) -> int | None:
    return int(text) if text else None


def _bytes(gib: str) -> int | None:
    """Convert a decimal number of GiB to bytes without floats."""
    if not gib:
        return None
    whole, _, fraction = gib.partition(".")
    return int(whole + fraction) * GIB // int(10 ** len(fraction))


def lookup(name: str, provider: str | None, own: Mapping[str, Machine]) -> Machine | MachineType | None:
    """Return a type from the settings, which take precedence, or from the catalogue."""
    return own.get(name) or find(name, provider)
