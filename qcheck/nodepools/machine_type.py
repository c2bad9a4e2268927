"""A machine type: one row of the catalogue, or what a type's name tells."""

from __future__ import annotations

from qcheck.cluster.value import Value

GIB = 2**30


class MachineType(Value):
    """One row.

    `memory` in bytes; unverified counts are None. `nvlink_domain` counts accelerators. `pods`: on EC2 the pods for
    which the type has separate addresses.
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
