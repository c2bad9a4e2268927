"""`qcheck capacity`: quota and nodes side by side, as a table, as markdown, and as JSON (schema 1)."""

from __future__ import annotations

from qcheck.answers.capacity import CapacityLine, capacity_lines
from qcheck.answers.fragmentation import usability
from qcheck.checks.capacity.arithmetic import names
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import IN_TABLES, scale_of
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.columns import columns
from qcheck.reports.cost import cost_data, cost_lines, flavor_data
from qcheck.reports.current_state import now_data, now_lines
from qcheck.reports.fragmentation import usability_data, usability_lines
from qcheck.reports.json_text import dump
from qcheck.reports.wording import plain, plural, unjudged_lines
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qcheck.answers.capacity import PoolLine
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.nodes import NodePool
    from qcheck.cluster.units import Scale
    from qcheck.quota.tree import Cell
    from qcheck.reports.json_text import Json

HEADERS = (
    "flavor",
    "resource",
    "promised",
    "nodes hold",
    "with autoscaling",
    "headroom",
    "DaemonSets, reserves",
    "nodes",
)
_RIGHT = frozenset({2, 3, 4, 5})


def render_json(clusters: Iterable[Cluster], unjudged: Sequence[str] = ()) -> str:
    return dump({"schema": 1, "clusters": [cluster_data(c) for c in clusters], "unjudged": list(unjudged)})


def cluster_data(cluster: Cluster) -> dict[str, Json]:
    return {
        "name": cluster.name,
        "flavors": [_line_data(cluster, line) for line in capacity_lines(cluster)],
        "sources": [_source_data(pool) for pool in cluster.pools],
        **cost_data(cluster),
        **now_data(cluster),
    }


def _source_data(pool: NodePool) -> dict[str, Json]:
    """Return the sources of a pool's figures."""
    return {
        "pool": pool.name,
        "format": pool.format,
        "file": pool.place.origin.path,
        "line": pool.place.span[0],
        "countLine": pool.count_place.span[0],
        "figures": list(pool.figures),
        "unknown": pool.why_unknown,
    }


def _line_data(cluster: Cluster, line: CapacityLine) -> dict[str, Json]:
    usable = usability(cluster, line.pool, line.resource, line.placeable) if line.placeable else None
    return {
        "flavor": line.flavor,
        **({} if line.scheduler is SchedulerName.KUEUE else {"scheduler": line.scheduler}),
        "resource": line.resource,
        "nominal": line.nominal,
        "static": line.static,
        "ceiling": line.ceiling,
        "daemonSets": line.daemon_sets,
        "reserves": line.reserves,
        "headroom": line.headroom,
        "known": line.is_known,
        "estimated": line.is_estimated,
        "pools": [_pool_data(p) for p in line.pools],
        "placeable": {str(size): count for size, count in line.placeable.items()},
        "topology": None if usable is None else usability_data(usable),
        **flavor_data(cluster, line.pool),
    }


def _pool_data(pool: PoolLine) -> dict[str, Json]:
    return {
        "name": pool.name,
        "nodes": pool.nodes,
        "ceilingNodes": pool.ceiling_nodes,
        "perNode": pool.per_node,
        "freePerNode": pool.free_per_node,
    }


def render_text(clusters: Sequence[Cluster], unjudged: Sequence[str] = (), width: int | None = None) -> str:
    """Return a table per cluster, and what could not be judged."""
    return "\n".join([*(_text_of(c, len(clusters) > 1, width) for c in clusters), *unjudged_lines(unjudged)])


def _text_of(cluster: Cluster, many: bool, width: int | None) -> str:
    rows = [HEADERS, *(cells(line, cluster.has_nodes) for line in capacity_lines(cluster))]
    if len(rows) == 1:
        return f"{_name(cluster, many)}{_nothing_promised(cluster)}\n"
    lines = columns(rows, _RIGHT, width, keys=2)
    below = (
        *_no_nodes(cluster),
        *_usable(cluster),
        *now_lines(cluster),
        *cost_lines(cluster),
        *_sources(cluster),
    )
    return _name(cluster, many) + "\n".join(line.rstrip() for line in [*lines, *below]) + "\n"


def _nothing_promised(cluster: Cluster) -> str:
    """Return the text to print instead of an empty table: the nodes with accelerators that no quota pool covers."""
    groups = {
        g.name
        for g in supply_of(cluster).groups
        if any(is_compute(r) and n for c in g.classes for r, n in c.machine.allocatable.items())
    }
    if not groups:
        return "no quota and no accelerators were found"
    return plain(f"no quota was found; the nodes of {names(sorted(groups))} have accelerators")


