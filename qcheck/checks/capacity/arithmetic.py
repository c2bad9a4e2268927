"""The arithmetic of capacity findings, in words that a reader can check without running anything."""

from __future__ import annotations

from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.units import IN_PROSE, IN_SUMS, scale_of
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.units import Scale
    from qcheck.quota.tree import Cell
    from qcheck.supply.groups import NodeGroup

SHOWN = 6


def names(words: Iterable[str], most: int = SHOWN) -> str:
    """Return `a`, `a and b`, `a, b and c`, or `a, b, c and 9 more`; `none` for no words."""
    listed = list(words) or ["none"]
    if len(listed) > most:
        listed = [*listed[: most - 1], f"{len(listed) - most + 1} more"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def titled(cluster: Cluster, *keys: str) -> str:
    """Return quota pools with their terms: `flavor h100`, `the flavors h100 and h200`, `shard default`."""
    pools = [cluster.quota_pools.get(key) for key in keys]
    word = next((pool.word for pool in pools if pool is not None), "flavor")
    listed = names(pool_name(key) for key in keys)
    return f"{word} {listed}" if len(keys) == 1 else f"the {word}s {listed}"


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def common_scale(resource: str, promises: Iterable[int], groups: Iterable[NodeGroup] = ()) -> Scale:
    """Return the scale for comparing promises with the nodes behind them; sums with estimates may be rounded."""
    amounts = [*promises]
    amounts.append(sum(amounts))
    room = IN_SUMS
    for group in groups:
        amounts += [group.highest(resource), group.static_supply(resource), group.ceiling_supply(resource) or 0]
        if any(c.is_estimated(resource) for c in group.classes):
            room = IN_PROSE
    return scale_of(resource, amounts, room)


def cell_scale(resource: str, cells: Iterable[Cell], groups: Iterable[NodeGroup] = ()) -> Scale:
    """Return the same for the cells of a quota tree."""
    return common_scale(resource, [c.promised for c in cells], groups)


def promised(scale: Scale, cells: Sequence[Cell]) -> str:
    """Return `80 (team-a) + 40 (team-b) = 120 nvidia.com/gpu`, the largest first."""
    ordered = sorted((c for c in cells if c.promised), key=lambda c: (-c.promised, c.holder))
    total = scale.name(sum(c.promised for c in cells))
    if len(ordered) == 1:
        return f"{total} ({ordered[0].holder})"
    parts = [f"{scale.bare(c.promised)} ({c.holder})" for c in ordered[:SHOWN]]
    if len(ordered) > SHOWN:
        rest = sum(c.promised for c in ordered[SHOWN:])
        parts.append(f"{scale.bare(rest)} ({len(ordered) - SHOWN} more)")
    return f"{' + '.join(parts)} = {total}" if parts else total


def supplied(scale: Scale, groups: Sequence[NodeGroup], at_best: bool) -> str:
    """Return `16 nodes x (8 - 1 for DaemonSets) = 112 (h100)`, group by group."""
    return " + ".join(_group_sum(scale, g, at_best) for g in groups) or "nothing"


def _group_sum(scale: Scale, group: NodeGroup, at_best: bool) -> str:
    resource = scale.resource
    count = group.ceiling if at_best else group.static
    if count is None:
        limit = group.pool.limits.get(resource) if group.pool else None
        return f"{group.name}: " + ("no ceiling" if limit is None else f"limit {scale(limit)}")
    per_node = group.highest(resource) if at_best else group.lowest(resource)
    total = group.ceiling_supply(resource) if at_best else group.static_supply(resource)
    text = f"{plural(count, 'node')} x {_per_node(scale, group, per_node)}"
    shown = scale(total or 0)
    if total != count * per_node:
        return f"{text}, limited to {shown} ({group.name})"
    return f"{text} = {shown} ({group.name})"


def _per_node(scale: Scale, group: NodeGroup, free: int) -> str:
    resource = scale.resource
    first = group.classes[0] if group.classes else None
    if first is None:
        return "?"
    whole = first.machine.allocatable.get(resource, 0)
    taken = first.taken(resource)
    kept = first.reserved(resource)
    if whole - taken - kept != free or not (taken or kept):
        return scale(free)
    parts = scale.bare(whole)
    if taken:
        parts += f" - {scale.bare(taken)} for DaemonSets"
    if kept:
        parts += f" - {scale.bare(kept)} reserved"
    return f"({parts})"
