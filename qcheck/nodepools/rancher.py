"""Rancher: the machine pools of a `provisioning.cattle.io` Cluster.

The pool refers to an object of the group `rke-machine-config.cattle.io`, which contains the machine type.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import Count, Figures, place, unresolved_keys, written_count
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

TYPES = {
    "Amazonec2Config": ("aws", "instanceType"),
    "AzureConfig": ("azure", "size"),
    "GoogleConfig": ("gcp", "machineType"),
    "OCIConfig": ("oci", "nodeShape"),
}
"""The provider and the field with the machine type, by kind of machine configuration."""


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield one pool for each machine pool of workers."""
    for pool in root["spec"]["rkeConfig"]["machinePools"].items():
        if pool["workerRole"].meant() == "true":
            yield _pool(pool, context)


def _pool(pool: Cursor, context: PoolContext) -> NodePool:
    figures, reference = Figures(), pool["machineConfigRef"]
    types, at = _types(reference, context)
    return finished(
        PoolDraft(
            name=figures.text(pool["name"]) or "",
            format="Rancher machine pool",
            place=place(pool),
            count=_count(pool),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=types.doubt,
            labels=figures.labels(pool["labels"]),
            taints=figures.taints(pool["taints"]),
            open_labels=tuple(unresolved_keys(pool["labels"])),
            autoscaler="cluster-autoscaler",
            other=figures,
        )
    )


def _types(reference: Cursor, context: PoolContext) -> tuple[PoolMachineTypes, Cursor]:
    kind, name = reference["kind"].text() or "", reference["name"].text() or ""
    found = context.find(kind, name)
    if found is None:
        return PoolMachineTypes((), f"its machine configuration {name} was not found in the files"), reference["name"]
    if kind not in TYPES:
        return PoolMachineTypes((), f"a {kind} does not state a machine type"), reference["name"]
    provider, field = TYPES[kind]
    figures, at = Figures(), found[field]
    size = figures.text(at)
    return look_up((size,), provider, context.own) if size else PoolMachineTypes(
        (), f"{kind} {name} has no {field}"
    ), at


def _count(pool: Cursor) -> Count:
    """Return `quantity`, 1 by default, or the autoscaler's bounds if both are given."""
    low, high = pool["autoscalingMinSize"], pool["autoscalingMaxSize"]
    if not (low.exists and high.exists):
        return written_count(pool["quantity"], default=1)
    figures = Figures()
    least, most = figures.whole(low), figures.whole(high)
    return Count(
        place=place(high),
        minimum=least or 0,
        desired=figures.whole(pool["quantity"]),
        maximum=most,
        doubt=figures.doubt,
    )
