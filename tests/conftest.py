"""No test may fail because the machine is busy: Hypothesis neither times examples nor judges how fast they are drawn.

In CI it draws the same examples every time, so that nobody's change fails on what another draw would have found.
"""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "busy machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("busy machine")

os.environ.pop("GITHUB_ACTIONS", None)  # under it errors are annotations as well
os.environ["PIP_NO_COMPILE"] = "1"  # environments that tests install are used once


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with an empty repository in `repo`, from where tests run, and only the programs of `bin`."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path
