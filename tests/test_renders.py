"""Rendered sources: made offline, in time, by what is installed; a failure is said and never read as absence."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from rule_cases import RULES

from qcheck.api import audit, gather
from qcheck.settings import load_settings

FAIL = RULES / "QC101-quota-exceeds-capacity" / "fail-one-node-short"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose queues have to be rendered, and a search path for stand-in renderers."""
    repo = tmp_path / "repo"
    shutil.copytree(FAIL, repo / "base")
    (repo / "nodes").mkdir()
    (repo / "base" / "nodes.yaml").rename(repo / "nodes" / "nodes.yaml")
    (repo / "qcheck.yaml").write_text("render: [{kustomize: base}]\nlimits: {renderSeconds: 2}\n")
    (tmp_path / "bin").mkdir()
    for tool in ("cat", "sleep", "env"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or "/bin/false")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(repo)
    return repo


def stand_in(repository: Path, tool: str, script: str) -> None:
    path = repository.parent / "bin" / tool
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_what_is_rendered_is_judged_with_the_files(repository: Path) -> None:
    stand_in(repository, "kustomize", '[ "$1 $2" = "build base" ] && cat base/queues.yaml')
    result = audit(["."], load_settings())
    assert [f.primary.origin.path for f in result.findings if f.rule and f.rule.id == "QC101"] == ["kustomize:base"]
    assert not result.inputs.unjudged


def test_helm_gets_its_values_and_names(repository: Path) -> None:
    (repository / "qcheck.yaml").write_text(
        "render: [{helm: base, values: [v.yaml], release: queues, namespace: kueue-system}]\n"
    )
    stand_in(repository, "helm", 'echo "$@" > words; cat base/queues.yaml')
    assert gather(["."], load_settings()).clusters[0].queues
    words = "template queues base --skip-tests --namespace kueue-system --values v.yaml\n"
    assert (repository / "words").read_text() == words


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'no such base' >&2; exit 1", "kustomize failed: no such base"),
        ("exit 3", "kustomize failed: it said nothing"),
        ("sleep 60", "kustomize took longer than 2 s"),
    ],
)
def test_a_render_that_fails_makes_the_run_unjudged(repository: Path, script: str, why: str) -> None:
    stand_in(repository, "kustomize", script)
    gathered = gather(["."], load_settings())
    assert gathered.inputs.unjudged == (f"kustomize:base: {why}",)
    assert not gathered.clusters[0].is_complete


def test_tools_and_directories_that_are_missing(repository: Path) -> None:
    (repository / "qcheck.yaml").write_text("render: [{helm: base}, {kustomize: elsewhere}]\n")
    assert gather(["."], load_settings()).inputs.unjudged == (
        "helm:base: helm is not installed",
        "kustomize:elsewhere: there is no such directory",
    )


def test_renderers_are_kept_from_the_network_and_the_callers_secrets(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    stand_in(repository, "kustomize", "env > seen; cat base/queues.yaml")
    gather(["."], load_settings())
    seen = (repository / "seen").read_text()
    assert "secret" not in seen
    assert "HTTPS_PROXY=http://127.0.0.1:9" in seen
    assert "GIT_ALLOW_PROTOCOL=file" in seen
