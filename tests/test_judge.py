"""Agreement with what the real schedulers decided, where recordings lie beside the project; see `make judge`."""

from __future__ import annotations

import judge
import pytest

RECORDED = judge.beside_the_project()


@pytest.mark.slow
@pytest.mark.skipif(RECORDED is None, reason="no recordings beside the project")
def test_every_recording_agrees() -> None:
    assert RECORDED is not None
    found = [line for _, suite, path in judge.suites(RECORDED) for line in suite.differences(path)]
    assert not judge.unexplained(found)


def test_a_known_difference_is_explained() -> None:
    assert all(reason for reason in judge.KNOWN.values())
