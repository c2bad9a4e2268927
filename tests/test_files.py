"""Which files are looked at."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from qcheck.sources import files
from qcheck.sources.files import discover


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = tmp_path / "repo"
    for name in (
        "b.yaml",
        "a/x.yml",
        "a/deep/n.json",
        "a/notes.txt",
        ".git/config.yaml",
        "node_modules/p.yaml",
        "t.tf",
    ):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("kind: A\n")
    monkeypatch.chdir(top)
    return top


def paths(*given: str) -> list[str]:
    return [file.path for file in discover(given or (".",)).files]


def test_the_order_is_fixed_and_other_files_are_left_out(tree: Path) -> None:
    assert paths() == ["a/deep/n.json", "a/x.yml", "b.yaml", "t.tf"]
    assert paths(str(tree)) == paths()
    assert paths(".", "a", "./b.yaml") == paths()
    assert paths("a/notes.txt") == ["a/notes.txt"]


def test_directories_for_no_cluster_are_left_out_and_named(tree: Path) -> None:
    for name in ("testdata/node.yaml", "a/testdata/node.yaml"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text("kind: A\n")
    assert [left.path for left in discover(["."]).not_read] == ["a/testdata", "testdata"]
    (tree / ".gitignore").write_text("/testdata/\n")
    assert [left.path for left in discover(["."]).not_read] == ["a/testdata"]
    assert paths("testdata") == ["testdata/node.yaml"]


def test_copies_that_go_keeps_of_other_projects_are_left_out(tree: Path) -> None:
    for name in ("vendor/example.com/x/node.yaml", "a/vendor/node.yaml"):
        (tree / name).parent.mkdir(parents=True)
        (tree / name).write_text("kind: A\n")
    assert paths() == [
        "a/deep/n.json",
        "a/vendor/node.yaml",
        "a/x.yml",
        "b.yaml",
        "t.tf",
        "vendor/example.com/x/node.yaml",
    ]
    (tree / "vendor/modules.txt").write_text("# example.com/x v1.0.0\n")
    assert paths() == ["a/deep/n.json", "a/vendor/node.yaml", "a/x.yml", "b.yaml", "t.tf"]
    assert paths("vendor") == ["vendor/example.com/x/node.yaml"]


def test_git_ignored_files_are_left_out(tree: Path) -> None:
    (tree / ".gitignore").write_text("*.json\n/a/x.yml\n!keep.json\n")
    (tree / "a" / ".gitignore").write_text("!x.yml\n")
    (tree / "a" / "keep.json").write_text("{}")
    assert paths() == ["a/keep.json", "a/x.yml", "b.yaml", "t.tf"]
    assert paths("a") == ["a/keep.json", "a/x.yml"]
    assert paths("a/deep/n.json") == ["a/deep/n.json"]
    (tree / ".gitignore").write_text("/a/\n")
    assert paths() == ["b.yaml", "t.tf"]
    assert paths("a") == ["a/deep/n.json", "a/keep.json", "a/x.yml"]
    assert paths("a/deep") == ["a/deep/n.json"]


def test_links_are_read_once_and_do_not_leave_the_tree(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.yaml").write_text("kind: A\n")
    os.symlink(tree, tree / "a" / "loop")
    os.symlink(tree / "b.yaml", tree / "again.yaml")
    os.symlink(tree / "a" / "notes.txt", tree / "notes.yaml")
    os.symlink(tmp_path / "outside", tree / "out")
    os.symlink(tmp_path / "outside" / "secret.yaml", tree / "out.yaml")
    os.symlink("nowhere", tree / "dangling.yaml")
    found = discover(["."])
    assert [file.path for file in found.files] == ["a/deep/n.json", "a/x.yml", "b.yaml", "notes.yaml", "t.tf"]
    assert [(left.path, left.failed) for left in found.not_read] == [
        ("dangling.yaml", False),
        ("out", False),
        ("out.yaml", False),
    ]


def test_what_is_missing_or_unreadable_is_said(tree: Path) -> None:
    (tree / "dir.yaml").mkdir()
    (tree / "dir.yaml" / "in.yaml").write_text("kind: A\n")
    found = discover(["nope", "dir.yaml"])
    assert [file.path for file in found.files] == ["dir.yaml/in.yaml"]
    assert [(left.path, left.failed) for left in found.not_read] == [("nope", True)]


def test_reading_stops_at_the_limit(tree: Path) -> None:
    [file] = discover(["b.yaml"]).files
    assert file.read(3) == b"kind"
    assert file.read(100) == b"kind: A\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in the file system")
def test_a_pipe_is_read_when_somebody_writes_to_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WAIT_FOR_A_WRITER", 0)
    os.mkfifo("pipe.yaml")
    [file] = discover(["pipe.yaml"]).files
    with pytest.raises(OSError, match="without a writer"):
        file.read(99)
    monkeypatch.setattr(files, "WAIT_FOR_A_WRITER", 60)
    writer = Thread(target=Path("pipe.yaml").write_text, args=["kind: A\n"])
    writer.start()
    assert file.read(99) == b"kind: A\n"
    writer.join()
    assert "pipe.yaml" not in paths(".")
