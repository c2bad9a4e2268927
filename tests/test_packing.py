"""The packing engine against its slow twin, and the answers it must never give."""

from __future__ import annotations

import sys

import pytest
from brute_packing import (
    fits_by_trying,
    gangs_fit_by_trying,
    most_blocked,
    some_gangs,
    some_question,
)

from qcheck.packing.adversary import pods_to_block, worst_case
from qcheck.packing.candidate_weights import first_certificate
from qcheck.packing.domains import Domain
from qcheck.packing.gangs import Gang, GangQuestion, pack_gangs
from qcheck.packing.linear import relax
from qcheck.packing.proof_text import explain
from qcheck.packing.proposals import propose
from qcheck.packing.question import Cases, DoesNotFit, Fits, Nodes, Placement, Pods, Question, Weights
from qcheck.packing.solve import certificate_holds, solve, witness_holds
from qcheck.packing.spread import SpreadDomain, Spreading, placed_evenly

SOME = range(1_600)
MANY = range(1_600, 22_000)


def compare(seed: int) -> None:
    question = some_question(seed)
    answer, truth = solve(question), fits_by_trying(question)
    assert isinstance(answer, Fits if truth else DoesNotFit), seed
    if isinstance(answer, DoesNotFit):
        assert explain(question, answer.certificate)


def compare_gangs(seed: int) -> None:
    question = some_gangs(seed)
    answer, posed = pack_gangs(question)
    assert isinstance(answer, Fits if gangs_fit_by_trying(question) else DoesNotFit), seed
    if isinstance(answer, DoesNotFit):
        assert explain(posed, answer.certificate)


def test_small_questions_are_answered_as_by_trying_everything() -> None:
    for seed in SOME:
        compare(seed)


def test_small_gang_questions_are_answered_as_by_trying_everything() -> None:
    for seed in SOME[:400]:
        compare_gangs(seed)


@pytest.mark.slow
def test_many_small_questions() -> None:
    for seed in MANY:
        compare(seed)


@pytest.mark.slow
def test_many_small_gang_questions() -> None:
    for seed in MANY[:8_000]:
        compare_gangs(seed)


def test_the_relaxation_alone_never_contradicts_the_truth() -> None:
    for seed in SOME[:200]:
        question = some_question(seed)
        relaxed = relax(question)
        if relaxed.certificate is not None:
            assert certificate_holds(question, relaxed.certificate), seed
            assert not fits_by_trying(question), seed


def test_the_worst_neighbours_can_do_is_found_exactly() -> None:
    for seed in range(150):
        question = some_question(seed * 4 + 2)
        nodes = tuple(Nodes(n.label, n.free, min(n.count, 2)) for n in question.nodes)[:2]
        large, small = question.pods[0].request, {next(iter(question.pods[0].request)): 1 + seed % 2}
        for pods in range(4):
            found = worst_case(nodes, large, small, pods)
            assert found.exact
            assert found.slots == most_blocked(nodes, large, small, pods), (seed, pods)


def test_blocking_everything_takes_as_many_as_the_worst_case_says() -> None:
    nodes = (Nodes("a", {"gpu": 8}, 3), Nodes("b", {"gpu": 4}, 2))
    enough = pods_to_block(nodes, {"gpu": 4}, {"gpu": 1})
    assert enough == 3 * 5 + 2 * 1
    assert worst_case(nodes, {"gpu": 4}, {"gpu": 1}, enough).slots == 0
    assert worst_case(nodes, {"gpu": 4}, {"gpu": 1}, enough - 1).slots == 1
    assert pods_to_block(nodes, {"gpu": 4}, {"cpu": 1}) is None


def test_large_pools_are_judged_by_what_is_certain() -> None:
    nodes = (Nodes("pool", {"gpu": 8}, 4_000),)
    found = worst_case(nodes, {"gpu": 2}, {"gpu": 1}, 4_000)
    assert not found.exact
    assert found.slots == 12_000


HUGE = 2**63 - 1


