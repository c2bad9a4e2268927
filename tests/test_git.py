"""Files as they were at a revision."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from qcheck.sources.git import GitError, commit, discover, merge_base, root_of


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    for name, text in (("a/ä q.yaml", "kind: A\n"), ("b.yaml", ""), ("notes.txt", "x"), ("node_modules/c.yaml", "x")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    git("add", "-A")
    git("commit", "-qm", "one")
    (tmp_path / "b.yaml").write_text("kind: B\n")
    git("rm", "-q", "a/ä q.yaml")
    git("commit", "-qam", "two")
    (tmp_path / "b.yaml").write_text("kind: C\n")
    return tmp_path


def test_a_revision_is_read_and_the_working_tree_left_alone(repo: Path) -> None:
    root = root_of(".")
    assert [(f.path, f.read(99)) for f in discover("HEAD~1", ["."], root).files] == [
        ("a/ä q.yaml", b"kind: A\n"),
        ("b.yaml", b""),
    ]
    assert [(f.path, f.read(3)) for f in discover("main", ["."], root).files] == [("b.yaml", b"kind")]
    assert [f.path for f in discover("HEAD~1", ["a", "notes.txt"], root).files] == ["a/ä q.yaml", "notes.txt"]
    assert (repo / "b.yaml").read_text() == "kind: C\n"


def committed(repo: Path, *names: str) -> None:
    for name in names:
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text("kind: A\n")
    git("add", "-A")
    git("commit", "-qm", "three")


def test_copies_that_go_keeps_of_other_projects_are_left_out(repo: Path) -> None:
    committed(repo, "vendor/modules.txt", "vendor/x/node.yaml", "vendored/node.yaml")
    assert [f.path for f in discover("HEAD", ["."], root_of(".")).files] == ["b.yaml", "vendored/node.yaml"]


def test_directories_for_no_cluster_are_left_out_unless_they_are_named(repo: Path) -> None:
    committed(repo, "testdata/x/node.yaml", "x/versioned_docs/node.yaml", ".github/x/node.yaml")
    assert [f.path for f in discover("HEAD", ["."], root_of(".")).files] == ["b.yaml"]
    named = discover("HEAD", ["testdata", ".github/x"], root_of(".")).files
    assert [f.path for f in named] == [".github/x/node.yaml", "testdata/x/node.yaml"]


def test_single_files_and_ancestors(repo: Path) -> None:
    root = root_of(".")
    assert merge_base("HEAD", "HEAD~1", root) == commit("HEAD~1", root)


def test_wrong_revisions_are_said(repo: Path) -> None:
    for name in ("nope", "-x", "", "--output=x", "a b"):
        with pytest.raises(GitError, match="no "):
            commit(name, root_of("."))


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not in a git repository"):
        root_of(str(tmp_path))
