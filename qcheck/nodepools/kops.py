"""kOps: `kops.k8s.io` InstanceGroup of role Node. Counts are totals over the subnets."""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.nodes import LabelOrigin
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools.figures import Count, Figures, place, texts, written_taint
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

KOPS = LabelOrigin("kOps", before_boot=True)
LABEL = "kops.k8s.io/instancegroup"


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    spec, name = root["spec"], root["metadata"]["name"].text() or ""
    if spec["role"].text() not in ("Node", None):
        return
    figures, kind = Figures(), Figures()
    types, at = _types(spec, kind, context)
    yield finished(
        PoolDraft(
            name=name,
            format="kOps InstanceGroup",
            place=place(root),
            count=_count(spec),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=str(kind.doubt) if kind.doubt else types.doubt,
            labels=figures.labels(spec["nodeLabels"]),
            taints=tuple(written_taint(t) for t in figures.texts(spec["taints"])),
            provided=(_provided(root, name, types, context),),
            zones=texts(spec["zones"]),
            spot=spec["maxPrice"].text() is not None,
            autoscaler="cluster-autoscaler",
            group_label=(LABEL, name),
            other=figures,
        )
    )


def _count(spec: Cursor) -> Count:
    """Return the count; both bounds are 1 by default."""
    figures = Figures()
    low, high = figures.whole(spec["minSize"]), figures.whole(spec["maxSize"])
    low = 1 if low is None else low
    at = spec["maxSize"] if spec["maxSize"].exists else spec["minSize"]
    return Count(
        place=place(at),
        minimum=low,
        desired=low,
        maximum=None if figures.doubt else max(low, 1 if high is None else high),
        doubt=figures.doubt,
    )


def _types(spec: Cursor, figures: Figures, context: PoolContext) -> tuple[PoolMachineTypes, Cursor]:
    mixed = spec["mixedInstancesPolicy"]["instances"]
    at = mixed if mixed.items() else spec["machineType"]
    names = figures.texts(mixed) if mixed.items() else (figures.text(at) or "",)
    if figures.doubt is not None or not names[0]:
        return PoolMachineTypes((), "no machineType is given"), at
    types = look_up(names, None, context.own)
    attached = Figures().whole(spec["guestAccelerators"][0]["acceleratorCount"])
    if attached and types.first is not None:
        machine = replace(types.first, allocatable={**types.first.allocatable, GPU: attached})
        return PoolMachineTypes((machine, *types.machines[1:])), at
    return types, at


def _provided(root: Cursor, name: str, types: PoolMachineTypes, context: PoolContext) -> Provided:
    """Return labels and taints; GPU groups get theirs only if the cluster installs NVIDIA's runtime."""
    labels = {LABEL: name, "node-role.kubernetes.io/node": ""}
    cluster = context.find("Cluster", root["metadata"]["labels"]["kops.k8s.io/cluster"].text())
    installs = cluster is not None and Figures().flag(cluster["spec"]["containerd"]["nvidiaGPU"]["enabled"])
    if installs and types.first is not None and types.first.allocatable.get(GPU):
        return Provided(KOPS, {**labels, "kops.k8s.io/gpu": "1"}, (Taint(GPU),))
    return Provided(KOPS, labels)
