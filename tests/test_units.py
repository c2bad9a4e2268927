"""Amounts as people read them: exact where it is short, comparable, and never misleading."""

from __future__ import annotations

import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcheck.cli import entrypoint
from qcheck.cluster.units import IN_PROSE, IN_SUMS, IN_TABLES, name_amount, scale_of, show_amount, show_amounts

GIB, TIB = 2**30, 2**40
FLEET = Path(__file__).parent.parent / "fixtures" / "clusters" / "research-fleet"


@pytest.mark.parametrize(
    ("resource", "amount", "shown"),
    [
        ("cpu", 1_516_000, "1516 cores"),
        ("cpu", 1000, "1 core"),
        ("cpu", 47_810, "47.81 cores"),
        ("cpu", 0, "0 cores"),
        ("cpu", -1500, "-1.5 cores"),
        ("memory", 3 * TIB // 2, "1.5 TiB"),
        ("memory", 36_024 * GIB, "36024 GiB"),
        ("memory", 512 * GIB, "512 GiB"),
        ("memory", 1_953_125_000 * 1024, "2 TB"),
        ("memory", 379_751_432_193, "~353.67 GiB"),
        ("hugepages-1Gi", 16 * GIB, "16 GiB"),
        ("nvidia.com/gpu", 152, "152"),
        ("nvidia.com/gpu", Fraction(144, 7), "~20.57"),
        ("nvidia.com/gpu", 10**300, "1e300"),
        ("nvidia.com/gpu", 2**64 - 2, "18446744073709551614"),
        ("cpu", 10**300, "1e297 cores"),
    ],
)
def test_one_amount(resource: str, amount: int | Fraction, shown: str) -> None:
    assert show_amount(resource, amount) == shown


def test_the_resource_is_named_where_the_unit_does_not_tell() -> None:
    assert name_amount("cpu", 12_000) == "12 cores"
    assert name_amount("memory", 64 * GIB) == "64 GiB of memory"
    assert name_amount("nvidia.com/gpu", 8) == "8 nvidia.com/gpu"


def test_amounts_that_are_compared_have_one_unit() -> None:
    assert show_amounts("memory", 34 * TIB, 36_024 * GIB) == ("34816 GiB", "36024 GiB")
    assert show_amounts("memory", 2 * 10**12, 1900 * GIB) == ("2 TB", "~2.04 TB")


def test_a_difference_is_never_rounded_away() -> None:
    amounts = (Fraction(152), Fraction(15_199, 100), Fraction(15_199_999, 100_000))
    scale = scale_of("nvidia.com/gpu", amounts, IN_TABLES)
    assert [scale(a) for a in amounts] == ["152", "151.99", "151.99999"]


def test_what_is_small_beside_the_others_keeps_a_unit_of_its_own() -> None:
    amounts = (12 * TIB + 1, 76 * 2**20)
    scale = scale_of("memory", amounts, IN_TABLES)
    assert [scale(a) for a in amounts] == ["12 TiB", "76 MiB"]


AMOUNTS = st.lists(st.integers(-(2**50), 2**50), min_size=1, max_size=6)
SOME = st.sampled_from(["cpu", "memory", "nvidia.com/gpu"])


@given(SOME, AMOUNTS)
def test_sums_in_messages_are_exact(resource: str, amounts: list[int]) -> None:
    scale = scale_of(resource, amounts, IN_SUMS)
    assert sum(Fraction(scale.bare(a)) for a in amounts) * scale.size == sum(amounts)


@given(SOME, AMOUNTS, st.sampled_from([IN_TABLES, IN_PROSE]))
def test_equal_looks_mean_equal_amounts(resource: str, amounts: list[int], room: int) -> None:
    scale = scale_of(resource, amounts, room)
    shown = {scale.bare(a) for a in amounts if scale.bare(a).lstrip("~-") != "0"}
    assert len(shown) == len({a for a in amounts if scale.bare(a).lstrip("~-") != "0"})
    assert all(scale(a).partition(" ")[0].lstrip("~-") != "0" for a in amounts if a)


@pytest.mark.parametrize("command", ["check", "capacity", "shares", "suggest"])
def test_no_command_prints_hundreds_of_digits(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(FLEET, tmp_path, dirs_exist_ok=True)
    quotas = tmp_path / "queues" / "reserved.yaml"
    quotas.write_text(quotas.read_text().replace("nominalQuota: 80,", 'nominalQuota: "1e300",'))
    assert entrypoint.run([command, str(tmp_path)]) in (0, 1)
    assert not re.search(r"[0-9]{40}", capsys.readouterr().out)
