"""qcheck's own format, for pools defined elsewhere: `apiVersion: qcheck.dev/v1`, `kind: NodePool`."""

from __future__ import annotations

from qcheck.cluster.nodes import Certainty, Machine, NodePool, TopologyLevel
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.nodepools.automatic_labels import UNSEEN
from qcheck.nodepools.figures import Count, Figures, amounts, place, taints, written_count
from qcheck.nodepools.pool import described, figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

FORMAT = "qcheck.dev/v1 NodePool"


def read_pools(root: Cursor, context: PoolContext) -> tuple[NodePool]:
    """Return the only pool of a document."""
    return (_pool(root, context.own),)


def _pool(root: Cursor, own: Mapping[str, Machine]) -> NodePool:
    spec, name = root["spec"], root["metadata"]["name"].text() or ""
    count = _count(spec["count"])
    found = _machine(spec, own)
    base = NodePool(
        name=name,
        format=FORMAT,
        place=place(root),
        count_place=place(spec["count"]),
        minimum=count.minimum,
        desired=count.desired,
        maximum=count.maximum,
        machines=(),
        labels=spec["labels"].strings(),
        taints=taints(spec["taints"]),
        varying=dict(UNSEEN),
        topology=tuple(_level(t) for t in spec["topology"].items()),
        autoscaler=None if count.minimum == count.maximum else "autoscaler",
        count_unknown=count.doubt is not None,
        why_unknown=str(count.doubt) if count.doubt else None,
        unknown_place=count.doubt.place if count.doubt else None,
    )
    if found is None:
        kind = spec["instanceType"].text()
        why = f"the machine type {kind} is in no catalogue" if kind else "it names neither instanceType nor allocatable"
        return replace(base, why_unknown=why, unknown_place=place(spec["instanceType"]))
    machines, origins = described((found,), base.labels)
    sources = figures(count, machines, place(spec["allocatable"]))
    return replace(base, machines=machines, added=origins, figures=sources)


def _count(at: Cursor) -> Count:
    """Return minimum, desired and maximum; a plain number is all three, a missing maximum means no ceiling."""
    if not isinstance(at.data, dict):
        return written_count(at, default=1)
    read = Figures()
    low, desired, high = (read.whole(at[f]) for f in ("min", "desired", "max"))
    if read.doubt is not None:
        return Count(place=place(at), minimum=0, desired=None, maximum=None, doubt=read.doubt)
    return Count(place(at), low or 0, desired, high)


def _machine(spec: Cursor, own: Mapping[str, Machine]) -> Machine | None:
    """Return the catalogue's machine with the declared overrides; without a known type only what is declared."""
    kind = spec["instanceType"].text()
    declared = amounts(spec["allocatable"])
    known = _known(kind, own) if kind else None
    if known is None:
        if not declared:
            return None
        known = Machine(kind, {}, {}, source="declared")
    model, domain = spec["accelerator"]["model"].text(), spec["accelerator"]["nvlinkDomain"].integer()
    known = replace(known, model=model or known.model, nvlink_domain=domain or known.nvlink_domain)
    return replace(
        known,
        allocatable={**known.allocatable, **declared},
        sure={**known.sure, **dict.fromkeys(declared, Certainty.DECLARED)},
        unknown=known.unknown - set(declared),
    )


def _known(kind: str, own: Mapping[str, Machine]) -> Machine | None:
    from qcheck.nodepools.machine_capacity import machine  # 0.6 ms

    return machine(kind, None, own)


def _level(at: Cursor) -> TopologyLevel:
    level = at["level"].text() or ""
    return TopologyLevel(level, at["domains"].integer(), at["nodesPerDomain"].integer(), place(at))
