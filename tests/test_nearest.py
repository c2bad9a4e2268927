"""Suggestions: the nearest name by edit distance, and none where several are as near."""

from __future__ import annotations

import pytest

from qcheck.cluster.did_you_mean import distance, nearest
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