def test_huge_nodes_take_no_longer_than_small_ones() -> None:
    """Pods are never counted one by one."""
    nodes = (Nodes("pool", {"gpu": HUGE, "cpu": HUGE}, HUGE),)
    assert worst_case(nodes, {"gpu": 2}, {"gpu": 1}, 4).slots <= HUGE * (HUGE // 2)
    assert pods_to_block(nodes, {"gpu": 2}, {"gpu": 1}) == HUGE * (HUGE - 1)
    asked = (Pods("a", {"gpu": 2, "cpu": 3}, HUGE), Pods("b", {"gpu": 3, "cpu": 2}, HUGE))
    assert isinstance(solve(Question(nodes, asked)), Fits)
    [room] = Question(nodes[:1], asked).rooms
    assert room.best((7, 6)).value <= room.best((7, 6)).bound
    assert room.fillings(400) is None
    one_each = tuple(Pods(p.label, p.request, 1) for p in asked)
    gangs = (Gang("both", one_each, HUGE), Gang("first", one_each[:1], HUGE))
    packed, _ = pack_gangs(GangQuestion((Domain("rack", "rack", 1, nodes),), gangs))
    assert not isinstance(packed, DoesNotFit)


@pytest.mark.parametrize("wanted", range(8))
def test_pods_that_spread_take_turns(wanted: int) -> None:
    question = Question((Nodes("a", {"gpu": 2}, 1), Nodes("b", {"gpu": 3}, 2)), (Pods("p", {"gpu": 1}, wanted),))
    found = Spreading(tuple(SpreadDomain(((at, nodes),), pods) for at, nodes, pods in ((0, 1, 2), (1, 2, 5))))
    placed = [0, 0]
    for put in placed_evenly(question, found):
        placed[put.node] += put.filling[0] * put.times
    assert placed == [min(2, (wanted + 1) // 2), wanted - min(2, (wanted + 1) // 2)]
    assert witness_holds(question, placed_evenly(question, found))


def crossed(nodes_of_a: int = 1) -> Question:
    """Class A holds {a, b} or {c, d}, class B {a, c} or {b, d}: halves of each would do, whole nodes do not."""
    together = {"A": ("ab", "cd"), "B": ("ac", "bd")}
    pairs = ["ab", "ac", "ad", "bc", "bd", "cd"]
    nodes = tuple(
        Nodes(name, {p: 2 if p in allowed else 1 for p in pairs}, nodes_of_a if name == "A" else 1)
        for name, allowed in together.items()
    )
    pods = tuple(Pods(letter, {p: 1 for p in pairs if letter in p}, 1) for letter in "abcd")
    return Question(nodes, pods)


def test_where_no_weights_prove_it_the_cases_do() -> None:
    answer = solve(crossed())
    assert isinstance(answer, DoesNotFit)
    assert isinstance(answer.certificate, Cases)
    assert explain(crossed(), answer.certificate).startswith(
        "some node must hold a a pod; when it is full, it is one of: (1) A"
    )
    assert isinstance(solve(crossed(2)), Fits)


def test_an_incomplete_list_of_cases_proves_nothing() -> None:
    answer = solve(crossed())
    assert isinstance(answer, DoesNotFit)
    assert isinstance(answer.certificate, Cases)
    shortened = Cases(answer.certificate.pod, answer.certificate.cases[1:])
    assert not certificate_holds(crossed(), shortened)


def test_false_proofs_are_refused() -> None:
    question = Question((Nodes("n", {"gpu": 8}, 2),), (Pods("p", {"gpu": 4}, 4),))
    assert witness_holds(question, [Placement(0, (2,), 2)])
    assert not witness_holds(question, [Placement(0, (2,), 3)])
    assert not witness_holds(question, [Placement(0, (4,), 1)])
    assert not witness_holds(question, [Placement(0, (2,), 1)])
    assert not certificate_holds(question, Weights((1,), (2,), ((2,),)))
    assert not certificate_holds(question, Weights((1,), (1,), ((1,),)))
    assert not certificate_holds(question, Weights((-1,), (-9,), ((0,),)))


def test_what_nobody_asks_for_fits_nowhere_and_everywhere() -> None:
    assert isinstance(solve(Question((), ())), Fits)
    assert isinstance(solve(Question((), (Pods("p", {"gpu": 1}, 0),))), Fits)
    assert isinstance(solve(Question((), (Pods("p", {}, 1),))), DoesNotFit)
    assert isinstance(solve(Question((Nodes("n", {}, 1),), (Pods("p", {}, 5),))), Fits)
    assert first_certificate(Question((), ())) is None


def test_thousands_of_nodes_are_a_handful_of_classes() -> None:
    nodes = tuple(Nodes(f"class {c}", {"gpu": 7 + c % 2, "cpu": 90_000 + 1_000 * c}, 500) for c in range(10))
    sizes = (1, 2, 3, 4, 5, 6, 7, 8)
    pods = tuple(Pods(f"{s} GPUs", {"gpu": s, "cpu": 11_500 * s}, 1_000) for s in sizes)
    answer = solve(Question(nodes, pods))
    assert isinstance(answer, Fits)
    too_many = tuple(Pods(p.label, p.request, p.count + 120) for p in pods)
    assert isinstance(solve(Question(nodes, too_many)), DoesNotFit)


def test_a_proposal_of_the_solver_is_verified() -> None:
    pytest.importorskip("highspy")
    proposed = 0
    for seed in SOME[:120]:
        question = some_question(seed)
        witness = propose(question)
        if witness is not None and witness_holds(question, witness):
            assert fits_by_trying(question), seed
            proposed += 1
    assert proposed


def test_without_the_solver_nothing_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert propose(crossed(2)) is None
