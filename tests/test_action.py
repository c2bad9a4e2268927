"""The GitHub Action: its steps run under bash as the runner runs them, and the linters of workflows have nothing to say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import plain_yaml
import pytest

ROOT = Path(__file__).resolve().parent.parent
ACTION = plain_yaml.read((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "run" in step}
FLEET = ROOT / "fixtures" / "clusters" / "research-fleet"
BASH = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"]
"""How the runner calls `shell: bash`."""


class Runner:
    """A workspace with the files and variables of a runner."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.temp = folder / "temp"
        self.workspace.mkdir()
        self.temp.mkdir()
        self.output = folder / "output"
        self.summary = folder / "summary"
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "python").symlink_to(sys.executable)

    def run(self, step: str, outputs: dict[str, str] | None = None, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Runs a step with inputs (underscores for dashes), the defaults for the others."""
        given = {name: spec["default"] for name, spec in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        self.output.write_text("")
        self.summary.write_text("")
        env = {
            "PATH": os.environ["PATH"],
            "PIP_NO_COMPILE": os.environ["PIP_NO_COMPILE"],
            "HOME": str(self.temp),
            "PYTHONPATH": str(ROOT) if step == "check" and outputs is None else "",
            "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            **{
                k: _evaluated(v, given, outputs or {"bin": str(self.bin)})
                for k, v in STEPS[step].get("env", {}).items()
            },
        }
        script = self.temp / "step.sh"
        script.write_text(STEPS[step]["run"])
        return subprocess.run(
            [*BASH, str(script)], cwd=self.workspace, env=env, capture_output=True, text=True, check=False
        )

    def outputs(self) -> dict[str, str]:
        """What the step gave out, read as the runner reads it."""
        found: dict[str, str] = {}
        lines = iter(self.output.read_text().splitlines())
        for line in lines:
            name, mark, rest = re.split(r"(<<|=)", line, maxsplit=1)
            found[name] = rest if mark == "=" else "\n".join(iter(lambda end=rest: next(lines), rest))
        return found


def _evaluated(text: str, inputs: dict[str, str], outputs: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        kind, _, name = match[1].rpartition(".")
        return inputs[name] if kind == "inputs" else outputs[name]

    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, text)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    shutil.copytree(FLEET, made.workspace / "fleet")
    return made


def test_inputs_reach_scripts_through_the_environment_only() -> None:
    assert not [step["name"] for step in STEPS.values() if "${{" in step["run"]]
    used = set(re.findall(r"inputs\.([\w-]+)", str(ACTION["runs"]["steps"])))
    assert used == set(ACTION["inputs"])


def test_every_action_that_is_used_is_pinned_to_a_commit() -> None:
    for path in [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]:
        for used in re.findall(r"uses: (\S+)", path.read_text()):
            assert used == "./" or re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", used), f"{path.name}: {used}"


def test_findings_fail_the_step_and_are_given_out(runner: Runner) -> None:
    done = runner.run("check", sarif_file="out.sarif", html_file="out.html")
    outputs = runner.outputs()
    assert done.returncode == 1, done.stderr
    assert outputs["exit-code"] == "1"
    assert int(outputs["errors"]) >= 2
    assert outputs["findings"] == str(sum(int(outputs[k]) for k in ("errors", "warnings", "notes")))
    assert (outputs["sarif-file"], outputs["html-file"]) == ("out.sarif", "out.html")
    assert "::error file=fleet/queues/reserved.yaml,line=18," in done.stdout
    summary = runner.summary.read_text()
    assert "Quota and nodes" in summary
    assert "## Suggested edits" in summary
    sarif = json.loads((runner.workspace / "out.sarif").read_text())
    (overdraft,) = [r for r in sarif["runs"][0]["results"] if r["ruleId"] == "QC101"]
    assert len(overdraft["fixes"]) >= 3


def test_nothing_is_written_that_was_not_asked_for(runner: Runner) -> None:
    done = runner.run("check", annotations="false", summary="false")
    assert "::error" not in done.stdout
    assert runner.summary.read_text() == ""
    assert not {"sarif-file", "html-file"} & set(runner.outputs())


def test_the_log_is_read_by_nobody_as_commands(runner: Runner) -> None:
    lines = runner.run("check").stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("::stop-commands::"))
    token = lines[start].removeprefix("::stop-commands::")
    assert re.fullmatch(r"[0-9a-f]{32}", token)
    end = lines.index(f"::{token}::")
    assert any(line.startswith("error[") for line in lines[start:end])
    assert not any(line.startswith("error[") for line in lines[end:])


def test_a_clean_repository_passes(runner: Runner) -> None:
    shutil.rmtree(runner.workspace / "fleet")
    shutil.copytree(ROOT / "fixtures/rules/QC101-quota-exceeds-capacity/pass-exact", runner.workspace / "clean")
    done = runner.run("check")
    assert (done.returncode, runner.outputs()["errors"]) == (0, "0"), done.stdout


def test_paths_are_lines_and_hold_spaces_and_metacharacters(runner: Runner) -> None:
    odd = runner.workspace / "odd $(touch hacked); name"
    (runner.workspace / "fleet").rename(odd)
    done = runner.run("check", paths=f"{odd.name}/nodes\n\n{odd.name}/queues\n")
    assert (done.returncode, (runner.workspace / "hacked").exists()) == (1, False)
    assert "QC201" in done.stdout


def test_a_wrong_input_is_exit_code_2(runner: Runner) -> None:
    assert runner.run("check", fail_on="everything").returncode == 2
    assert runner.outputs()["exit-code"] == "2"
    assert runner.run("check", paths="nowhere").returncode == 2
    assert runner.run("check", config="--exit-zero").returncode == 2


def test_what_keeps_it_from_judging_is_an_annotation(runner: Runner) -> None:
    for name, wrong in (("fail_on", "everything"), ("since", "main"), ("paths", "nowhere")):
        lines = runner.run("check", annotations="false", **{name: wrong}).stdout.splitlines()  # type: ignore[arg-type]
        token = next(line for line in lines if line.startswith("::stop-commands::")).removeprefix("::stop-commands::")
        after = lines[lines.index(f"::{token}::") :]
        assert [line for line in after if line.startswith("::error title=qcheck::")], wrong


def test_nothing_is_imported_from_the_checkout(runner: Runner) -> None:
    for name in ("json.py", "secrets.py", "typer.py", "qcheck.py"):
        (runner.workspace / name).write_text("raise SystemExit(99)\n")
    done = runner.run("check")
    assert (done.returncode, runner.outputs()["exit-code"]) == (1, "1"), done.stderr


def test_since_lets_old_findings_pass(runner: Runner) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "as it is"]):
        subprocess.run(["git", *own, *words], cwd=runner.workspace, check=True, capture_output=True)
    done = runner.run("check", since="main")
    assert (done.returncode, runner.outputs()["findings"]) == (0, "0"), done.stdout


@pytest.mark.slow
def test_the_action_installs_itself(runner: Runner) -> None:
    found = runner.run("python")
    assert found.returncode == 0, found.stdout + found.stderr
    done = runner.run("install", outputs=runner.outputs())
    assert done.returncode == 0, done.stdout + done.stderr
    checked = runner.run("check", outputs=runner.outputs())
    assert checked.returncode == 1
    assert "QC101" in checked.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/ci.md"])
def test_the_workflows_of_the_documents_are_clean(page: str, tmp_path: Path) -> None:
    zizmor = shutil.which("zizmor", path=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    if zizmor is None:
        pytest.skip("zizmor is not installed")
    workflows = re.findall(r"```yaml\n(# \.github/workflows/.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert workflows
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    for number, text in enumerate(workflows):
        (folder / f"{number}.yml").write_text(text)
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", "."], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["zizmor", "--offline", "--no-progress", "action.yml", ".github/workflows"],
        ["actionlint"],
    ],
    ids=lambda c: c[0],
)
def test_linters_of_workflows_have_nothing_to_say(command: list[str]) -> None:
    tool = shutil.which(command[0]) or shutil.which(command[0], path=os.path.dirname(sys.executable))
    if tool is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
