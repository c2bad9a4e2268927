"""Worked examples: what fits where, in numbers that can be checked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from qcheck.packing.adversary import pods_to_block, worst_case
from qcheck.packing.domains import (
    Domain,
    Slice,
    at_level,
    capacity,
    gangs_per_domain,
    largest_gang,
)
from qcheck.packing.fragmentation import (
    expected_fragment,
    fragmentation_rate,
    per_accelerator,
    placeable,
    stranded,
)
from qcheck.packing.gangs import Gang, GangQuestion, pack_gangs
from qcheck.packing.proof_text import explain
from qcheck.packing.question import DoesNotFit, Fits, Nodes, Pods, Question
from qcheck.packing.solve import solve

GPU = "nvidia.com/gpu"
GI = 2**30


def gpus(number: int) -> dict[str, int]:
    return {GPU: number}


def fits(nodes: tuple[Nodes, ...], *pods: Pods) -> bool:
    answer = solve(Question(nodes, pods))
    assert isinstance(answer, Fits | DoesNotFit)
    return isinstance(answer, Fits)


def proof(nodes: tuple[Nodes, ...], *pods: Pods) -> str:
    question = Question(nodes, pods)
    answer = solve(question)
    assert isinstance(answer, DoesNotFit)
    return explain(question, answer.certificate)


class TestOneDaemonSetGpuPerNode:
    """16 nodes of 8 GPUs, of which a DaemonSet takes one each: 112 are free."""

    nodes = (Nodes("h100", gpus(7), 16),)

    @pytest.mark.parametrize(("size", "pods"), [(8, 0), (7, 16), (4, 16), (2, 48), (1, 112)])
    def test_placeable(self, size: int, pods: int) -> None:
        assert placeable(self.nodes, gpus(size)) == pods

    def test_eight_gpu_pods_find_no_node(self) -> None:
        assert fragmentation_rate(self.nodes, gpus(8), GPU) == 1
        assert proof(self.nodes, Pods("trainer", gpus(8), 1)) == (
            "16 nodes of h100 hold none (nvidia.com/gpu: 7 free, 8 asked): room for 0 trainer pods, 1 is needed"
        )

    def test_seventeen_four_gpu_pods_are_one_too_many(self) -> None:
        assert fits(self.nodes, Pods("worker", gpus(4), 16))
        assert proof(self.nodes, Pods("worker", gpus(4), 17)) == (
            "16 nodes of h100 hold at most 1 each (nvidia.com/gpu: 7 free, 2 x 4 = 8 needed for 2): "
            "room for 16 worker pods, 17 are needed"
        )
        assert [(s.amount, s.by) for s in stranded(self.nodes, gpus(4), GPU)] == [(48, "remainder")]

    def test_four_and_two_and_one_use_them_all(self) -> None:
        assert fits(self.nodes, *(Pods(str(s), gpus(s), 16) for s in (4, 2, 1)))
        assert not fits(self.nodes, *(Pods(str(s), gpus(s), 16 + (s == 1)) for s in (4, 2, 1)))

    @pytest.mark.parametrize(
        ("free", "fragments"),
        [(8, (0, 0, 0)), (7, (7, Fraction(7, 2), Fraction(7, 4))), (6, (6, 3, Fraction(3, 2))), (4, (4, 2, 1))],
    )
    def test_expected_fragment(self, free: int, fragments: tuple[Fraction, ...]) -> None:
        mixes = ([8], [8, 1], [8, 4, 2, 1])
        node = [Nodes("node", gpus(free), 1)]
        found = [expected_fragment(node, [(Pods(str(s), gpus(s), 1), 1) for s in mix], GPU) for mix in mixes]
        assert tuple(found) == fragments
        assert expected_fragment(self.nodes, [(Pods("8", gpus(8), 1), 1)], GPU) == 112


class TestCoresRunOut:
    """Nodes of 8 GPUs, 92 cores and 980 GiB."""

    node = {GPU: 8, "cpu": 92_000, "memory": 980 * GI}

    @pytest.mark.parametrize(
        ("gpu", "cpu", "gib", "pods", "left", "by"),
        [
            (1, 11, 120, 8, 0, None), (1, 12, 120, 7, 1, "cpu"), (1, 14, 0, 6, 2, "cpu"), (1, 16, 0, 5, 3, "cpu"),
            (1, 24, 240, 3, 5, "cpu"), (2, 24, 240, 3, 2, "cpu"), (4, 48, 480, 1, 4, "cpu"), (8, 96, 900, 0, 8, "cpu"),
        ],
    )  # fmt: skip
    def test_pods_per_node(self, gpu: int, cpu: int, gib: int, pods: int, left: int, by: str | None) -> None:
        request = {GPU: gpu, "cpu": cpu * 1000, "memory": gib * GI}
        nodes = (Nodes("node", self.node, 1),)
        assert placeable(nodes, request) == pods
        assert [(s.amount, s.by) for s in stranded(nodes, request, GPU)] == ([(left, by)] if left else [])

    def test_the_sum_of_cores_is_not_enough(self) -> None:
        nodes, request = (Nodes("a100", self.node, 10),), {GPU: 1, "cpu": 14_000}
        assert 61 * 14 <= 10 * 92
        assert fits(nodes, Pods("p", request, 60))
        assert proof(nodes, Pods("p", request, 61)) == (
            "10 nodes of a100 hold at most 6 each (cpu: 92 cores free, 7 x 14 cores = 98 cores needed for 7): "
            "room for 60 p pods, 61 are needed"
        )

    def test_what_strands_nothing(self) -> None:
        assert per_accelerator(self.node, GPU, "cpu") == 11_500
        assert (per_accelerator(self.node, GPU, "memory") or 0) // GI == 122
        assert per_accelerator({"cpu": 1}, GPU, "cpu") is None


class TestUnlikeNodesBehindOneFlavor:
    nodes = (Nodes("h100", gpus(8), 8), Nodes("a100", gpus(4), 10), Nodes("l4", gpus(1), 12))

    @pytest.mark.parametrize(("size", "pods"), [(8, 8), (4, 26), (1, 116)])
    def test_placeable(self, size: int, pods: int) -> None:
        assert placeable(self.nodes, gpus(size)) == pods

    def test_the_big_pods_leave_too_few_slots(self) -> None:
        assert 8 * 8 + 11 * 4 <= 116
        assert fits(self.nodes, Pods("big", gpus(8), 8), Pods("mid", gpus(4), 10))
        assert proof(self.nodes, Pods("big", gpus(8), 8), Pods("mid", gpus(4), 11)) == (
            "8 x 8 (big) + 11 x 4 (mid) = 108 nvidia.com/gpu are needed, but 8 nodes of h100 can supply at most 8 each, "
            "10 nodes of a100 can supply at most 4 each, 12 nodes of l4 can supply at most 0 each: 104"
        )


class TestNeighbours:
    nodes = (Nodes("h100", gpus(8), 16),)

    @pytest.mark.parametrize(
        ("pods", "eights", "fours", "twos"),
        [(0, 16, 32, 64), (4, 12, 28, 60), (8, 8, 24, 56), (16, 0, 16, 48), (32, 0, 12, 40)],
    )
    def test_slots_left(self, pods: int, eights: int, fours: int, twos: int) -> None:
        left = [worst_case(self.nodes, gpus(size), gpus(1), pods) for size in (8, 4, 2)]
        assert [b.slots for b in left] == [eights, fours, twos]
        assert all(b.exact for b in left)

    def test_pods_without_gpus_block_as_well(self) -> None:
        nodes = (Nodes("h100", {GPU: 8, "cpu": 92_000}, 16),)
        large, small = {GPU: 8, "cpu": 64_000}, {"cpu": 16_000}
        assert [worst_case(nodes, large, small, n).slots for n in (8, 16, 32)] == [12, 8, 0]
        assert pods_to_block(nodes, large, small) == 32


def racks(trays: int, count: int = 1) -> tuple[Domain, ...]:
    return (Domain("rack", "gb200", count, (Nodes("tray", gpus(4), trays),)),)


class TestRacksOfEighteenTrays:
    @pytest.mark.parametrize(
        ("members", "gangs", "idle"),
        [(2, 9, 0), (4, 4, 2), (6, 3, 0), (8, 2, 2), (9, 2, 0), (12, 1, 6), (16, 1, 2), (18, 1, 0)],
    )
    def test_gangs_of_whole_nodes(self, members: int, gangs: int, idle: int) -> None:
        assert gangs_per_domain(racks(18)[0], gpus(4), members) == gangs
        assert 18 - gangs * members == idle

    def test_one_tray_down(self) -> None:
        assert [gangs_per_domain(racks(17)[0], gpus(4), m) for m in (9, 18)] == [1, 0]
        assert largest_gang(racks(17), gpus(4)) == 17

    @pytest.mark.parametrize(
        ("sizes", "count", "fit"),
        [
            ({12: 2, 4: 3}, 2, False),
            ({12: 2, 4: 3}, 3, True),
            ({10: 3}, 2, False),
            ({10: 3}, 3, True),
            ({12: 2, 6: 2}, 2, True),
        ],
    )
    def test_gangs_of_several_sizes(self, sizes: dict[int, int], count: int, fit: bool) -> None:
        gangs = tuple(Gang(f"{m} nodes", (Pods("tray", gpus(4), m),), n) for m, n in sizes.items())
        answer, _ = pack_gangs(GangQuestion(racks(18, count), gangs, "rack"))
        assert isinstance(answer, Fits if fit else DoesNotFit)

    def test_the_proof_counts_in_domains(self) -> None:
        gangs = (Gang("ten", (Pods("tray", gpus(4), 10),), 3),)
        answer, posed = pack_gangs(GangQuestion(racks(18, 2), gangs, "rack"))
        assert isinstance(answer, DoesNotFit)
        assert explain(posed, answer.certificate) == (
            "2 racks of gb200 hold at most 1 each (pods of tray: 18 free, 2 x 10 = 20 needed for 2): "
            "room for 2 ten gangs, 3 are needed"
        )

    def test_a_leader_takes_the_room_of_a_worker(self) -> None:
        leader, workers = Pods("leader", {GPU: 1, "cpu": 8_000}, 1), Pods("worker", {GPU: 4, "cpu": 8_000}, 18)
        rack = (Domain("rack", "gb200", 1, (Nodes("tray", {GPU: 4, "cpu": 64_000}, 18),)),)
        answer, posed = pack_gangs(GangQuestion(rack, (Gang("lws", (leader, workers), 1),), "rack"))
        assert isinstance(answer, DoesNotFit)
        assert explain(posed, answer.certificate) == (
            "1 rack of gb200 holds none (1 x 1 (leader) + 18 x 4 (worker) = 73 nvidia.com/gpu are needed, but "
            "18 nodes of tray can supply at most 4 each: 72): room for 0 lws gangs, 1 is needed"
        )


class TestSlices:
    """A block of three racks with 18, 18 and 17 trays."""

    block = Domain("block", "b", 1, parts=(*racks(18, 2), *racks(17)))

    def test_each_level_rounds_down(self) -> None:
        assert capacity(self.block, gpus(4)) == 53
        assert capacity(self.block, gpus(4), (Slice("rack", 6),)) == 8
        assert capacity(self.block, gpus(4), (Slice("rack", 9),)) == 5

    def test_a_gang_is_whole_slices(self) -> None:
        assert gangs_per_domain(self.block, gpus(4), 45, (Slice("rack", 9),)) == 1
        assert gangs_per_domain(self.block, gpus(4), 54, (Slice("rack", 9),)) == 0
        assert gangs_per_domain(self.block, gpus(4), 16, (Slice("rack", 8),)) == 3

    def test_racks_are_found_in_their_blocks(self) -> None:
        blocks = (Domain("block", "b", 4, parts=racks(18, 2)),)
        assert sum(d.count for d in at_level(blocks, "rack")) == 8
        assert [n.count for n in blocks[0].all_nodes()] == [36]


def test_quota_in_units_of_nodes() -> None:
    nodes = (Nodes("h100", gpus(8), 16),)
    assert [divmod(quota, 8) for quota in (60, 120)] == [(7, 4), (15, 0)]
    assert fits(nodes, Pods("a", gpus(8), 7), Pods("b", gpus(8), 7))


def test_weights_are_explained_with_an_example() -> None:
    nodes = (Nodes("n", gpus(10), 4),)
    shown = proof(nodes, Pods("six", gpus(6), 2), Pods("five", gpus(5), 5))
    assert "count each six as" in shown or "of nvidia.com/gpu" in shown


def test_pods_that_are_not_eligible_are_named() -> None:
    nodes = (Nodes("a", gpus(8), 2), Nodes("b", gpus(8), 9))
    assert proof(nodes, Pods("p", gpus(8), 3, frozenset({0}))) == (
        "2 nodes of a hold at most 1 each (nvidia.com/gpu: 8 free, 2 x 8 = 16 needed for 2), "
        "9 nodes of b hold none (not eligible): room for 2 p pods, 3 are needed"
    )
