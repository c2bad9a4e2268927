"""MIG geometry: which layouts a GPU can hold."""

from __future__ import annotations

import pytest

from qcheck.cluster.mig import families_like, is_possible, placements, profiles
from qcheck.documents.load import load
from qcheck.kinds.mig import read_layouts
from qcheck.packing.mig import MigQuestion
from qcheck.packing.proof_text import explain
from qcheck.packing.question import DoesNotFit, Fits
from qcheck.packing.solve import solve

A100 = placements("A100", 40)
POSSIBLE: list[dict[str, int]] = [
    {"4g.20gb": 1, "3g.20gb": 1}, {"3g.20gb": 2}, {"2g.10gb": 2, "3g.20gb": 1},
    {"1g.5gb": 2, "2g.10gb": 1, "3g.20gb": 1}, {"4g.20gb": 1, "2g.10gb": 1, "1g.5gb": 1},
    {"3g.20gb": 1, "1g.5gb": 4}, {"1g.10gb": 4}, {"1g.5gb": 7}, {"7g.40gb": 1}, {"1g.5gb+me": 1, "1g.5gb": 6},
]  # fmt: skip
IMPOSSIBLE: list[dict[str, int]] = [
    {"4g.20gb": 2}, {"3g.20gb": 2, "1g.5gb": 1}, {"3g.20gb": 3}, {"4g.20gb": 1, "2g.10gb": 1, "1g.5gb": 2}, {"1g.5gb": 8},
    {"7g.40gb": 1, "1g.5gb": 1}, {"1g.5gb": 2**63 - 1}, {"1g.5gb+me": 2}, {"3g.40gb": 1},
]  # fmt: skip


@pytest.mark.parametrize("layout", POSSIBLE, ids=str)
def test_possible(layout: dict[str, int]) -> None:
    assert is_possible(layout, A100)


@pytest.mark.parametrize("layout", IMPOSSIBLE, ids=str)
def test_impossible(layout: dict[str, int]) -> None:
    assert not is_possible(layout, A100)


def test_the_most_instances_of_each_profile() -> None:
    most = {"1g.5gb": 7, "1g.10gb": 4, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 1, "7g.40gb": 1}
    assert profiles("A100", 40) == most
    assert profiles("A100 PCIe", 40) == most
    assert profiles("A30", None) == {"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1}
    assert profiles("L4", None) == {}


def test_product_names() -> None:
    assert families_like("NVIDIA-A100-SXM4-40GB") == [("A100", 40)]
    assert families_like("NVIDIA-H100-80GB-HBM3") == [("H100", 80)]
    assert families_like("NVIDIA-H100-NVL") == [("H100 NVL", 94)]
    assert families_like("NVIDIA-A30") == [("A30", 24)]
    assert families_like("A100") == [("A100", 40), ("A100", 80)]
    assert families_like("NVIDIA-L4") == []


def test_eight_gpus_share_the_instances() -> None:
    def ask(threes: int, ones: int) -> MigQuestion:
        return MigQuestion("A100 40 GB", 8, {"3g.20gb": threes, "1g.5gb": ones}, A100)

    assert isinstance(solve(ask(8, 32)), Fits)
    answer = solve(ask(8, 33))
    assert isinstance(answer, DoesNotFit)
    assert "8 GPUs of A100 40 GB carry at most" in explain(ask(8, 33), answer.certificate)
    single = MigQuestion("A100 40 GB", 8, {"3g.20gb": 17}, A100)
    answer = solve(single)
    assert isinstance(answer, DoesNotFit)
    assert explain(single, answer.certificate) == (
        "8 GPUs of A100 40 GB hold at most 2 each (3g.20gb takes 4 memory slices, starting at 0 or 4): "
        "room for 16 3g.20gb instances, 17 are needed"
    )


def test_a_count_of_any_size_is_judged() -> None:
    question = MigQuestion("A100 40 GB", 2, {"1g.5gb": 2**63 - 1, "3g.20gb": 1}, A100)
    assert isinstance(solve(question), DoesNotFit)


def test_a_text_that_is_yaml_for_itself_has_no_layouts() -> None:
    documents = load(
        "kind: ConfigMap\ndata:\n  config.yaml: |\n    mig-configs:- a\n      training:- b\n", "x.yaml"
    ).documents
    assert read_layouts(documents) == ()
