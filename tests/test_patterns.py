"""Patterns of .gitignore files and settings: what pathspec says of them, and never for hours."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from qcheck.sources.patterns import Pattern, Patterns

PIECES = [
    "a",
    "b",
    "*",
    "**",
    "/",
    "?",
    "[ab]",
    "[!a]",
    "[^b-c]",
    "/**/",
    "**/",
    "*a*",
    ".",
    "\\*",
    "ab",
    "\\",
    "[",
    "]",
    "!",
]
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
LINES = LINES.filter(lambda line: not re.search(r"\[[!^]|\*\*\*", line))
"""Without what pathspec takes for something else than git does: that `[!a]` and `***` match a slash or nothing."""
PATHS = st.lists(st.sampled_from("aab/b*.c"), min_size=1, max_size=14).map("".join).map(lambda path: path.lstrip("/"))
PATHS = PATHS.filter(lambda path: path and "//" not in path and "./" not in path)


def by_pathspec(lines: list[str], paths: list[str]) -> list[bool | None]:
    with warnings.catch_warnings(action="ignore"):
        spec = GitIgnoreSpec.from_lines([line for line in lines if Pattern(line).is_valid])
        return [spec.check_file(path).include for path in paths]


@settings(max_examples=500)
@given(LINES, st.lists(PATHS, max_size=20))
def test_a_pattern_matches_what_pathspec_says(line: str, paths: list[str]) -> None:
    assert [Patterns([line]).decision(path) for path in paths] == by_pathspec([line], paths)


@given(
    st.lists(st.sampled_from(["", "", "!"]).flatmap(lambda sign: LINES.map(sign.__add__)), max_size=5),
    st.lists(PATHS, max_size=20),
)
def test_of_several_patterns_the_same_decides(lines: list[str], paths: list[str]) -> None:
    assert [Patterns(lines).decision(path) for path in paths] == by_pathspec(lines, paths)


@pytest.mark.parametrize("line", ["[!a]", "x[^a-c]*", "[]-]", "[!]a]b", "[a-]", "[[a]", "[\\\\]", "[a&&b]", "[--a]"])
@given(name=st.text("abcx-&[]^!\\", min_size=1, max_size=4))
def test_sets_of_characters(line: str, name: str) -> None:
    """Of single names: pathspec lets `[!a]` match a slash, git does not."""
    assert Patterns([line]).decision(name) == by_pathspec([line], [name])[0]


def test_no_set_matches_a_slash() -> None:
    assert not Patterns(["a[!b]c"]).includes("a/c")


@given(LINES.filter(lambda line: line != "!/"))
def test_what_pathspec_refuses_is_no_pattern(line: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        try:
            [pattern] = GitIgnoreSpec.from_lines([line]).patterns
        except (ValueError, re.error):
            assert not Pattern(line).is_valid
        else:
            assert Pattern(line).is_valid == (pattern.include is not None)


@given(st.sampled_from(["", "!", "\\!", " "]), LINES, st.sampled_from(["", "/", " ", "\\ "]), PATHS)
def test_a_path_that_a_pattern_matches_holds_its_piece(before: str, pattern: str, after: str, path: str) -> None:
    line = before + pattern + after
    made = Pattern(line)
    if made.match(path):
        assert made.piece in path


def test_pieces_tell_apart_what_is_common() -> None:
    lines = ["*.swp", "__pycache__/", "*.py[cod]", "/build", "!example.tfstate", "a/**/deep"]
    assert [Pattern(line).piece for line in lines] == [".swp", "__pycache__", ".py", "build", "example.tfstate", "deep"]


@pytest.mark.parametrize("pattern", ["*a" * 30 + "b", "a" + "*" * 60 + "b", "/**/b*" * 30 + "/c", "**/b/**/*a*b" * 9])
def test_no_pattern_tries_everything(pattern: str) -> None:
    """As pathspec compiles them, each of these takes years."""
    patterns = Patterns([pattern])
    assert not patterns.includes("a" * 250 + ".yaml")
    assert not patterns.includes("/".join("b" * 1000) + "/x")


@pytest.mark.parametrize("line", ["!", "\\", "a\\", "[z-a]", "", "# a"])
def test_what_is_no_pattern_is_left_out(line: str) -> None:
    assert not Pattern(line).is_valid
    assert not Patterns([line]).includes("a")
    assert Patterns([line, "b"]).includes("b")
