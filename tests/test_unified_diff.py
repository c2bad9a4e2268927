"""Diffs of files with many documents: the same as difflib's for small files, and lines are matched by document."""

from __future__ import annotations

import difflib
import random
import subprocess
from pathlib import Path

import pytest

from qcheck.documents import unified_diff as module
from qcheck.documents.unified_diff import unified_diff


def by_difflib(before: str, after: str) -> str:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, "a/q.yaml", "b/q.yaml")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def file(rng: random.Random, documents: int) -> list[str]:
    return [
        line for _ in range(documents) for line in ("---\n", *(f"key-{n}: {rng.randrange(3)}\n" for n in range(12)))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_the_diff_is_that_of_difflib(seed: int) -> None:
    rng = random.Random(seed)
    before = file(rng, 4)
    after = list(before)
    for _ in range(rng.randrange(1, 5)):
        at = rng.choice([n for n, line in enumerate(after) if not line.startswith("---")])
        edit = rng.randrange(3)
        after[at : at + 1] = [[f"other: {rng.random()}\n"], [], [after[at], f"more: {rng.random()}\n"]][edit]
    ending = rng.choice(["", "last: 1"])
    assert unified_diff("q.yaml", "".join(before) + ending, "".join(after) + ending) == by_difflib(
        "".join(before) + ending, "".join(after) + ending
    )


def test_without_a_change_it_is_empty() -> None:
    assert unified_diff("q.yaml", "a: 1\n", "a: 1\n") == ""


def test_a_new_document_and_a_lost_last_newline() -> None:
    before, after = "a: 1\n", "a: 1\n---\nb: 2"
    assert unified_diff("q.yaml", before, after) == by_difflib(before, after)


def test_lines_are_compared_within_their_document(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    equal = module._equal

    def counted(one: list[str], other: list[str]) -> list[tuple[int, int, int]]:
        compared.append(len(one))
        return equal(one, other)

    monkeypatch.setattr(module, "_equal", counted)
    before = "".join(file(random.Random(1), 500))
    unified_diff("q.yaml", before, before.replace("key-3: 1", "key-3: 7"))
    assert len(compared) == 500
    assert max(compared) == 13


@pytest.mark.parametrize(
    "name", ["q.yaml", "two words.yaml", "über.yaml", "\x1b[31mred.yaml", 'a "quoted\\" \n.yaml', "\udcff.yaml"]
)
def test_git_applies_the_diff_whatever_the_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a: 1\nb: x\ry\nc: 2\n", newline="")
    patch = unified_diff(name, "a: 1\nb: x\ry\nc: 2\n", "a: 1\nb: x\ry\nc: 3\n")
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode("utf-8", "surrogateescape"), check=True)
    assert (tmp_path / name).read_bytes() == b"a: 1\nb: x\ry\nc: 3\n"
