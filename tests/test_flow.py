"""Shared capacity: the flow against Hall's condition, tried on every subset."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcheck.quota import max_flow
from qcheck.quota.max_flow import assign, overdrafts

GROUPS = ["g0", "g1", "g2"]
capacities = st.fixed_dictionaries({g: st.integers(0, 8) for g in GROUPS})
flavors = st.lists(st.tuples(st.integers(0, 10), st.sets(st.sampled_from(GROUPS), min_size=1)), min_size=1, max_size=4)


def violated(wanted: dict[str, int], reach: dict[str, set[str]], capacity: dict[str, int]) -> list[set[str]]:
    """Every set of flavors that wants more than the groups it reaches hold."""
    names = sorted(wanted)
    subsets = [set(c) for n in range(1, len(names) + 1) for c in combinations(names, n)]
    return [
        s for s in subsets if sum(wanted[f] for f in s) > sum(capacity[g] for g in set().union(*(reach[f] for f in s)))
    ]


@given(flavors, capacities)
def test_overdrafts_are_the_smallest_proofs(drawn: list[tuple[int, set[str]]], capacity: dict[str, int]) -> None:
    wanted = {f"f{i}": w for i, (w, _) in enumerate(drawn)}
    reach = {f"f{i}": groups for i, (_, groups) in enumerate(drawn)}
    found = overdrafts(wanted, {f: dict.fromkeys(sorted(g), None) for f, g in reach.items()}, capacity)
    proofs = violated(wanted, reach, capacity)
    assert bool(found) == bool(proofs)
    for over in found:
        chosen = set(over.pools)
        assert chosen in proofs
        assert not any(p < chosen for p in proofs)
        assert over.supply == sum(capacity[g] for g in over.groups)
        assert over.wanted == sum(wanted[f] for f in chosen)
    for one, other in combinations(found, 2):
        assert not set(one.pools) & set(other.pools)
        assert len(other.pools) == 1 or len(one.pools) == 1 or not set(one.groups) & set(other.groups)
    alone = {f for f in wanted if {f} in proofs}
    assert alone <= {f for over in found for f in over.pools}


@given(flavors, capacities)
def test_the_last_demand_gets_what_the_others_leave(
    drawn: list[tuple[int, set[str]]], capacity: dict[str, int]
) -> None:
    wanted = {f"f{i}": w for i, (w, _) in enumerate(drawn)}
    reach = {f"f{i}": dict.fromkeys(sorted(groups), None) for i, (_, groups) in enumerate(drawn)}
    *others, last = wanted
    everything = assign(wanted, reach, capacity)
    without = assign({f: wanted[f] for f in others}, reach, capacity)
    assert sum(everything.values()) - sum(without.values()) == sum(a for (f, _), a in everything.items() if f == last)


def test_a_pool_without_demand_connects_nothing() -> None:
    reach = {"a": {"x": None}, "b": {"y": None}, "both": {"x": None, "y": None}}
    found = overdrafts({"a": 2, "b": 2, "both": 0}, reach, {"x": 1, "y": 1})
    assert [over.pools for over in found] == [("a",), ("b",)]


def test_independent_sets_are_found_together() -> None:
    reach = {f: dict.fromkeys(groups, None) for f, groups in (("a", "x"), ("b", "y"), ("c", "y"), ("all", "xyz"))}
    found = overdrafts({"a": 3, "b": 1, "c": 1, "all": 1}, reach, {"x": 2, "y": 1, "z": 9})
    assert [over.pools for over in found] == [("a",), ("b", "c")]
    found = overdrafts({"a": 3, "b": 2, "c": 2, "all": 20}, reach, {"x": 2, "y": 1, "z": 9})
    assert [over.pools for over in found] == [("all",), ("a",), ("c",), ("b",)]


def test_sets_of_the_same_nodes_are_one_cause() -> None:
    """Four flavors, any two of which exceed their nodes, give one finding."""
    (over,) = overdrafts(dict.fromkeys("abcd", 8), {f: {"g": None} for f in "abcd"}, {"g": 8})
    assert over.pools == ("c", "d")


def test_a_flavor_that_reaches_only_part_of_a_group() -> None:
    assert overdrafts({"a": 6}, {"a": {"g": 4}}, {"g": 10})[0].supply == 4
    assert not overdrafts({"a": 4, "b": 6}, {"a": {"g": 4}, "b": {"g": None}}, {"g": 10})


def test_no_ceiling_is_never_exceeded() -> None:
    assert not overdrafts({"a": 10**9}, {"a": {"g": None}}, {"g": None})


def test_searches_for_pools_that_share_their_nodes_grow_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = Counter[int]()
    search = max_flow._augment

    def counted(*args: Any) -> Any:
        searches[count] += 1
        return search(*args)

    monkeypatch.setattr(max_flow, "_augment", counted)
    for count in (50, 100):
        names = [f"f{i}" for i in range(count)]
        (over,) = overdrafts(dict.fromkeys(names, 2), {f: {"g": count} for f in names}, {"g": count})
        assert len(over.pools) == count // 2 + 1
    assert searches[100] <= 2.2 * searches[50]


def test_hundreds_of_pools_that_exceed_alone_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    reach = {f"p{n}": {f"g{n}": None} for n in range(500)}
    reach["all"] = dict.fromkeys((f"g{n}" for n in range(500)), None)
    monkeypatch.setattr(max_flow, "_smallest", None)
    found = overdrafts(dict.fromkeys(reach, 3), reach, {f"g{n}": 2 for n in range(500)})
    assert {over.pools for over in found} == {(f"p{n}",) for n in range(500)}
