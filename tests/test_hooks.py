"""The commit hooks, run by the real pre-commit in a repository of their own."""

from __future__ import annotations

import json
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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    shutil.copytree(EXAMPLE, repo / "cluster")
    (repo / "notes.txt").write_text("nothing\n")
    git(repo, "init", "--quiet")
    git(repo, "add", ".")
    return repo


def git(repo: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words]
    return subprocess.run(command, cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


def pre_commit(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PRE_COMMIT_HOME": str(repo.parent / "pre-commit"), "PRE_COMMIT_COLOR": "never"}
    command = [sys.executable, "-m", "pre_commit", *words]
    return subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="try-repo needs a git repository")
def test_the_hook_sees_what_the_command_sees(repository: Path) -> None:
    command = subprocess.run(
        [sys.executable, "-m", "qcheck", "check", str(EXAMPLE)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    one_file = pre_commit(repository, "try-repo", str(ROOT), "qcheck", "--files", "cluster/queues/reserved.yaml")
    assert one_file.returncode == 1
    assert one_file.stdout.count("error[") == command.stdout.count("error[") > 0
    assert "cluster/nodes/h100.yaml" in one_file.stdout, "the other files were read as well"


def published(folder: Path) -> tuple[str, str]:
    """A repository with one commit, which holds this one as it is in the working tree: its path and the commit."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
    state = git(ROOT, "stash", "create") or "HEAD"
    commit = git(ROOT, "commit-tree", f"{state}^{{tree}}", "-m", "as it is")
    git(ROOT, "push", "--quiet", str(folder), f"{commit}:refs/heads/main")
    return str(folder), commit


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the commit that the hooks are in")
def test_when_the_hooks_run(repository: Path, tmp_path: Path) -> None:
    address, commit = published(tmp_path / "published")
    hooks = [{"repo": address, "rev": commit, "hooks": [{"id": name} for name in HOOKS]}]
    (repository / ".pre-commit-config.yaml").write_text(json.dumps({"repos": hooks}))
    git(repository, "add", ".")
    assert "Skipped" in pre_commit(repository, "run", "qcheck", "--files", "notes.txt").stdout
    assert pre_commit(repository, "run", "qcheck-always", "--files", "notes.txt").returncode == 1
    (repository / "qcheck.yaml").write_text("rules: {select: [QC001]}\n")
    git(repository, "add", ".")
    assert pre_commit(repository, "run", "qcheck", "--files", "qcheck.yaml").returncode == 0
