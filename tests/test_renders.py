"""Rendered sources: made offline, in time, by what is installed; a failure is said and never read as absence."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from rule_cases import RULES

from qcheck.api import audit
from qcheck.pipeline.gather import collect, gather
from qcheck.pipeline.what_if import with_texts
from qcheck.settings.load import load_settings

FAIL = RULES / "QC101-quota-exceeds-capacity" / "fail-one-node-short"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose queues have to be rendered, and a search path for stand-in renderers."""
    repo = tmp_path / "repo"
    shutil.copytree(FAIL, repo / "base")
    (repo / "nodes").mkdir()
    (repo / "base" / "nodes.yaml").rename(repo / "nodes" / "nodes.yaml")
    (repo / "qcheck.yaml").write_text("render: [{kustomize: base}]\nlimits: {renderSeconds: 2, bytes: 100000}\n")
    (tmp_path / "bin").mkdir()
    for tool in ("cat", "sleep", "env", "sed"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or "/bin/false")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(repo)
    return repo


def stand_in(repository: Path, tool: str, script: str) -> None:
    path = repository.parent / "bin" / tool
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_what_is_rendered_is_judged_with_the_files(repository: Path) -> None:
    stand_in(repository, "kustomize", '[ "$1 $2 $3" = "build -- base" ] && cat base/queues.yaml')
    result = audit(["."], load_settings())
    assert [f.primary.origin.path for f in result.findings if f.rule and f.rule.id == "QC101"] == ["kustomize:base"]
    assert not result.inputs.unjudged


def test_helm_gets_its_values_and_names(repository: Path) -> None:
    (repository / "qcheck.yaml").write_text(
        "render: [{helm: base, values: [v.yaml], release: queues, namespace: kueue-system}]\n"
    )
    stand_in(repository, "helm", 'echo "$@" > words; cat base/queues.yaml')
    assert gather(["."], load_settings()).clusters[0].queues
    words = "template --skip-tests --values=v.yaml --namespace=kueue-system -- queues base\n"
    assert (repository / "words").read_text() == words


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'no such base' >&2; exit 1", "kustomize failed: no such base"),
        ("exit 3", "kustomize failed: it printed no message"),
        ("echo 'hello: ['", "the output of kustomize contains no Kubernetes object"),
        ("sleep 60", "kustomize took longer than 2 s"),
        ("(sleep 60 &) >&2; sleep 60", "kustomize took longer than 2 s"),
        ("while :; do cat base/queues.yaml; done", "kustomize wrote more than 100,000 bytes"),
        ("while :; do cat base/queues.yaml; done >&2", "kustomize wrote more than 100,000 bytes"),
    ],
)
def test_a_render_that_fails_makes_the_run_unjudged(repository: Path, script: str, why: str) -> None:
    stand_in(repository, "kustomize", script)
    gathered = gather(["."], load_settings())
    assert gathered.inputs.unjudged == (f"kustomize:base: {why}",)
    assert gathered.clusters[0].unread


def test_a_render_without_objects_is_a_render(repository: Path) -> None:
    stand_in(repository, "kustomize", "echo '---'; echo '# nothing is switched on'")
    assert gather(["."], load_settings()).inputs.unjudged == ()


def test_settings_give_a_renderer_no_options(repository: Path) -> None:
    """Helm's --post-renderer would run a program of the repository."""
    (repository / "-o").mkdir()
    (repository / "qcheck.yaml").write_text(
        "render: [{helm: -o, release: --post-renderer=./x, namespace: --debug, values: [--dry-run]}, {kustomize: -o}]\n"
    )
    for tool in ("helm", "kustomize"):
        stand_in(repository, tool, f'for word in "$@"; do echo "$word" >> {tool}.words; done')
    gather(["."], load_settings())
    words = "template --skip-tests --values=--dry-run --namespace=--debug -- --post-renderer=./x -o"
    assert (repository / "helm.words").read_text().split() == words.split()
    assert (repository / "kustomize.words").read_text().split() == ["build", "--", "-o"]


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


def test_what_a_file_says_word_for_word_is_found_in_the_file(repository: Path) -> None:
    queues = repository / "base" / "queues.yaml"
    origin = "  annotations:\\n    config.kubernetes.io\\/origin: |\\n      path: queues.yaml\\n"
    stand_in(repository, "kustomize", f"sed 's/^metadata:$/&\\n{origin}/' base/queues.yaml")
    assert places() == [f"base/queues.yaml:{line_of(queues, 'nominalQuota')}"]
    queues.write_text(
        queues.read_text().replace("nominalQuota: 16", "nominalQuota: 16  # qcheck: ignore[QC101] soon more")
    )
    assert places() == []


def test_what_the_renderer_changed_is_found_in_what_it_made(repository: Path) -> None:
    origin = "  annotations:\\n    config.kubernetes.io\\/origin: |\\n      path: queues.yaml\\n"
    stand_in(repository, "kustomize", f"sed 's/^metadata:$/&\\n{origin}/; s/16/17/' base/queues.yaml")
    assert places()[0].startswith("kustomize:base:")


def test_helm_names_the_template(repository: Path) -> None:
    (repository / "qcheck.yaml").write_text("render: [{helm: base}]\n")
    queues = repository / "base" / "queues.yaml"
    stand_in(repository, "helm", "sed 's/^apiVersion:/# Source: chart\\/queues.yaml\\n&/' base/queues.yaml")
    assert places() == [f"base/queues.yaml:{line_of(queues, 'nominalQuota')}"]


def test_other_values_are_read_as_the_first_ones_were(repository: Path) -> None:
    """A what-if reads rendered text again under the same limits, with the same choice of documents."""
    (repository / "qcheck.yaml").write_text("render: [{kustomize: base}]\nlimits: {depth: 250}\n")
    origin = "  annotations:\\n    config.kubernetes.io\\/origin: |\\n      path: queues.yaml\\n"
    deep = "{metadata: {name: deep}, apiVersion: v1, kind: Namespace, x: " + "[" * 200 + "]" * 200 + "}"
    other = "{apiVersion: v1, kind: Service, metadata: {name: other}}"
    stand_in(
        repository,
        "kustomize",
        f"sed 's/^metadata:$/&\\n{origin}/' base/queues.yaml; echo '---'; echo '{deep}'; echo '---'; echo '{other}'",
    )
    settings = load_settings()
    read = collect(["."], settings)
    again = with_texts(read, {"base/queues.yaml": Path("base/queues.yaml").read_text() + "# end\n"}, settings.limits)
    before, after = (render.loaded[0] for state in (read, again) for render in state.renders if render)
    assert not before.faults
    assert not after.faults
    assert after.passed_over == before.passed_over > 0
    assert after.documents[0].text.text.endswith("# end\n")
    assert [f.text.text[-6:] for r in again.renders if r for f in r.origins] == ["# end\n"]


def places() -> list[str]:
    return [f.primary.line for f in audit(["."], load_settings()).findings if f.rule and f.rule.id == "QC101"]


def line_of(path: Path, word: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if word in line)
