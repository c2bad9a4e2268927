"""The commands that write files, `init` and `baseline`, and settings that the commands refuse."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from rule_cases import FIXTURES

from qcheck.cli import entrypoint
from qcheck.settings.load import load_settings


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, as the working directory."""
    shutil.copytree(FIXTURES / "clusters" / "research-fleet", tmp_path / "repo")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def findings(capfd: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    capfd.readouterr()
    code = entrypoint.run(["check", "--format", "json"])
    return code, [f["fingerprint"] for f in json.loads(capfd.readouterr().out)["findings"]]


def test_init_writes_settings_that_change_nothing(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = findings(capfd)
    assert entrypoint.run(["init"]) == 0
    assert load_settings().path == "qcheck.yaml"
    assert findings(capfd) == before
    assert entrypoint.run(["init"]) == 2
    assert "already exists" in capfd.readouterr().err
    assert entrypoint.run(["init", "--output", "-"]) == 0
    assert capfd.readouterr().out == (repository / "qcheck.yaml").read_text()


def test_init_takes_folders_with_the_same_objects_for_clusters(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("prod", "dev"):
        shutil.copytree(repository / "queues", repository / "clusters" / name / "queues")
    shutil.rmtree(repository / "queues")
    assert entrypoint.run(["init"]) == 0
    assert [(scope.name, scope.include) for scope in load_settings().scopes] == [
        (name, (f"clusters/{name}/**", "nodes/**", "system/**", "workloads/**")) for name in ("dev", "prod")
    ]


def test_init_of_nothing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert entrypoint.run(["init"]) == 2
    assert "nothing relevant was found" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_configuration_alone_is_relevant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written = (
        "managerConfig:\n  controllerManagerConfigYaml: |-\n    apiVersion: GROUP/v1beta1\n    kind: Configuration\n"
    )
    (tmp_path / "values.yaml").write_text(written.replace("GROUP", "config.kueue.x-k8s.io"))
    assert entrypoint.run(["check", "."]) == 0
    assert "QC702" in capfd.readouterr().out


def test_a_baseline_accepts_today_and_fails_on_what_is_new(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    known = findings(capfd)
    assert entrypoint.run(["baseline", "write"]) == 0
    (repository / "qcheck.yaml").write_text("baseline: qcheck-baseline.json\n")
    assert findings(capfd) == (0, [])
    flavors = repository / "queues" / "flavors.yaml"
    flavors.write_text(flavors.read_text().replace("accelerator: h100", "accelerator: h200"))
    code, new = findings(capfd)
    assert code == 1
    assert not set(new) & set(known[1])


def test_prune_takes_out_what_is_gone_and_adds_nothing(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    entrypoint.run(["baseline", "write"])
    accepted = fingerprints(repository)
    shutil.rmtree(repository / "system")
    assert entrypoint.run(["baseline", "prune"]) == 0
    assert fingerprints(repository) < accepted
    assert "no longer occur" in capfd.readouterr().err


def test_a_partial_run_keeps_what_it_could_not_judge(repository: Path) -> None:
    entrypoint.run(["baseline", "write"])
    accepted = fingerprints(repository)
    assert entrypoint.run(["baseline", "write", "queues/local-queues.yaml"]) == 0
    assert accepted <= fingerprints(repository)


def fingerprints(repository: Path) -> set[str]:
    entries = json.loads((repository / "qcheck-baseline.json").read_text())["findings"]
    return {entry["fingerprint"] for entry in entries}


def test_a_baseline_that_cannot_be_used(repository: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert entrypoint.run(["baseline", "prune"]) == 2
    (repository / "qcheck-baseline.json").write_text("{")
    assert entrypoint.run(["baseline", "write"]) == 2
    assert entrypoint.run(["check", "--baseline", "qcheck-baseline.json"]) == 2
    assert capfd.readouterr().err.count("qcheck-baseline.json:1: ") == 2


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("QC311: {budge: 60s}", "QC311 has no parameter 'budge'"),
        ("QC205: {any: 1}", "It has: none."),
        ("autoscaler-ignores-pod: {cutoff: low}", "QC313: cutoff is 'low'; it should be like its default, -10"),
        ("QC311: {budget: soon}", "QC311: budget has 'soon', which is not a duration"),
        ("QC311: {operators: [RayJob]}", "QC311: operators has '', which is not a duration"),
        ("QC311: {operators: RayJob=60s}", "QC311: operators is 'RayJob=60s'; it should be like its default, []"),
    ],
)
def test_a_parameter_that_no_rule_has_stops_the_run(
    repository: Path, capfd: pytest.CaptureFixture[str], params: str, said: str
) -> None:
    (repository / "qcheck.yaml").write_text(f"version: 1\nrules: {{params: {{{params}}}}}\n")
    assert entrypoint.run(["check"]) == 2
    assert said in capfd.readouterr().err


def test_a_duration_may_be_a_number_of_seconds(repository: Path) -> None:
    (repository / "qcheck.yaml").write_text("version: 1\nrules: {params: {QC311: {budget: 300}}}\n")
    assert entrypoint.run(["check", "--select", "QC311"]) == 0
