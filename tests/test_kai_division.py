"""KAI's division: the shares that it gives, and what holds for every level."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcheck.cluster.kai import Dimension
from qcheck.schedulers.kai.division import UNLIMITED, Claim, divide
from qcheck.schedulers.kai.hierarchy import Hierarchy, HierarchyQueue, Share
from qcheck.schedulers.kai.history import Window


def claim(queue: str, quota: float = 0, weight: float = 1, limit: float = UNLIMITED, **more: float) -> Claim:
    request = more.pop("request", 1000.0)
    return Claim(queue=queue, quota=quota, limit=limit, weight=weight, request=request, **more)  # type: ignore[arg-type]


CASES: list[tuple[str, float, list[Claim], float, dict[str, float]]] = [
    ("surplus by weight", 40, [claim("a", 4, 3), claim("b", 4, 1)], 1, {"a": 28, "b": 12}),
    (
        "quotas beyond the total are kept",
        40,
        [claim("a", 30), claim("b", 30), claim("c")],
        1,
        {"a": 30, "b": 30, "c": 0},
    ),
    ("no weight, no surplus", 40, [claim("a", 4, 0), claim("b", 0, 0)], 1, {"a": 4, "b": 0}),
    ("a limit of 0 blocks", 40, [claim("a", 4, 1, 0), claim("b")], 1, {"a": 0, "b": 40}),
    ("a limit below the request", 40, [claim("a", 0, 1, 6), claim("b")], 1, {"a": 6, "b": 34}),
    ("unlimited quota takes the total", 40, [claim("a", -1), claim("b", 8)], 1, {"a": 40, "b": 8}),
    ("no more than is asked for", 40, [claim("a", request=5), claim("b")], 1, {"a": 5, "b": 35}),
    ("the high priority first", 10, [claim("a", priority=200), claim("b")], 1, {"a": 10, "b": 0}),
    ("the older queue gets the odd unit", 5, [claim("a", created=2), claim("b", created=1)], 1, {"a": 2, "b": 3}),
    ("then the name decides", 5, [claim("b"), claim("a")], 1, {"a": 3, "b": 2}),
    ("past use lowers a share", 40, [claim("a", usage=0.75), claim("b", usage=0.25)], 1, {"a": 10, "b": 30}),
    ("k of 0 ignores the past", 40, [claim("a", usage=0.75), claim("b", usage=0.25)], 0, {"a": 20, "b": 20}),
    ("a negative k is 0", 40, [claim("a", usage=0.75), claim("b", usage=0.25)], -2, {"a": 20, "b": 20}),
    ("heavy use loses all surplus", 40, [claim("a", usage=1.0), claim("b")], 1, {"a": 0, "b": 40}),
    ("the last unit ignores the request", 1, [claim("a", request=0.7), claim("b", request=0.7)], 1, {"a": 1, "b": 0}),
]


@pytest.mark.parametrize(("total", "claims", "k", "shares"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_shares(total: float, claims: list[Claim], k: float, shares: dict[str, float]) -> None:
    assert divide(total, claims, k) == shares


def test_units_left_by_rounding_go_down_a_priority_first() -> None:
    claims = [claim(name, priority=200) for name in "abc"] + [claim("d")]
    assert divide(8, claims, 1) == {"a": 2, "b": 2, "c": 2, "d": 2}


amounts = st.integers(0, 20).map(float)
levels = st.lists(
    st.builds(
        Claim,
        queue=st.uuids().map(str),
        quota=st.sampled_from([0.0, 1.0, 2.5, 8.0]),
        limit=st.one_of(st.just(UNLIMITED), amounts),
        weight=st.sampled_from([0.0, 1.0, 2.0, 3.0]),
        request=amounts,
        usage=st.sampled_from([0.0, 0.125, 0.25, 0.5]),
        priority=st.sampled_from([50, 100]),
        created=st.sampled_from([0.0, 1.0]),
    ),
    max_size=6,
    unique_by=lambda c: c.queue,
)


@given(levels, amounts, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_no_share_exceeds_request_or_limit_by_a_unit(claims: list[Claim], total: float, k: float) -> None:
    for queue, share in divide(total, claims, k).items():
        asked = next(c for c in claims if c.queue == queue)
        assert 0 <= share < asked.requestable + 1


@given(levels, amounts, st.sampled_from([0.0, 1.0]))
def test_shares_above_the_total_are_quotas_only(claims: list[Claim], total: float, k: float) -> None:
    deserved = sum(min(c.quota, c.requestable) for c in claims)
    assert sum(divide(total, claims, k).values()) <= max(total, deserved) + 1e-9


@given(levels, amounts, st.randoms(use_true_random=False))
def test_the_order_of_the_queues_does_not_matter(claims: list[Claim], total: float, random: object) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = divide(total, claims, 1.0), divide(total, shuffled, 1.0)
    assert all(math.isclose(one[queue], other[queue], abs_tol=1e-9) for queue in one)


def member(name: str, parent: str = "", quota: float = 0, weight: float = 1, limit: float = -1) -> HierarchyQueue:
    return HierarchyQueue(
        name=name, parent=parent, terms={Dimension.GPU: Share(quota=quota, limit=limit, weight=weight)}
    )


def gpu_shares(tree: Hierarchy, total: float, usage: dict[str, float] | None = None) -> dict[str, float]:
    requests = {name: {Dimension.GPU: 1000.0} for name in tree.queues if not tree.children(name)}
    past = {name: {Dimension.GPU: used} for name, used in (usage or {}).items()}
    shares = tree.fair_shares({Dimension.GPU: total}, requests, past, 1.0)
    return {name: each[Dimension.GPU] for name, each in shares.items()}


def test_children_divide_the_share_of_their_parent() -> None:
    tree = Hierarchy([member("x", weight=3), member("y"), member("x1", "x"), member("x2", "x", weight=2)])
    assert gpu_shares(tree, 40) == {"x": 30, "y": 10, "x1": 10, "x2": 20}


def test_quotas_of_children_are_not_bounded_by_the_parent() -> None:
    tree = Hierarchy([member("x", quota=4, weight=0), member("x1", "x", quota=8), member("x2", "x", quota=8)])
    assert gpu_shares(tree, 16) == {"x": 4, "x1": 8, "x2": 8}


def test_a_missing_parent_drops_the_subtree() -> None:
    tree = Hierarchy([member("a"), member("b", "gone"), member("c", "b")])
    assert gpu_shares(tree, 8) == {"a": 8}


def test_a_cycle_of_parents_gets_nothing() -> None:
    tree = Hierarchy([member("a", "b"), member("b", "a"), member("c")])
    assert gpu_shares(tree, 8) == {"a": 0, "b": 0, "c": 8}


def test_usage_is_the_part_of_the_capacity_in_the_window() -> None:
    samples = [{"a": 8.0}, {"a": 4.0, "b": 4.0}, {"b": 8.0}]
    assert Window(size=2).usage(samples, 8.0) == {"a": 0.25, "b": 0.75}
    assert Window(size=10, half_life=1.0).usage(samples, 8.0) == {"a": 2 / 7, "b": 5 / 7}
    assert Window(size=2).usage([], 8.0) == {}
    assert Window(size=3, half_life=1e30).weights(1, 3) == 3
