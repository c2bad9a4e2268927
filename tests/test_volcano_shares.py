"""What Volcano's queues get when they are busy."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_cases import RULES

from qcheck.answers.shares import shares
from qcheck.pipeline.gather import gather
from qcheck.quota.shares import NO_USAGE, Demand, QueueShare
from qcheck.schedulers.volcano.surplus import Claimant, divide
from qcheck.settings import Settings

GPU = "nvidia.com/gpu"
ALL_BUSY = Demand()


def in_case(rule: str, case: str, demand: Demand = ALL_BUSY) -> dict[str, QueueShare]:
    folder = next(RULES.glob(f"{rule}-*")) / case
    (cluster,) = gather([str(folder)], Settings()).clusters
    (pool,) = [p for p in shares(cluster, demand, NO_USAGE) if p.resource == GPU]
    assert (pool.scheduler, pool.pool, pool.tree, pool.total) == ("volcano", "all", "root", 32)
    return {q.queue: q for q in pool}


def claim(name: str, deserved: int, most: int, priority: int = 0, below: tuple[Claimant, ...] = ()) -> Claimant:
    return Claimant(name=name, deserved=Fraction(deserved), most=Fraction(most), priority=priority, below=below)


def test_weights_divide_and_bound() -> None:
    found = in_case("QC963", "fail-starves")
    assert [(q.share, q.entitled, q.limit) for q in found.values()] == [
        (Fraction(144, 5), Fraction(144, 5), 32),
        (Fraction(16, 5), Fraction(16, 5), 32),
    ]
    assert [n.code for n in found["small"].notes] == ["starves"]


def test_an_idle_queue_keeps_what_it_is_entitled_to_and_gets_nothing() -> None:
    found = in_case("QC963", "fail-starves", Demand(busy=frozenset({"small"})))
    assert (found["big"].share, found["small"].share) == (0, 32)
    assert found["small"].entitled == Fraction(16, 5)


def test_deserved_amounts_beyond_the_nodes_shrink_alike_and_a_queue_without_any_gets_none() -> None:
    found = in_case("QC952", "fail-three-leaves")
    assert [q.share for q in found.values()] == [Fraction(96, 5), Fraction(64, 5), 0]
    assert [q.parent for q in found.values()] == ["org", "org", "org"]
    assert found["a"].reclaimable.amount == 24
    assert found["c"].notes[0].code == "no-deserved"


def test_without_reclaim_nothing_comes_back() -> None:
    folder = next(RULES.glob("QC955-*")) / "fail-no-reclaim"
    (cluster,) = gather([str(folder)], Settings()).clusters
    for pool in shares(cluster, ALL_BUSY, NO_USAGE):
        assert all(q.reclaimable.amount == 0 for q in pool)


@pytest.mark.parametrize(
    ("total", "claimants", "expected"),
    [
        (30, (claim("a", 10, 99), claim("b", 5, 99)), {"a": 20, "b": 10}),
        (30, (claim("a", 10, 99), claim("b", 5, 99), claim("free", 0, 99)), {"a": 10, "b": 5, "free": 15}),
        (30, (claim("a", 10, 4), claim("b", 5, 99)), {"a": 4, "b": 26}),
        (12, (claim("a", 10, 99), claim("b", 5, 99)), {"a": 8, "b": 4}),
        (30, (claim("low", 10, 99), claim("high", 10, 15, priority=1)), {"low": 15, "high": 15}),
        (
            30,
            (claim("org", 20, 24, below=(claim("x", 5, 99), claim("y", 5, 4))), claim("b", 10, 99)),
            {"org": 20, "b": 10, "x": 16, "y": 4},
        ),
    ],
)
def test_the_rest_goes_by_priority_and_to_those_that_deserve_nothing(
    total: int, claimants: tuple[Claimant, ...], expected: dict[str, int]
) -> None:
    assert divide(Fraction(total), claimants) == expected


CLAIMS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(0, 2)), min_size=1, max_size=6)


@given(st.integers(0, 40), CLAIMS)
@settings(max_examples=150, deadline=None)
def test_nothing_is_left_that_somebody_may_take(total: int, drawn: list[tuple[int, int, int]]) -> None:
    claimants = tuple(claim(f"q{i}", deserved, most, priority) for i, (deserved, most, priority) in enumerate(drawn))
    found = divide(Fraction(total), claimants)
    assert all(0 <= found[c.name] <= c.most for c in claimants)
    assert sum(found.values()) == min(total, sum(c.most for c in claimants))
    if sum(min(c.deserved, c.most) for c in claimants) <= total:
        assert all(found[c.name] >= min(c.deserved, c.most) for c in claimants)
