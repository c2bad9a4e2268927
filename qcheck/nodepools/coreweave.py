"""CoreWeave: `compute.coreweave.com` NodePool. Whole bare-metal nodes; counts are totals."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import Count, Figures, place, unresolved_keys
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import coreweave

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    spec, name = root["spec"], root["metadata"]["name"].text() or ""
    figures, kind = Figures(), Figures()
    size = kind.text(spec["instanceType"])
    types = look_up((size,), "coreweave", context.own) if size else PoolMachineTypes((), "no instanceType is given")
    yield finished(
        PoolDraft(
            name=name,
            format="CoreWeave NodePool",
            place=place(root),
            count=_count(spec),
            machines=types.machines,
            type_place=place(spec["instanceType"]),
            machine_doubt=str(kind.doubt) if kind.doubt else types.doubt,
            labels=figures.labels(spec["nodeLabels"]),
            taints=figures.taints(spec["nodeTaints"]),
            open_labels=tuple(unresolved_keys(spec["nodeLabels"])),
            provided=(coreweave(name, types.first),),
            spot=spec["computeClass"].text() == "spot",
            autoscaler="cluster-autoscaler",
            group_label=("compute.coreweave.com/node-pool", name),
            other=figures,
        )
    )


def _count(spec: Cursor) -> Count:
    """Return `targetNodes`, or the bounds between which the autoscaler moves it if enabled."""
    figures = Figures()
    wanted = figures.whole(spec["targetNodes"])
    if figures.flag(spec["autoscaling"]):
        low, high = figures.whole(spec["minNodes"]), figures.whole(spec["maxNodes"])
        return Count(place=place(spec["maxNodes"]), minimum=low or 0, desired=wanted, maximum=high, doubt=figures.doubt)
    most = None if figures.doubt else wanted or 0
    return Count(
        place=place(spec["targetNodes"]), minimum=wanted or 0, desired=wanted, maximum=most, doubt=figures.doubt
    )
