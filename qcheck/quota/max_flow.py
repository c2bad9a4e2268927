"""Max-flow test whether demands fit into shared capacity, with the smallest set of demands that proves they do not.

By Hall's condition a set of pools that can only draw from certain groups is infeasible exactly when some subset demands
more than the groups that it reaches hold together. That subset, made as small as possible, is the proof.
"""

from __future__ import annotations

from collections import deque

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Reach = Mapping[str, Mapping[str, int | None]]


MOST_SETS = 12
"""The most sets of several pools that are looked for in one part: each takes a flow for every pool."""


class Overdraft(Value):
    """Pools that together demand more than the groups that they reach hold; no proper subset does."""

    pools: tuple[str, ...]
    groups: tuple[str, ...]
    wanted: int
    supply: int


def overdrafts(wanted: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> tuple[Overdraft, ...]:
    """Return each pool that demands too much alone, and smallest violating sets of several pools with no common groups.

    These are found for each part that is connected by pools with a demand, at most `MOST_SETS`.
    `wanted` and `capacity` are amounts by pool and group (None: unlimited); `reach[pool][group]` limits what a pool can
    draw from a group of which it selects only a part.
    """
    parts = _limited_parts(wanted, reach, capacity)
    return tuple(over for demands, alike in parts for over in _independent(demands, alike, reach, capacity))


def first_overdrafts(
    wanted: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]
) -> tuple[Overdraft, ...]:
    """Return only one smallest violating set of each part."""
    parts = _limited_parts(wanted, reach, capacity)
    return tuple(
        _smallest(demands, alike, reach, capacity)
        for demands, alike in parts
        if _shortfall(_sums(demands, alike), reach, capacity)
    )


def _limited_parts(
    wanted: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]
) -> Iterator[tuple[dict[str, int], dict[str, str]]]:
    """Yield the demands of each connected part with a limit, and its equivalent pools."""
    for part in _parts({f: groups for f, groups in reach.items() if wanted[f]}):
        if any(_supply(f, reach, capacity) is not None for f in part):
            yield {f: wanted[f] for f in part}, _alike(part, reach, capacity)


def _independent(
    demands: dict[str, int], alike: Mapping[str, str], reach: Reach, capacity: Mapping[str, int | None]
) -> Iterator[Overdraft]:
    """Yield the violating sets of a part, those of single pools first, which need no search."""
    rest = demands
    for pool in sorted(demands, key=lambda f: (demands[f], f), reverse=True):
        supply = _supply(pool, reach, capacity)
        if supply is not None and demands[pool] > supply:
            yield Overdraft((pool,), tuple(sorted(reach[pool])), demands[pool], supply)
            rest = _without(rest, reach[pool], reach)
    for _ in range(MOST_SETS):
        if not rest or not _shortfall(_sums(rest, alike), reach, capacity):
            return
        over = _smallest(rest, alike, reach, capacity)
        yield over
        rest = _without(rest, over.groups, reach)


def _without(demands: dict[str, int], groups: Iterable[str], reach: Reach) -> dict[str, int]:
    """Return the demands of pools that reach none of some groups."""
    taken = set(groups)
    return {pool: demand for pool, demand in demands.items() if taken.isdisjoint(reach[pool])}


def _supply(pool: str, reach: Reach, capacity: Mapping[str, int | None]) -> int | None:
    """Return the most that a pool can draw alone; None if that is unlimited."""
    total = 0
    for group, cap in reach[pool].items():
        known = [n for n in (cap, capacity[group]) if n is not None]
        if not known:
            return None
        total += min(known)
    return total


def _parts(reach: Reach) -> list[list[str]]:
    """Group pools that share node groups, directly or through others."""
    owner: dict[str, str] = {}

    def top(name: str) -> str:
        root = name
        while owner.setdefault(root, root) != root:
            root = owner[root]
        owner[name] = root
        return root

    for pool, groups in reach.items():
        for group in groups:
            owner[top("f:" + pool)] = top("g:" + group)
    parts: dict[str, list[str]] = {}
    for pool in sorted(reach):
        parts.setdefault(top("f:" + pool), []).append(pool)
    return list(parts.values())


