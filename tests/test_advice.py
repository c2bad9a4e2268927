"""The help for a rejected value names the field and, if the API server states them, the accepted values."""

from __future__ import annotations

import pytest

from qcheck.kinds.schema.advice import advice


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Unsupported value: "a: b": supported values: "Never", "Lower", "Any"', "set f to Never, Lower or Any"),
        ('Unsupported value: "x": supported operators: "Equal" (default), "Exists"', "set f to Equal or Exists"),
        ('Unsupported value: "x": supported values: "cluster"', "set f to cluster"),
        ("Unsupported value: must be [A], [B], or both", "change f: it must be [A], [B], or both"),
        ("Invalid value: -1: should be greater than or equal to 0", "set f to 0 or more"),
        ("Invalid value: 300: should be less than or equal to 100", "set f to 100 or less"),
        ("Invalid value: 1.5: must be of type integer, not number", "change f to an integer"),
        ('Invalid value: "a: must be b": must be a name', "change f: it must be a name"),
        ("Too many: 20: must have at most 16 items", "keep at most 16 of f"),
        ("Too long: has 300 characters, may not be more than 253", "shorten f to at most 253 characters"),
        ("Required value", "add f"),
        ('Duplicate value: "a"', "remove f, or give it a unique value"),
        ("Forbidden: may not be set together with g", "remove f, or meet the condition in the message"),
        ("Invalid value: reclaim and borrow cannot be combined", "correct f as the message describes"),
    ],
)  # fmt: skip
def test_help_names_the_field_and_what_is_accepted(text: str, expected: str) -> None:
    assert advice("f", text) == expected
