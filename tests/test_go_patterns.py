"""Patterns in manifests match as Go's `regexp` does, and no pattern takes exponential time."""

from __future__ import annotations

import re

import pytest

from qcheck.cluster.durations import go_seconds, is_long_duration
from qcheck.kinds.go_patterns import fault, matcher
from qcheck.kinds.schema.formats import DURATION

LONG = "a" * 50_000


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", ["a", "a.b-c"], ["", "-a", "a..b", "A"]),
        (r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", ["1h30m", "1.5s"], ["1", "h"]),
        ("a$", ["a"], ["a\n"]),
        (r"^\d\w\s$", ["3_ "], ["٣a ", "3é ", "3a\u00a0", "3a\v"]),
        (r"^[^\d]\D$", ["ab", "٣٣"], ["a1"]),
        ("^[[:alpha:]_]$", ["a", "_"], ["é", ":", "["]),
        (r"^\p{Greek}\pL\p{^L}$", ["λa1"], ["aa1", "λaa"]),
        ("^[a&&b~~[]$", ["&", "~", "[", "a", "b"], ["c"]),
        ("^[+--]$", ["+", ",", "-"], ["."]),
        ("^[]a-]$", ["]", "a", "-"], ["b"]),
        (r"^\Qa.b\E{,5}$", ["a.b{,5}"], ["axb{,5}"]),
        (r"^\x{41}\x42\103\/\_\<$", ["ABC/_<"], ["abc/_<"]),
        (r"\bgpu\b", ["a gpu", "égpu"], ["gpus"]),
        ("^(?i)[a-z]+$", ["AbC"], ["a1"]),
        ("(?P<1st>a)(?<b>b)", ["ab"], ["ba"]),
        ("^.$", ["\ud800", "\U0001f600"], ["ab", "\n"]),
    ],
)
def test_matches_as_go_does(pattern: str, matching: list[str], others: list[str]) -> None:
    test = matcher(pattern)
    assert test is not None
    assert [t for t in [*matching, *others] if test(t)] == matching


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|aa)+$", "^(a*)*b", "(a?){50}a{50}$", "^([a-z]+)*!$", "(.*)*x"])
def test_takes_linear_time(pattern: str) -> None:
    test = matcher(pattern)
    assert test is not None
    assert not test(LONG + "@")


@pytest.mark.parametrize("pattern", ["*-gpu", "gpu-[0-3", "(a", r"\1", "(?=a)", "[z-a]"])
def test_reports_patterns_that_go_rejects(pattern: str) -> None:
    assert matcher(pattern) is None
    assert fault(pattern)


@pytest.mark.parametrize("pattern", [r"\C", r"\p{Cs}", "((a{1000}){1000}){1000}"])
def test_syntax_that_the_engine_lacks_is_not_a_fault(pattern: str) -> None:
    assert matcher(pattern) is None
    assert fault(pattern) is None


def test_long_durations_take_linear_time() -> None:
    digits = "9" * 300_000
    assert not is_long_duration(digits)
    assert re.fullmatch(DURATION, digits) is None
    assert go_seconds("2562047h47m16.854775807s") == go_seconds("9223372036854775807ns")
    assert go_seconds("9223372036854775808ns") is None
    assert go_seconds("-9223372036854775808ns") is not None
