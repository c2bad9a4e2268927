"""Max-flow test whether demands fit into shared capacity, with the smallest set of demands that proves they do not.

By Hall's condition a set of pools that can only draw from certain groups is infeasible exactly when some subset demands
more than the groups that it reaches hold together. That subset, made as small as possible, is the proof.
"""

from __future__ import annotations

from collections import deque

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    left = {g: (total if (held := capacity[g]) is None else held) for f in demands for g in reach[f]}
    drawn: dict[str, dict[str, int]] = {g: {} for g in left}
    for pool, demand in demands.items():
        while demand > 0:
            path, amount = _augment(pool, demand, reach, left, drawn)
            if amount == 0:
                break
            for f, g, sign in path:
                drawn[g][f] = drawn[g].get(f, 0) + sign * amount
            left[path[-1][1]] -= amount
            demand -= amount
    return {(pool, group): amount for group, pools in drawn.items() for pool, amount in pools.items()}


def _augment(
    pool: str, demand: int, reach: Reach, left: Mapping[str, int], drawn: Mapping[str, Mapping[str, int]]
) -> tuple[list[tuple[str, str, int]], int]:
    """Return the shortest path to serve more of `pool`, rerouting other pools to other groups, and the amount.

    `left` is what each group still holds, `drawn` what each pool draws from it. A step of the path is a pool, a group,
    and 1 where the pool draws more from it, -1 where it draws less.
    """
    came: dict[str, tuple[list[tuple[str, str, int]], int]] = {pool: ([], demand)}
    waiting = deque([pool])
    seen_groups: set[str] = set()
    while waiting:
        at = waiting.popleft()
        path, amount = came[at]
        for group, cap in reach[at].items():
            room = amount if cap is None else min(amount, cap - drawn[group].get(at, 0))
            if room <= 0 or group in seen_groups:
                continue
            seen_groups.add(group)
            here = [*path, (at, group, 1)]
            if left[group] > 0:
                return here, min(room, left[group])
            for other, held in drawn[group].items():
                if held > 0 and other not in came:
                    came[other] = ([*here, (other, group, -1)], min(room, held))
                    waiting.append(other)
    return [], 0
