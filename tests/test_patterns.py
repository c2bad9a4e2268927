"""Patterns of .gitignore files and settings: what pathspec says of them, and never for hours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from qcheck.sources.ignored import piece
from qcheck.sources.patterns import is_pattern, specification

PIECES = ["a", "b", "*", "**", "/", "?", "[ab]", "/**/", "**/", "*a*", ".", "\\*", "ab"]
PATTERNS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
PATHS = st.lists(st.sampled_from("aab/b*.c"), min_size=1, max_size=14).map("".join).map(lambda path: path.strip("/"))


@given(PATTERNS, st.lists(PATHS, max_size=20))
def test_what_settles_early_matches_the_same(pattern: str, paths: list[str]) -> None:
    ours, theirs = specification([pattern]), GitIgnoreSpec.from_lines([pattern])
    assert [ours.check_file(p).include for p in paths if p] == [theirs.check_file(p).include for p in paths if p]


@given(st.sampled_from(["", "!", "\\!", " "]), PATTERNS, st.sampled_from(["", "/", " ", "\\ "]), PATHS)
def test_a_path_that_a_pattern_matches_holds_its_piece(before: str, pattern: str, after: str, path: str) -> None:
    line = before + pattern + after
    if specification([line]).check_file(path).include is not None:
        assert piece(line) in path


def test_pieces_tell_apart_what_is_common() -> None:
    lines = ["*.swp", "__pycache__/", "*.py[cod]", "/build", "!example.tfstate", "a/**/deep"]
    assert [piece(line) for line in lines] == [".swp", "__pycache__", ".py", "build", "example.tfstate", "deep"]


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "a" + "*" * 60 + "b", "/**/b*" * 30 + "/c", "**/b/**/*a*b" * 9])
def test_no_pattern_tries_everything(pattern: str) -> None:
    """As pathspec compiles them, each of these would take longer than anybody lives."""
    spec = specification([pattern])
    assert not spec.match_file("a" * 250 + ".yaml")
    assert not spec.match_file("/".join("b" * 1000) + "/x")


@pytest.mark.parametrize("line", ["!", "\\", "a\\", "[z-a]", "", "# a"])
def test_what_is_no_pattern_is_left_out(line: str) -> None:
    assert not is_pattern(line)
    assert not specification([line]).match_file("a")
    assert specification([line, "b"]).match_file("b")
