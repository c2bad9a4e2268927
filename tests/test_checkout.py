"""Which repository and commit the HTML report names."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from qcheck.findings.result import Checkout
from qcheck.pipeline.checkout import checkout

if TYPE_CHECKING:
    from pathlib import Path


def git(at: Path, *words: str) -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    return subprocess.run(["git", *names, *words], cwd=at, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "queues.yaml").write_text("kind: Nothing\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("https://github.com/acme/fleet.git", "https://github.com/acme/fleet/commit/"),
        ("https://bot:secret@gitlab.example.com/group/sub/fleet", "https://gitlab.example.com/group/sub/fleet/commit/"),
        ("git@github.com:acme/fleet.git", "https://github.com/acme/fleet/commit/"),
        ("ssh://git@git.example.com:2222/acme/fleet.git", "https://git.example.com/acme/fleet/commit/"),
        ("https://bitbucket.org/acme/fleet.git", "https://bitbucket.org/acme/fleet/commits/"),
    ],
)
def test_the_remote_names_the_repository_and_no_secret(repository: Path, remote: str, url: str) -> None:
    git(repository, "remote", "add", "origin", remote)
    found = checkout(str(repository))
    assert found is not None
    assert found.url == url + git(repository, "rev-parse", "HEAD")
    assert found.repository.endswith("fleet")
    assert "secret" not in f"{found.url}{found.repository}"


def test_without_a_remote_the_directory_names_it(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    found = checkout(str(repository / "queues.yaml"))
    assert found == Checkout(repository=repository.name, commit=head, url="", is_changed=False)
    (repository / "queues.yaml").write_text("kind: Other\n")
    changed = checkout(str(repository))
    assert changed is not None
    assert changed.is_changed


def test_outside_of_git_there_is_none(tmp_path: Path) -> None:
    assert checkout(str(tmp_path)) is None
