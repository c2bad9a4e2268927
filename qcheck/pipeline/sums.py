"""The sums after an edit: a resource's promises of the pools in question, and the supply of their nodes."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import cell_scale, promised, supplied
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.finding import Datum, Finding


MOST_SHOWN = 6


def shown_sums(clusters: Iterable[Cluster], overdrafts: Iterable[Finding]) -> str:
    """Return the current promises and supply for findings of quota that exceeds capacity; empty without any."""
    by_name = {c.name: c for c in clusters}
    sums = (_sum(by_name[f.cluster], str(f.data["resource"]), f.data["flavors"]) for f in overdrafts)
    found = [s for s in dict.fromkeys(sums) if s]
    more = [f"and {len(found) - MOST_SHOWN:,} more sums"] if len(found) > MOST_SHOWN else []
    return "; ".join([*found[:MOST_SHOWN], *more])


def _sum(cluster: Cluster, resource: str, pools: Datum) -> str:
    names = pools if isinstance(pools, list) else ()
    held = [(key, c) for (key, name), cells in promises_of(cluster).cells.items() if name == resource for c in cells]
    cells = [c for key, c in held if pool_name(key) in names]
    keys = {key for key, _ in held if pool_name(key) in names}
    groups = {m.group.name: m.group for key in keys for m in supply_of(cluster).matches(key)}
    if not cells or not groups:
        return ""
    supplying = [g for g in groups.values() if g.advertises(resource) or g.is_only_limited(resource)]
    scale = cell_scale(resource, cells, supplying)
    return f"promised {promised(scale, cells)}; the nodes can supply {supplied(scale, supplying, at_best=True)}"
