"""Ways in beside the hook and the action: the kubectl plugin, the GitLab component, the container image."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import plain_yaml
import pytest

from qcheck.cli.check_options import CHECK_OPTIONS
from qcheck.reports import FORMATS

ROOT = Path(__file__).parent.parent
FLEET = ROOT / "fixtures" / "clusters" / "research-fleet"


def test_the_kubectl_plugin_is_the_same_program() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["kubectl-qcheck"] == scripts["qcheck"]


def test_the_gitlab_component_uses_options_that_exist() -> None:
    header, job = plain_yaml.read_all((ROOT / "templates" / "qcheck.yml").read_text())
    (command,) = job["qcheck"]["script"]
    words = command.split()
    known = {name for option in CHECK_OPTIONS for name in option.names}
    assert words[:2] == ["qcheck", "check"]
    assert {word for word in words if word.startswith("--")} <= known
    assert {w.partition("=")[0] for before, w in itertools.pairwise(words) if before == "--format"} <= {*FORMATS}
    assert set(header["spec"]["inputs"]) == {"fail-on", "paths", "stage", "version"}


INPUT_KEYS = {"default", "description", "options", "regex", "rules", "type"}
INPUT_TYPES = {"array", "boolean", "number", "string"}
JOB_KEYS = {
    "after_script",
    "artifacts",
    "before_script",
    "cache",
    "image",
    "needs",
    "rules",
    "script",
    "stage",
    "variables",
}
"""What GitLab allows in `spec:inputs`, and of a job what a component that runs a program needs."""


def test_the_gitlab_component_follows_its_specification() -> None:
    text = (ROOT / "templates" / "qcheck.yml").read_text()
    header, jobs = plain_yaml.read_all(text)
    assert set(header) == {"spec"}
    inputs = header["spec"]["inputs"]
    for name, of in inputs.items():
        assert set(of) <= INPUT_KEYS, name
        assert of["description"].endswith("."), name
        assert of.get("type", "string") in INPUT_TYPES, name
        assert "options" not in of or of["default"] in of["options"], name
    assert set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", text)) == set(inputs)
    for name, job in jobs.items():
        assert set(job) <= JOB_KEYS, name
        assert set(job["artifacts"]["reports"]) == {"codequality", "junit"}


def test_the_component_runs_what_it_says(tmp_path: Path) -> None:
    """Its script under a shell, with the defaults of its inputs, on a repository whose last commit adds an error."""
    header, jobs = plain_yaml.read_all((ROOT / "templates" / "qcheck.yml").read_text())
    (command,) = jobs["qcheck"]["script"]
    for name, of in header["spec"]["inputs"].items():
        command = command.replace(f"$[[ inputs.{name} ]]", of["default"])
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    shutil.copytree(ROOT / "fixtures" / "clusters" / "research-fleet-fixed", tmp_path, dirs_exist_ok=True)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    base = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    pool = tmp_path / "nodes" / "h100.yaml"
    pool.write_text(re.sub(r"count: \d+", "count: 3", pool.read_text()))
    program = tmp_path / ".bin" / "qcheck"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m qcheck "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base.strip(), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert [found["check_name"] for found in json.loads((tmp_path / "qcheck.json").read_text())]
    assert "<testsuite" in (tmp_path / "qcheck.xml").read_text()


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
def test_kubectl_finds_the_plugin(tmp_path: Path) -> None:
    program = tmp_path / "kubectl-qcheck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m qcheck "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    words = ["kubectl", "qcheck", "capacity", str(FLEET), "--format", "json"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["schema"]) == (0, 1)


@pytest.mark.parametrize("name", ["config", "nodepool", "scenario"])
def test_editors_find_the_schemas_that_qcheck_prints(name: str) -> None:
    words = [sys.executable, "-m", "qcheck", "schema", name]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text())


def test_files_may_name_their_schema(tmp_path: Path) -> None:
    story = ROOT / "fixtures" / "scenarios" / "reserved-and-borrowed"
    shutil.copytree(story, tmp_path, dirs_exist_ok=True)
    (tmp_path / "qcheck.yaml").write_text("$schema: https://example.com/config.json\nversion: 1\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("$schema: https://example.com/scenario.json\n" + scenario.read_text())
    words = [sys.executable, "-m", "qcheck", "simulate", str(scenario), "--in", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def steps_of_the_image() -> list[str]:
    """The RUN instructions of the first stage, a shell command each."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    first = text.split("\nFROM ")[0].splitlines() if text.startswith("FROM ") else text.split("\nFROM ")[1].splitlines()
    return [line.removeprefix("RUN ") for line in first if line.startswith("RUN ")]


@pytest.mark.slow
def test_what_the_image_installs_runs(tmp_path: Path) -> None:
    """The installation of the image, step by step without a builder, and its entry point."""
    (install,) = steps_of_the_image()
    copy = tmp_path / "src"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "site", "dist", ".*_cache", ".hypothesis")
    )
    command = install.replace("/install", str(tmp_path / "install")).replace("/src", str(copy))
    pip = f'"{sys.executable}" -m pip'
    subprocess.run(["sh", "-c", command.replace("pip install", f"{pip} install --quiet")], check=True, cwd=tmp_path)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "install"), "PYTHONDONTWRITEBYTECODE": "1"}
    base = getattr(sys, "_base_executable", sys.executable)
    done = subprocess.run(
        [base, "-s", "-m", "qcheck", "check"], cwd=FLEET, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "QC101" in done.stdout) == (1, True)


BUILDERS = ("docker", "podman", "buildah")
OUT_OF_REACH = (
    "lookup",
    "pull access denied",
    "no such host",
    "connection refused",
    "i/o timeout",
    "dial tcp",
    "pinging",
)


def builder() -> str:
    """The first program that can build images here; skips the test where there is none."""
    for name in BUILDERS:
        if shutil.which(name) and not subprocess.run([name, "info"], capture_output=True, check=False).returncode:
            return name
    pytest.skip("no container builder works here")


@pytest.mark.slow
def test_the_image_runs() -> None:
    name = builder()
    isolation = ["--isolation", "chroot"] if name == "buildah" else []
    words = [name, "build", *isolation, "--tag", "qcheck-test", str(ROOT)]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    if built.returncode and any(sign in built.stderr for sign in OUT_OF_REACH):
        pytest.skip(f"the base image is out of reach: {built.stderr.splitlines()[-1]}")
    assert built.returncode == 0, built.stderr
    if name == "buildah":
        made = subprocess.run(
            ["buildah", "from", "qcheck-test"], capture_output=True, text=True, check=True
        ).stdout.strip()
        run = ["buildah", "run", *isolation, "--volume", f"{FLEET}:/repo", made, "python", "-m", "qcheck", "check"]
    else:
        run = [name, "run", "--rm", "--volume", f"{FLEET}:/repo:ro", "qcheck-test"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, "QC101" in done.stdout) == (1, True), done.stderr