def _no_nodes(cluster: Cluster) -> Iterator[str]:
    """Yield, below the table, a note that the figures of nodes are unknown if no node was read."""
    if not cluster.has_nodes:
        yield from ("", "no node pool and no Node was read: what nodes hold is not known")


def _usable(cluster: Cluster) -> Iterator[str]:
    """Yield, below the table, how usable the free accelerators are, flavor by flavor."""
    for line in capacity_lines(cluster):
        found = usability(cluster, line.pool, line.resource, line.placeable) if line.placeable else None
        if found is not None and found.free:
            yield ""
            yield from usability_lines(line.label, line.resource, found)


def _sources(cluster: Cluster) -> Iterator[str]:
    """Yield, at the end, the sources of the figures of each pool."""
    if cluster.pools:
        yield ""
        yield "where the figures come from"
    for pool in cluster.pools:
        yield plain(f"  {pool.name} ({pool.format}, {pool.place.line})")
        yield from (f"    {plain(each)}" for each in pool.figures)
        if pool.why_unknown:
            yield f"    not known: {plain(pool.why_unknown)}"


def _name(cluster: Cluster, many: bool) -> str:
    return f"cluster {plain(cluster.name)}\n" if many else ""


def cells(line: CapacityLine, has_nodes: bool) -> tuple[str, ...]:
    """Return a line as cells in the order of `HEADERS`; all its amounts share one unit."""
    scale = line_scale(line)
    promised = (plain(line.label), plain(line.resource), scale(line.nominal))
    if not has_nodes:
        return (*promised, "unknown", "", "", taken_first(line, scale), "none read")
    return (
        *promised,
        held(line, scale),
        at_best(line, scale),
        signed(scale, line.headroom),
        taken_first(line, scale),
        plain("; ".join(pool_words(line))) or "none selected",
    )


def line_scale(line: CapacityLine) -> Scale:
    """Return the unit in which the promises and nodes of a line are compared."""
    amounts = (line.nominal, line.static, line.ceiling, line.headroom, line.daemon_sets, line.reserves)
    return scale_of(line.resource, [a for a in amounts if a is not None], IN_TABLES)


def held(line: CapacityLine, scale: Scale) -> str:
    if line.static is None:
        return "unknown"
    return _marked(line, scale, line.static)


def at_best(line: CapacityLine, scale: Scale) -> str:
    if line.ceiling is None:
        return "no ceiling" if line.is_known else "unknown"
    return "" if line.ceiling == line.static else _marked(line, scale, line.ceiling)


def _marked(line: CapacityLine, scale: Scale, amount: int) -> str:
    """Format an amount of nodes: `~47 cores` if it is estimated; zero is always exact."""
    return f"~{scale(amount)}" if line.is_estimated and amount else scale(amount)


def signed(scale: Scale, units: int | None) -> str:
    if units is None:
        return ""
    return ("+" if units > 0 else "") + scale(units)


def taken_first(line: CapacityLine, scale: Scale) -> str:
    """Return what DaemonSets and reserves take before any queue."""
    parts = ((line.daemon_sets, "DaemonSets"), (line.reserves, "reserves"))
    return ", ".join(f"{word}: {scale(amount)}" for amount, word in parts if amount)


def pool_words(line: CapacityLine) -> Iterator[str]:
    """Yield `19 nodes x 7 of 8 (h100)`, pool by pool; the amounts share one unit."""
    amounts = [a for p in line.pools for a in (p.per_node, p.free_per_node)]
    scale = scale_of(line.resource, amounts, IN_TABLES)
    return (_pool_words(pool, scale) for pool in line.pools)


def _pool_words(pool: PoolLine, scale: Scale) -> str:
    count = plural(pool.nodes, "node")
    if pool.ceiling_nodes is None:
        count = f"{pool.nodes} or more nodes"
    elif pool.ceiling_nodes != pool.nodes:
        count = f"{pool.nodes} to {plural(pool.ceiling_nodes, 'node')}"
    if not pool.group.is_known:
        return f"{pool.name}, not known"
    free = scale(pool.free_per_node)
    if pool.free_per_node != pool.per_node:
        free = f"{scale.bare(pool.free_per_node)} of {scale(pool.per_node)}"
    return f"{count} x {free} ({pool.name})"


def holders(line: CapacityLine) -> list[Cell]:
    """Return the cells that hold a line's quota, the largest first."""
    return sorted((c for c in line.quotas if c.promised), key=lambda c: (-c.promised, c.holder))
