"""GKE ComputeClass: rules for pools that GKE creates. It has no counts, so a pool has no ceiling."""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.nodes import LabelOrigin
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools.figures import Count, Figures, place
from qcheck.nodepools.gke import accelerator_label
from qcheck.nodepools.machine_catalogue import all_of
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import GKE, GKE_TPUS, TPU, Provided

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.cluster.nodes import Machine, NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

LABEL = "cloud.google.com/compute-class"
STANDARD = ("ct6e", "tpu7x")
"""Families with machine types named `standard`; machine types of older families are named `hightpu`."""
EDGE = "edgegpu"
"""The part of a machine type's name that marks edge sites. A class must name such types itself."""


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield one pool for everything that its priorities allow; none if it only orders existing pools."""
    spec, name = root["spec"], root["metadata"]["name"].text() or ""
    priorities = [p for p in spec["priorities"].items() if not p["nodepools"].exists]
    if not priorities:
        return
    figures = Figures()
    types = _types(priorities, context.own)
    config = spec["nodePoolConfig"]
    labels, taints = {LABEL: name}, [Taint(LABEL, name)]
    if types.machines and all(m.allocatable.get(GPU) for m in types.machines):
        taints.append(Taint(GPU, "present"))
        if accelerator := _same(p["gpu"]["type"].text() for p in priorities):
            labels["cloud.google.com/gke-accelerator"] = accelerator
    if all(p["tpu"].exists for p in priorities):
        taints.append(Taint(TPU, "present"))
        for label, field in ("gke-tpu-accelerator", "type"), ("gke-tpu-topology", "topology"):
            if value := _same(p["tpu"][field].text() for p in priorities):
                labels[f"cloud.google.com/{label}"] = value
    own = Provided(GKE, labels, tuple(taints))
    yield finished(
        PoolDraft(
            name=name,
            format="GKE ComputeClass",
            place=place(root),
            count=Count(place(spec["priorities"]), 0, None, None),
            machines=types.machines,
            type_place=place(spec["priorities"]),
            machine_doubt=types.doubt,
            labels=figures.labels(config["nodeLabels"]),
            taints=figures.taints(config["taints"]),
            provided=(own,),
            spot=all(Figures().flag(p["spot"]) for p in priorities),
            autoscaler="GKE node auto-provisioning",
            group_label=(LABEL, name),
            other=figures,
        )
    )


def with_classes(roots: Iterable[Cursor], pools: Iterable[NodePool]) -> list[NodePool]:
    """Return pools with the label of the ComputeClass that names them, by which pods select them."""
    named: dict[str, str] = {}
    for root in roots:
        for priority in root["spec"]["priorities"].items():
            for pool in priority["nodepools"].items():
                named.setdefault(pool.text() or "", root["metadata"].text_at("name"))
    return [_in_class(p, named[p.name]) if p.name in named and LABEL not in p.labels else p for p in pools]


def _in_class(pool: NodePool, name: str) -> NodePool:
    origin = LabelOrigin(f"ComputeClass {name}", before_boot=True)
    return replace(pool, labels={**pool.labels, LABEL: name}, added={**pool.added, LABEL: origin})


def _types(priorities: list[Cursor], own: Mapping[str, Machine]) -> PoolMachineTypes:
    """Return the machines of all priorities, if each names its type."""
    found = []
    for each in priorities:
        name = each["machineType"].text() or _tpu_machine(each["tpu"]) or _gpu_machine(each["gpu"])
        if name is None:
            what = each["machineFamily"].text() or each["gpu"]["type"].text() or "a rule of its priorities"
            return PoolMachineTypes((), f"{what} does not determine the machine type")
        types = look_up((name,), "gcp", own)
        if types.first is None:
            return types
        gpus = each["gpu"]["count"].integer()
        machine = types.first
        if gpus:
            machine = replace(machine, allocatable={**machine.allocatable, GPU: gpus})
        found.append(machine)
    return PoolMachineTypes(tuple(found))


def _tpu_machine(tpu: Cursor) -> str | None:
    """Return the machine type with the given number and type of TPU chips."""
    families = [family for family, accelerator in GKE_TPUS.items() if accelerator == tpu["type"].text()]
    count = tpu["count"].integer()
    if not families or count is None:
        return None
    return f"{families[0]}-{'standard' if families[0] in STANDARD else 'hightpu'}-{count}t"


def _gpu_machine(gpu: Cursor) -> str | None:
    """Return the machine type with the given number and type of GPUs; None if such types differ in size."""
    wanted, count = gpu["type"].text(), gpu["count"].integer()
    if wanted is None or count is None:
        return None
    found = [k for k in all_of("gcp") if k.count == count and accelerator_label(k) == wanted and EDGE not in k.name]
    return found[0].name if len({(kind.vcpu, kind.memory) for kind in found}) == 1 else None


def _same(values: Iterable[str | None]) -> str | None:
    """Return the value if all are the same."""
    found = set(values)
    return found.pop() if len(found) == 1 else None
