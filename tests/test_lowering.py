"""The least that quota must be lowered by: compared with trying every amount of every cell."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.cluster.place import Place
from qcheck.documents.load import load
from qcheck.quota.dividing import divided
from qcheck.quota.fewest import FewestQuestion, fewest
from qcheck.quota.lowering import Adjustable, GroupCapacity, in_units, lowerings
from qcheck.quota.solver import proposed_counts
from qcheck.quota.tree import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACE = Place(load("a: 1\n", "queues.yaml").documents[0], ())
POOLS, GROUPS = ("p", "q"), ("g", "h")


def adjustable(number: int, pool: str, promised: int, floor: int | None) -> Adjustable:
    cell = Cell(
        pool=pool,
        resource="nvidia.com/gpu",
        promised=promised,
        entitled=promised,
        lendable=0,
        limit=None,
        holder=f"queue-{number}",
        place=PLACE,
        name_place=PLACE,
    )
    return Adjustable(cell, floor)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Adjustable], GroupCapacity]:
    cells = []
    for number in range(draw(st.integers(1, 4))):
        promised = draw(st.integers(1, 5))
        floor = draw(st.one_of(st.none(), st.integers(0, promised)))
        cells.append(adjustable(number, draw(st.sampled_from(POOLS)), promised, floor))
    reach = {p: dict.fromkeys(draw(st.lists(st.sampled_from(GROUPS), min_size=1, unique=True))) for p in POOLS}
    return cells, GroupCapacity(reach, {g: draw(st.integers(0, 6)) for g in GROUPS})


def fits(cells: Sequence[Adjustable], room: GroupCapacity, amounts: Sequence[int]) -> bool:
    wanted: dict[str, int] = {}
    for each, amount in zip(cells, amounts, strict=True):
        wanted[each.cell.pool] = wanted.get(each.cell.pool, 0) + amount
    return room.met(wanted) == sum(amounts)


def best(cells: Sequence[Adjustable], room: GroupCapacity) -> tuple[int, int] | None:
    """How many cells change and how much is taken, by trying all amounts; None where no amounts fit."""
    ranges = [[c.cell.promised] if c.floor is None else range(c.floor, c.cell.promised + 1) for c in cells]
    found = [a for a in product(*ranges) if fits(cells, room, a)]
    costs = [
        (sum(c.cell.promised != n for c, n in zip(cells, a, strict=True)), sum(c.cell.promised for c in cells) - sum(a))
        for a in found
    ]
    return min(costs, default=None)


@settings(max_examples=300, deadline=None)
@given(cases())
def test_no_choice_of_fewer_cells_and_no_smaller_cut_would_do(case: tuple[list[Adjustable], GroupCapacity]) -> None:
    cells, room = case
    wanted = best(cells, room)
    first = next(lowerings(cells, room), None)
    if wanted is None or wanted == (0, 0):
        assert first is None
        return
    assert first is not None
    assert first.proved
    assert (len(first.amounts), first.taken) == wanted
    new = {id(c): n for c, n in first.amounts}
    assert fits(cells, room, [new.get(id(c.cell), c.cell.promised) for c in cells])
    assert all(n >= (c.floor or 0) for c in cells for cell, n in first.amounts if cell is c.cell)


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(1, 6))
def test_each_choice_equals_that_of_its_cells_alone_and_a_limit_keeps_the_first(
    case: tuple[list[Adjustable], GroupCapacity], most: int
) -> None:
    """Only the order of the cells may differ, because other cells of a pool rank between them."""
    cells, room = case
    every = list(lowerings(cells, room))
    assert list(lowerings(cells, room, most)) == every[:most]
    for found in every:
        chosen = {id(c) for c, _ in found.amounts}
        alone = [c if id(c.cell) in chosen else Adjustable(c.cell, None) for c in cells]
        again = next(lowerings(alone, room))
        assert {id(c): n for c, n in again.amounts} == {id(c): n for c, n in found.amounts}


def test_reserved_queues_yield_last() -> None:
    small, large = adjustable(0, "p", 4, 0), adjustable(1, "p", 8, 0)
    room = GroupCapacity({"p": {"g": None}}, {"g": 10})
    reserved = Adjustable(large.cell, 0, yields_last=True)
    assert [c.holder for c, _ in next(lowerings([small, reserved], room)).amounts] == ["queue-0"]
    assert [c.holder for c, _ in next(lowerings([small, large], room)).amounts] == ["queue-1"]


@given(st.integers(0, 50), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=5))
def test_a_total_is_divided_whole_by_weight_and_not_below_floors(total: int, parts: list[tuple[int, int]]) -> None:
    weights, floors = [w for w, _ in parts], [f for _, f in parts]
    amounts = divided(total, weights, floors)
    assert all(n >= f for n, f in zip(amounts, floors, strict=True))
    if any(weights) and sum(floors) <= total:
        assert sum(amounts) == total


@st.composite
def problems(draw: st.DrawFn) -> FewestQuestion:
    """Up to five pools that share up to four groups of nodes, with cells that can give all or a part."""
    groups = [f"g{n}" for n in range(draw(st.integers(1, 4)))]
    pools = [f"p{n}" for n in range(draw(st.integers(1, 5)))]
    some = st.lists(st.sampled_from(groups), min_size=1, unique=True)
    reach = {p: dict.fromkeys(draw(some)) for p in pools}
    rooms = {p: tuple(sorted(draw(st.lists(st.integers(1, 9), max_size=3)), reverse=True)) for p in pools}
    wanted = {p: sum(rooms[p]) + draw(st.integers(0, 3)) for p in pools}
    return FewestQuestion(wanted, rooms, reach, {g: draw(st.integers(0, 20)) for g in groups})


def fewest_by_trying(problem: FewestQuestion) -> int | None:
    every = product(*(range(len(problem.rooms[p]) + 1) for p in problem.pools))
    return min((sum(counts) for counts in every if not problem.excess(counts)), default=None)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_the_fewest_cells_are_those_that_trying_all_finds(problem: FewestQuestion) -> None:
    found = fewest(problem)
    assert found.proved
    assert {sum(c) for c in found.choices} == {fewest_by_trying(problem)} - {None}
    assert not any(problem.excess(c) for c in found.choices)


@settings(max_examples=100, deadline=None)
@given(problems())
def test_the_solver_agrees_with_the_search(problem: FewestQuestion) -> None:
    pytest.importorskip("highspy")
    found = fewest(problem)
    proposed = proposed_counts(problem.wanted, problem.rooms, problem.reach, problem.capacity)
    if found.choices:
        assert proposed is not None
        assert not problem.excess(proposed)
        assert sum(proposed) == sum(found.choices[0])
    else:
        assert proposed is None or problem.excess(proposed)


@settings(max_examples=100, deadline=None)
@given(problems())
def test_a_search_that_ends_early_finds_a_choice_and_proves_no_more_than_it_knows(problem: FewestQuestion) -> None:
    found, best = fewest(problem, most_expanded=0), fewest_by_trying(problem)
    assert bool(found.choices) == (best is not None)
    for counts in found.choices:
        assert not problem.excess(counts)
        assert best is not None
        assert sum(counts) >= best
        assert not found.proved or sum(counts) == best


def test_many_equal_cells_take_no_time_to_choose_from() -> None:
    cells = [adjustable(n, "p", 16, 0) for n in range(2000)]
    first = next(lowerings(cells, GroupCapacity({"p": {"g": None}}, {"g": 2000 * 16 - 100})))
    assert (len(first.amounts), first.taken, first.proved) == (7, 100, True)


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(1, 3))
def test_whole_units_are_met_and_no_more_than_the_exact_amounts(
    case: tuple[list[Adjustable], GroupCapacity], unit: int
) -> None:
    cells, room = case
    for found in lowerings(cells, room):
        whole = in_units(found, [unit] * len(found.amounts), cells, room)
        new = {id(c): n for c, n in whole.amounts}
        assert all(n % unit == 0 for n in new.values())
        assert fits(cells, room, [new.get(id(c.cell), c.cell.promised) for c in cells])