def _alike(pools: list[str], reach: Reach, capacity: Mapping[str, int | None]) -> dict[str, str]:
    """Return for each pool the first one like it: both reach the same groups, of which they can draw everything.

    Only the sum of their demands matters.
    """
    first: dict[frozenset[str], str] = {}
    return {f: first.setdefault(frozenset(reach[f]), f) if _is_whole(reach[f], capacity) else f for f in pools}


def _is_whole(reached: Mapping[str, int | None], capacity: Mapping[str, int | None]) -> bool:
    """Return whether a pool's limits are at least what the groups hold."""
    return all(cap is None or ((held := capacity[g]) is not None and cap >= held) for g, cap in reached.items())


def _sums(demands: Mapping[str, int], alike: Mapping[str, str]) -> dict[str, int]:
    """Return the demands of pools that are alike as one."""
    sums: dict[str, int] = {}
    for pool, demand in demands.items():
        sums[alike[pool]] = sums.get(alike[pool], 0) + demand
    return sums


def _smallest(
    demands: dict[str, int], alike: Mapping[str, str], reach: Reach, capacity: Mapping[str, int | None]
) -> Overdraft:
    """Drop pools one by one as long as the rest is still infeasible."""
    kept, sums = dict(demands), _sums(demands, alike)
    for pool in sorted(demands, key=lambda f: (demands[f], f)):
        rest = {**sums, alike[pool]: sums[alike[pool]] - demands[pool]}
        if len(kept) > 1 and _shortfall(rest, reach, capacity):
            sums = rest
            del kept[pool]
    groups = sorted({g for f in kept for g in reach[f]})
    flow = sum(kept.values()) - _shortfall(sums, reach, capacity)
    return Overdraft(tuple(sorted(kept)), tuple(groups), sum(kept.values()), flow)


def _shortfall(demands: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> int:
    """Return how much of the demand cannot be met."""
    return sum(demands.values()) - sum(assign(demands, reach, capacity).values())


def assign(demands: Mapping[str, int], reach: Reach, capacity: Mapping[str, int | None]) -> dict[tuple[str, str], int]:
    """Return how much each pool draws from each group when as much demand as possible is met (augmenting paths)."""
    total = sum(demands.values())
    left = {g: (total if (held := capacity[g]) is None else held) for f in demands for g in reach[f]}
    drawn: dict[str, dict[str, int]] = {g: {} for g in left}
    full: set[str] = set()
    for pool, demand in demands.items():
        while demand > 0:
            path, amount = _augment(pool, demand, reach, left, drawn, full)
            if amount == 0:
                break
            for f, g, sign in path:
                drawn[g][f] = drawn[g].get(f, 0) + sign * amount
            left[path[-1][1]] -= amount
            demand -= amount
    return {(pool, group): amount for group, pools in drawn.items() for pool, amount in pools.items()}


def _augment(
    pool: str,
    demand: int,
    reach: Reach,
    left: Mapping[str, int],
    drawn: Mapping[str, Mapping[str, int]],
    full: set[str],
) -> tuple[list[tuple[str, str, int]], int]:
    """Return the shortest path to serve more of `pool`, rerouting other pools to other groups, and the amount.

    `left` is what each group still holds, `drawn` what each pool draws from it. A step of the path is a pool, a group,
    and 1 where the pool draws more from it, -1 where it draws less. `full` are groups that earlier searches reached
    without success: no later rerouting leads out of them. A search without success adds its own.
    """
    came: dict[str, tuple[list[tuple[str, str, int]], int]] = {pool: ([], demand)}
    waiting = deque([pool])
    seen_groups: set[str] = set()
    while waiting:
        at = waiting.popleft()
        path, amount = came[at]
        for group, cap in reach[at].items():
            room = amount if cap is None else min(amount, cap - drawn[group].get(at, 0))
            if room <= 0 or group in seen_groups or group in full:
                continue
            seen_groups.add(group)
            here = [*path, (at, group, 1)]
            if left[group] > 0:
                return here, min(room, left[group])
            for other, held in drawn[group].items():
                if held > 0 and other not in came:
                    came[other] = ([*here, (other, group, -1)], min(room, held))
                    waiting.append(other)
    full |= seen_groups
    return [], 0
