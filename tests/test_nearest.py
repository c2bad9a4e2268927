"""Suggestions: the nearest name by edit distance, and none where several are as near."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qcheck.cluster.did_you_mean import MOST_COMPARED, distance, nearest
from qcheck.findings.catalogue import load_catalogue


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("h1OO", ["h100", "l40s"], "h100"),
        ("team-b", ["team-a", "team-c"], None),
        ("reseved", ["reserved", "shared"], "reserved"),
        ("ReclaimWithinCohort", ["reclaimWithinCohort", "borrowWithinCohort"], "reclaimWithinCohort"),
        ("gpu", ["nvidia.com/gpu"], None),
        ("abc", [], None),
    ],
)
def test_the_nearest_name(word: str, names: list[str], meant: str | None) -> None:
    assert nearest(word, names) == meant


def test_an_id_that_is_like_several_suggests_none() -> None:
    assert nearest("QC999", load_catalogue()) is None


def test_distances() -> None:
    assert [distance(*pair) for pair in (("ab", "ba"), ("", "abc"), ("kitten", "sitting"))] == [1, 3, 3]


WORDS = st.text("abc-1", max_size=9)


def table(one: str, other: str) -> int:
    """The same distance by the table that defines it."""
    rows: list[list[int]] = [[*range(len(other) + 1)]]
    for i, letter in enumerate(one, 1):
        rows.append([i])
        for j, theirs in enumerate(other, 1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == theirs:
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i].append(best)
    return rows[-1][-1]


@given(WORDS, WORDS)
def test_distances_are_those_of_the_table(one: str, other: str) -> None:
    assert distance(one, other) == table(one, other)


@given(WORDS.filter(bool), st.lists(WORDS, max_size=30))
def test_among_many_names_the_one_that_is_one_edit_away_is_found(word: str, names: list[str]) -> None:
    far = [f"completely-different-name-{n}" for n in range(MOST_COMPARED)]
    near = [name for name in names if distance(word, name) <= 1]
    assert nearest(word, [*names, *far]) == nearest(word, near)
