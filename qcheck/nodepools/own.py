"""The project's own format, for pools that live elsewhere: `apiVersion: qcheck.dev/v1`, `kind: NodePool`."""

from __future__ import annotations

from qcheck.model.nodes import Machine, NodePool, TopologyLevel
from qcheck.model.value import TYPE_CHECKING, replace
from qcheck.nodepools.added import UNSEEN
from qcheck.nodepools.figures import Count
from qcheck.nodepools.machines import machine, with_declared
from qcheck.nodepools.pool import described, figures
from qcheck.nodepools.scalars import amounts, labels, place, taints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.world import World

FORMAT = "qcheck.dev/v1 NodePool"


def read_pools(root: Cursor, world: World) -> tuple[NodePool]:
    """The one pool of a document."""
    return (_pool(root, world.own),)


def _pool(root: Cursor, own: Mapping[str, Machine]) -> NodePool:
    spec, name = root["spec"], root["metadata"]["name"].text() or ""
    low, desired, high = _count(spec["count"])
    found = _machine(spec, own)
    base = NodePool(
        name=name,
        format=FORMAT,
        place=place(root),
        count_place=place(spec["count"]),
        minimum=low,
        desired=desired,
        maximum=high,
        machines=(),
        labels=labels(spec["labels"]),
        taints=taints(spec["taints"]),
        varying=dict(UNSEEN),
        topology=tuple(_level(t) for t in spec["topology"].items()),
        autoscaler=None if low == high else "autoscaler",
    )
    if found is None:
        kind = spec["instanceType"].text()
        why = f"the machine type {kind} is in no catalogue" if kind else "it names neither instanceType nor allocatable"
        return replace(base, why_unknown=why, unknown_place=place(spec["instanceType"]))
    machines, origins = described((found,), base.labels)
    count = Count(base.count_place, low, desired, high)
    told = figures(count, machines, place(spec["allocatable"]))
    return replace(base, machines=machines, added=origins, figures=told)


def _count(at: Cursor) -> tuple[int, int | None, int | None]:
    """Minimum, desired and maximum; a plain number is all three, a missing maximum no ceiling."""
    fixed = at.integer()
    if fixed is not None:
        return fixed, fixed, fixed
    if not at.exists:
        return 1, 1, 1
    return at["min"].integer() or 0, at["desired"].integer(), at["max"].integer()


def _machine(spec: Cursor, own: Mapping[str, Machine]) -> Machine | None:
    """The catalogue's machine with what is declared on top; without a known type only what is declared."""
    kind = spec["instanceType"].text()
    declared = amounts(spec["allocatable"])
    known = machine(kind, None, own) if kind else None
    if known is None:
        if not declared:
            return None
        known = Machine(kind, {}, {}, source="declared")
    model, domain = spec["accelerator"]["model"].text(), spec["accelerator"]["nvlinkDomain"].integer()
    known = replace(known, model=model or known.model, nvlink_domain=domain or known.nvlink_domain)
    return with_declared(known, declared)


def _level(at: Cursor) -> TopologyLevel:
    level = at["level"].text() or ""
    return TopologyLevel(level, at["domains"].integer(), at["nodesPerDomain"].integer(), place(at))
