"""Commands that answer questions say when objects are missing from their model, and exit with 2."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from qcheck.cli import entrypoint

ROOT = Path(__file__).parent.parent
BROKEN = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: x}\nspec: [1\n"
DEEP = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {{name: c{0}}}\nspec: {{parentName: c{1}}}\n---\n"
MATERIAL = {"yaml": BROKEN, "levels": "".join(DEEP.format(i, i + 1) for i in range(110))}
COMMANDS = {
    "capacity": ["capacity", "."],
    "shares": ["shares", "."],
    "admit": ["admit", "workloads/pretrain.yaml", "--in", "."],
    "preemption": ["explain", "preemption", "."],
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "fixtures" / "clusters" / "research-fleet", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("what", MATERIAL)
@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_said_and_the_exit_code_is_2(
    repository: Path, capsys: pytest.CaptureFixture[str], command: str, what: str
) -> None:
    Path("more.yaml").write_text(MATERIAL[what])
    assert entrypoint.run([*COMMANDS[command], "--format", "json", "--format", "text=report.txt"]) == 2
    shown = capsys.readouterr()
    assert "more.yaml:" in shown.err
    json.loads(shown.out)
    if command != "preemption":
        assert "more.yaml:" in Path("report.txt").read_text()
        assert any("more.yaml:" in why for why in json.loads(shown.out)["unjudged"])


def test_simulate_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = ROOT / "fixtures" / "scenarios" / "reserved-and-borrowed"
    shutil.copytree(story, tmp_path, dirs_exist_ok=True)
    (tmp_path / "more.yaml").write_text(BROKEN)
    assert entrypoint.run(["simulate", str(tmp_path / "scenario.yaml"), "--in", str(tmp_path)]) == 2
    assert "more.yaml:" in capsys.readouterr().err


def test_without_such_objects_nothing_is_said(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("capacity", "shares"):
        assert entrypoint.run([*COMMANDS[command], "--format", "json"]) == 0
        shown = capsys.readouterr()
        assert shown.err == ""
        assert json.loads(shown.out)["unjudged"] == []
