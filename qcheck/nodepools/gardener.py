"""Gardener: the workers of a `core.gardener.cloud` Shoot.

`minimum` and `maximum` are totals over the zones; `maxSurge` adds nodes only during updates and is not capacity.
"""

from __future__ import annotations

from qcheck.cluster.nodes import Certainty, LabelOrigin, Machine
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import Count, Figures, amounts, place, texts, unresolved_keys
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

GARDENER = LabelOrigin("Gardener", before_boot=True)
LABEL = "worker.gardener.cloud/pool"
PROVIDERS = {"aws": "aws", "gcp": "gcp", "azure": "azure", "oci": "oci"}


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield one pool for each worker group."""
    provider = root["spec"]["provider"]
    for worker in provider["workers"].items():
        yield _pool(worker, PROVIDERS.get(provider["type"].text() or ""), root, context)


def _pool(worker: Cursor, provider: str | None, root: Cursor, context: PoolContext) -> NodePool:
    figures, kind, bounds = Figures(), Figures(), Figures()
    name = figures.text(worker["name"]) or ""
    low, high = bounds.whole(worker["minimum"]), bounds.whole(worker["maximum"])
    at = worker["machine"]["type"]
    size = kind.text(at)
    types = (
        _of_profile(size, root, context) or look_up((size,), provider, context.own)
        if size
        else PoolMachineTypes((), "no type")
    )
    return finished(
        PoolDraft(
            name=name,
            format="Gardener worker",
            place=place(worker),
            count=Count(
                place=place(worker["maximum"]),
                minimum=low or 0,
                desired=None,
                maximum=None if bounds.doubt else high or 0,
                doubt=bounds.doubt,
            ),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=str(kind.doubt) if kind.doubt else types.doubt,
            labels=figures.labels(worker["labels"]),
            taints=figures.taints(worker["taints"]),
            open_labels=tuple(unresolved_keys(worker["labels"])),
            provided=(Provided(GARDENER, {LABEL: name}),),
            zones=texts(worker["zones"]),
            autoscaler="cluster-autoscaler",
            group_label=(LABEL, name),
            other=figures,
        )
    )


def _of_profile(name: str | None, root: Cursor, context: PoolContext) -> PoolMachineTypes | None:
    """Return the machine from the CloudProfile, if it is among the files and describes the machine."""
    reference = root["spec"]["cloudProfile"]["name"].text() or root["spec"]["cloudProfileName"].text()
    profile = context.find("CloudProfile", reference)
    for each in profile["spec"]["machineTypes"].items() if profile is not None else ():
        if each["name"].text() == name:
            found = amounts(each)
            had = {"cpu": found.get("cpu"), "memory": found.get("memory"), "nvidia.com/gpu": found.get("gpu")}
            allocatable = {r: n for r, n in had.items() if n}
            return PoolMachineTypes(
                (Machine(name, allocatable, dict.fromkeys(allocatable, Certainty.DECLARED), source="CloudProfile"),)
            )
    return None
