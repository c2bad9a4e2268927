"""The commit hooks, run by the real pre-commit in a repository of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import plain_yaml
import pytest
from rule_cases import FIXTURES

ROOT = FIXTURES.parent
EXAMPLE = FIXTURES / "clusters" / "research-fleet"
HOOKS = {hook["id"]: hook for hook in plain_yaml.read((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}


def test_hooks_read_the_whole_repository() -> None:
    assert set(HOOKS) == {"qcheck", "qcheck-always"}
    for hook in HOOKS.values():
        assert (hook["entry"], hook["pass_filenames"], hook["require_serial"]) == ("qcheck check", False, True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pre-commit's cache, shared by the tests: installing the hook takes a while."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    shutil.copytree(EXAMPLE, repo / "cluster")
    (repo / "notes.txt").write_text("nothing\n")
    git(repo, "init", "--quiet")
    git(repo, "add", ".")
    return repo


def git(repo: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words], cwd=repo, check=True)


def hook(repo: Path, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"}
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), *words]
    return subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="try-repo needs a git repository")
def test_the_hook_sees_what_the_command_sees(repository: Path, home: Path) -> None:
    command = subprocess.run(
        [sys.executable, "-m", "qcheck", "check", str(EXAMPLE)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    one_file = hook(repository, home, "qcheck", "--files", "cluster/queues/reserved.yaml")
    assert one_file.returncode == 1
    assert one_file.stdout.count("error[") == command.stdout.count("error[") > 0
    assert "cluster/nodes/h100.yaml" in one_file.stdout, "the other files were read as well"


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="try-repo needs a git repository")
def test_when_the_hooks_run(repository: Path, home: Path) -> None:
    assert "Skipped" in hook(repository, home, "qcheck", "--files", "notes.txt").stdout
    assert hook(repository, home, "qcheck-always", "--files", "notes.txt").returncode == 1
    (repository / "qcheck.yaml").write_text("rules: {select: [QC001]}\n")
    git(repository, "add", ".")
    assert hook(repository, home, "qcheck", "--files", "qcheck.yaml").returncode == 0
