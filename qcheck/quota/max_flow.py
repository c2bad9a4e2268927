"""Max-flow test whether demands fit into shared capacity, with the smallest set of demands that proves they do not.

By Hall's condition a set of pools that can only draw from certain groups is infeasible exactly when some subset demands
more than the groups that it reaches hold together. That subset, made as small as possible, is the proof.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Reach = Mapping[str, Mapping[str, int | None]]


class Overdraft(Value):
    """Pools that together demand more than the groups that they reach hold; no proper subset does."""

    pools: tuple[str, ...]
    groups: tuple[str, ...]
    wanted: int
    supply: int


def overdrafts(wanted: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> tuple[Overdraft, ...]:
    """Return the smallest violating set of each connected part.

    `wanted` and `capacity` are amounts by pool and group (None: unlimited); `reach[pool][group]` limits what a pool can
    draw from a group of which it selects only a part.
    """
    found = []
    for part in _parts(reach):
        demands = {f: wanted[f] for f in part}
        if all(_unlimited(f, reach, capacity) for f in part):
            continue
        if _shortfall(demands, reach, capacity):
            found.append(_smallest(demands, reach, capacity))
    return tuple(found)


def _unlimited(pool: str, reach: Reach, capacity: Mapping[str, int | None]) -> bool:
    return any(cap is None and capacity[g] is None for g, cap in reach[pool].items())


def _parts(reach: Reach) -> list[list[str]]:
    """Group pools that share node groups, directly or through others."""
    owner: dict[str, str] = {}

    def top(name: str) -> str:
        while owner.setdefault(name, name) != name:
            name = owner[name]
        return name

    for pool, groups in reach.items():
        for group in groups:
            owner[top("g:" + group)] = top("f:" + pool)
    parts: dict[str, list[str]] = {}
    for pool in sorted(reach):
        parts.setdefault(top("f:" + pool), []).append(pool)
    return list(parts.values())


def _smallest(demands: dict[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> Overdraft:
    """Drop pools one by one as long as the rest is still infeasible."""
    kept = dict(demands)
    for pool in sorted(demands, key=lambda f: (demands[f], f)):
        rest = {f: d for f, d in kept.items() if f != pool}
        if rest and _shortfall(rest, reach, capacity):
            kept = rest
    groups = sorted({g for f in kept for g in reach[f]})
    flow = sum(kept.values()) - _shortfall(kept, reach, capacity)
    return Overdraft(tuple(sorted(kept)), tuple(groups), sum(kept.values()), flow)


def _shortfall(demands: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> int:
    """Return how much of the demand cannot be met."""
    return sum(demands.values()) - sum(assign(demands, reach, capacity).values())


def assign(demands: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> dict[tuple[str, str], int]:
    """Return how much each pool draws from each group when as much demand as possible is met (augmenting paths)."""
    total = sum(demands.values())
    drawn: dict[tuple[str, str], int] = {}
    left = {g: (total if capacity[g] is None else capacity[g]) for f in demands for g in reach[f]}
    for pool, demand in demands.items():
        while demand > 0:
            path, amount = _augment(pool, demand, demands, reach, left, drawn)
            if amount == 0:
                break
            for (f, g), sign in path:
                drawn[f, g] = drawn.get((f, g), 0) + sign * amount
            last = path[-1][0][1]
            left[last] = (left[last] or 0) - amount
            demand -= amount
    return drawn


def _augment(
    pool: str,
    demand: int,
    demands: Iterable[str],
    reach: Reach,
    left: Mapping[str, int | None],
    drawn: Mapping[tuple[str, str], int],
) -> tuple[list[tuple[tuple[str, str], int]], int]:
    """Return the shortest path to serve more of `pool`, rerouting other pools to other groups."""
    came: dict[str, tuple[list[tuple[tuple[str, str], int]], int]] = {pool: ([], demand)}
    waiting = [pool]
    seen_groups: set[str] = set()
    while waiting:
        at = waiting.pop(0)
        path, amount = came[at]
        for group, cap in reach[at].items():
            room = amount if cap is None else min(amount, cap - drawn.get((at, group), 0))
            if room <= 0 or group in seen_groups:
                continue
            seen_groups.add(group)
            here = [*path, ((at, group), 1)]
            free = left[group] or 0
            if free > 0:
                return here, min(room, free)
            for other in demands:
                held = drawn.get((other, group), 0)
                if held > 0 and other not in came:
                    came[other] = ([*here, ((other, group), -1)], min(room, held))
                    waiting.append(other)
    return [], 0
