"""Kueue's search for the domains of a pod set, in its own order: greedy, level by level, without backtracking.

If an exact packing exists but this search does not find it, Kueue does not admit the workload.

Source: Kueue 0.19 `findTopologyAssignment` in `pkg/cache/scheduler/tas_flavor_snapshot.go`, with default feature gates.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.cluster.pods import Amounts
    from qcheck.schedulers.kueue.topology_tree import Ask, Leaf, TopologyDomain, TopologyTree


class FoundDomains(Value):
    """Leaves with the number of pods in each, in the order of their values; `leader` is the leaf of the leader."""

    pods: tuple[tuple[Leaf, int], ...]
    leader: tuple[tuple[Leaf, int], ...] = ()


class NotFound(Value):
    """The number of `wanted` units (slices, or pods if a slice is one pod) that fit."""

    fit: int
    wanted: int


def search(tree: TopologyTree, ask: Ask, usage: Mapping[str, Amounts]) -> FoundDomains | NotFound:
    """Place the pods of `ask` beside what `usage` already takes."""
    tree.fill(ask, usage)
    start = _start(tree, ask, ask.level)
    if isinstance(start, NotFound):
        return start
    level, chosen = start
    return _descend(tree, ask, level, chosen)


def _descend(tree: TopologyTree, ask: Ask, level: int, chosen: list[TopologyDomain]) -> FoundDomains:
    """Go down from the domains of a level to leaves: jointly above the slice level, separately below it."""
    lowest = len(tree.levels) - 1
    leaders = int(ask.leader is not None)
    chosen = _spread(ask, chosen, ask.count, leaders, ask.slice_size, by_slice=True)
    while level < min(lowest, ask.slice_level):
        below = _by_capacity(ask, [c for d in chosen for c in d.children])
        chosen = _spread(ask, below, ask.count, leaders, ask.slice_size, by_slice=True)
        level += 1
    while level < lowest:
        unit = ask.inner.get(level + 1, 1) if level >= ask.slice_level else ask.slice_size
        chosen = [leaf for domain in chosen for leaf in _within(ask, domain, unit)]
        level += 1
    return _result(ask, chosen)


def _within(ask: Ask, domain: TopologyDomain, unit: int) -> list[TopologyDomain]:
    below = _by_capacity(ask, domain.children)
    if unit > 1:
        for each in below:
            each.slices = each.pods // unit
            each.slices_with_leader = each.pods_with_leader // unit
    return _spread(ask, below, domain.pods, domain.leaders, unit, by_slice=unit > 1)


def _result(ask: Ask, chosen: list[TopologyDomain]) -> FoundDomains:
    chosen = sorted(chosen, key=lambda d: d.values)
    pods = tuple((d.leaf, d.pods) for d in chosen if d.leaf is not None and d.pods > 0)
    if ask.leader is None:
        return FoundDomains(pods)
    return FoundDomains(pods, tuple((d.leaf, d.leaders) for d in chosen if d.leaf is not None and d.leaders > 0))


def _start(tree: TopologyTree, ask: Ask, level: int) -> tuple[int, list[TopologyDomain]] | NotFound:
    """Return the level at which the search begins and the domains that together hold everything."""
    wanted, leaders = ask.count // ask.slice_size, int(ask.leader is not None)
    if not tree.by_level[level]:
        return NotFound(0, wanted)
    ranked = _by_capacity_with_leader(ask, tree.by_level[level])
    top = ranked[0]
    if not ask.least_free and top.slices_with_leader >= wanted and top.leaders >= leaders:
        top = _tightest(ranked, wanted, leaders, by_slice=True)
    if ask.least_free:
        for each in ranked:
            held = each.slices_with_leader if leaders else each.slices
            if each.leaders >= leaders and held >= wanted:
                return level, [each]
    if top.slices_with_leader >= wanted and top.leaders >= leaders:
        return level, [top]
    if ask.required:
        return NotFound(top.slices, wanted)
    if level > 0 and not ask.unconstrained:
        return _start(tree, ask, level - 1)
    return _several(ask, level, ranked)


def _several(ask: Ask, level: int, ranked: list[TopologyDomain]) -> tuple[int, list[TopologyDomain]] | NotFound:
    """Take domains one after the other, those with the leader first, until all slices have one."""
    wanted = left = ask.count // ask.slice_size
    leaders_left = int(ask.leader is not None)
    chosen: list[TopologyDomain] = []
    ranked = _leader_first(ranked, ask.count, leaders_left, ask.slice_size, by_slice=True)
    at = 0
    while leaders_left > 0 and at < len(ranked) and ranked[at].leaders > 0:
        domain = ranked[at]
        if not ask.least_free and domain.slices_with_leader >= left:
            domain = _tightest(ranked[at:], left, leaders_left, by_slice=True)
        chosen.append(domain)
        leaders_left -= domain.leaders
        left -= domain.slices_with_leader
        at += 1
    if leaders_left > 0:
        return NotFound(0, wanted)
    rest = _by_capacity(ask, ranked[at:])
    for index, domain in enumerate(rest):
        if left <= 0:
            break
        if not ask.least_free and domain.slices >= left:
            domain = _tightest(rest[index:], left, 0, by_slice=True)
        chosen.append(domain)
        left -= domain.slices
    return NotFound(wanted - left, wanted) if left > 0 else (level, chosen)


def _tightest(domains: list[TopologyDomain], needed: int, leaders: int, by_slice: bool) -> TopologyDomain:
    """Return the first of the domains that hold `needed` with the least to spare; the very first if none does."""
    best: tuple[int, TopologyDomain] | None = None
    for each in domains:
        if each.leaders < leaders:
            continue
        held = _held(each, leaders > 0, by_slice)
        if held >= needed and (best is None or held < best[0]):
            best = (held, each)
    return domains[0] if best is None else best[1]


def _held(domain: TopologyDomain, with_leader: bool, by_slice: bool) -> int:
    if by_slice:
        return domain.slices_with_leader if with_leader else domain.slices
    return domain.pods_with_leader if with_leader else domain.pods


def _leader_first(
    domains: list[TopologyDomain], count: int, leaders: int, unit: int, by_slice: bool
) -> list[TopologyDomain]:
    """Return the domains with the one first whose leader takes up no needed room."""
    if leaders == 0 or len(domains) < 2:
        return domains
    needed = count // unit if by_slice else count
    available = sum(_held(d, False, by_slice) for d in domains)
    for at, domain in enumerate(domains):
        lost = _held(domain, False, by_slice) - _held(domain, True, by_slice)
        if domain.leaders >= leaders and available - lost >= needed:
            return [domain, *domains[:at], *domains[at + 1 :]]
    return domains


def _spread(
    ask: Ask, domains: list[TopologyDomain], count: int, leaders: int, unit: int, by_slice: bool
) -> list[TopologyDomain]:
    """Give the pods to the domains in order; each domain's counts become what it gets.

    The result is empty if they do not hold everything: the pods then have no place although the search continued.
    """
    domains = _leader_first(domains, count, leaders, unit, by_slice)
    left, leaders_left = (count // unit if by_slice else count), leaders
    size = unit if by_slice else 1
    given: list[TopologyDomain] = []
    for at, domain in enumerate(domains):
        with_leader = leaders_left > 0
        fits = _held(domain, with_leader, by_slice) >= left and (domain.leaders >= leaders_left or not with_leader)
        if not ask.least_free and fits:
            domain = _tightest(domains[at:], left, leaders_left, by_slice)
        held = _held(domain, with_leader, by_slice)
        given.append(domain)
        if held >= left and (domain.leaders >= leaders_left or not with_leader):
            _give(domain, left, leaders_left, size, by_slice)
            return given
        took = min(held, left)
        led = min(domain.leaders, leaders_left)
        _give(domain, took, led, size, by_slice)
        left -= took
        leaders_left -= led
    return []


def _give(domain: TopologyDomain, units: int, leaders: int, size: int, by_slice: bool) -> None:
    domain.pods = units * size
    domain.leaders = leaders
    if by_slice:
        domain.slices = units


def _by_capacity(ask: Ask, domains: list[TopologyDomain]) -> list[TopologyDomain]:
    """Return domains by most slices (fewest if `least_free`), then fewest pods, then name."""
    sign = 1 if ask.least_free else -1
    return sorted(domains, key=lambda d: (sign * d.slices, d.pods, d.values))


def _by_capacity_with_leader(ask: Ask, domains: list[TopologyDomain]) -> list[TopologyDomain]:
    sign = 1 if ask.least_free else -1
    return sorted(domains, key=lambda d: (-d.leaders, sign * d.slices_with_leader, d.pods_with_leader, d.values))
