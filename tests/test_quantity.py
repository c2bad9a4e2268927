"""Quantities: the values, canonical forms and refusals of the API server."""

import pytest

from qcheck.cluster.quantity import NANO, QuantityError, amount, integer, parse_quantity, whole

VALUES = {
    "1": (NANO, "1"), "8": (8 * NANO, "8"), "100m": (NANO // 10, "100m"),
    "1000m": (NANO, "1"), "1.5": (3 * NANO // 2, "1500m"),
    "1.5Gi": (1536 * 2**20 * NANO, "1536Mi"), "1024Mi": (2**30 * NANO, "1Gi"), "0.5Mi": (2**19 * NANO, "512Ki"),
    "1000": (1000 * NANO, "1k"), "12000m": (12 * NANO, "12"), "1E6": (10**6 * NANO, "1e6"), "1e3": (1000 * NANO, "1e3"),
    "1E": (10**18 * NANO, "1E"), "12E": (12 * 10**18 * NANO, "12E"), ".5": (NANO // 2, "500m"), "1.": (NANO, "1"),
    "0": (0, "0"), "-1": (-NANO, "-1"), "512": (512 * NANO, "512"), "8Ei": ((2**63 - 1) * NANO, str(2**63 - 1)),
    "0.000000000001Ki": (2, "2n"), "64m": (64 * 10**6, "64m"), "1n": (1, "1n"),
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_value_and_canonical_form(text: str) -> None:
    quantity = parse_quantity(text)
    assert (quantity.nanos, quantity.canonical) == VALUES[text]


@pytest.mark.parametrize(
    "text",
    ["", "K", "1K", "1ki", "1KB", "8 Gi", "1_000", "1,000", "0x10", "Inf", "1e", "+", ".", "1GiB", "1e999999999"],
)
def test_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


def test_amounts_round_up_to_base_units() -> None:
    assert amount("cpu", parse_quantity("0.0001")) == 1
    assert amount("nvidia.com/gpu", parse_quantity("500m")) == 1
    assert amount("memory", parse_quantity("400m")) == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5), ("-5", -5), ("+5", 5), ("005", 5), ("0" * 5000 + "7", 7), (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)), (str(2**63), None), ("1" * 5000, None), ("1_0", None), (" 1", None), ("\u0661", None),
        ("-+1", None), ("", None), ("-", None), ("1e3", None),
    ],
)  # fmt: skip
def test_integers_in_labels_are_those_of_go(text: str, number: int | None) -> None:
    assert integer(text) == number
    assert whole(text) == (number if text[:1].isdigit() else None)
