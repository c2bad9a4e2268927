"""Agreement with what the real schedulers decided, where recordings lie beside the project; see `make judge`."""

from __future__ import annotations

from pathlib import Path

import judge
import pytest

RECORDED = judge.beside_the_project()
SUITES = list(judge.suites(RECORDED)) if RECORDED is not None else []


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "path"), [(suite, path) for _, suite, path in SUITES], ids=[s[0] for s in SUITES])
def test_every_recording_agrees(suite: judge.Suite, path: Path) -> None:
    assert not judge.unexplained(suite.differences(path))


def test_a_known_difference_is_explained() -> None:
    assert all(reason for reason in judge.KNOWN.values())
