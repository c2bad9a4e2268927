"""A machine type: one row of the catalogue, or the values that a type's name implies."""

from __future__ import annotations

from qcheck.cluster.value import Value

GIB = 2**30


class MachineType(Value):
    """A machine type's values.

    `memory` is in bytes; unverified counts are None. `nvlink_domain` counts accelerators. `pods`: on EC2, the number of
    pods for which the type has separate addresses.
    """

    provider: str
    name: str
    vcpu: int | None
    memory: int | None
    resource: str | None
    model: str | None
    count: int | None
    gpu_memory: int | None
    nvlink_domain: int | None
    rdma_kind: str | None
    rdma_count: int | None
    source: str
    pods: int | None = None
