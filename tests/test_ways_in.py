"""Ways in beside the hook and the action: the kubectl plugin, the GitLab component, the container image."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import tomllib
from pathlib import Path

import plain_yaml
import pytest

from qcheck.cli.check_options import CHECK_OPTIONS
from qcheck.reports import FORMATS

ROOT = Path(__file__).parent.parent


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
    assert set(header["spec"]["inputs"]) == {"paths", "stage", "version"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("docker") is None, reason="no container builder here")
def test_the_image_runs() -> None:
    if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        pytest.skip("no container engine runs here")
    subprocess.run(["docker", "build", "--quiet", "--tag", "qcheck-test", str(ROOT)], check=True, capture_output=True)
    mount = f"{ROOT / 'fixtures' / 'clusters' / 'research-fleet'}:/repo:ro"
    done = subprocess.run(["docker", "run", "--rm", "--volume", mount, "qcheck-test"], capture_output=True, check=False)
    assert done.returncode == 1
