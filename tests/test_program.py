"""Programs that a run starts do not outlive it, whenever a signal comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from qcheck.sources.program import started

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
SLEEP = [sys.executable, "-c", "import time; time.sleep(100)"]


class Stopped(BaseException):
    pass


@pytest.fixture(autouse=True)
def stops() -> Iterator[None]:
    """SIGTERM raises, as in a run of qcheck."""

    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("session", [False, True])
def test_a_signal_while_a_program_starts_kills_it(session: bool) -> None:
    made: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        made.append(subprocess.Popen(SLEEP, start_new_session=session))
        signal.raise_signal(signal.SIGTERM)
        return made[0]

    with pytest.raises(Stopped), started(start):
        raise AssertionError("the block is not entered")
    assert made[0].returncode == -signal.SIGKILL


def test_a_signal_in_the_block_kills_the_program() -> None:
    with pytest.raises(Stopped), started(lambda: subprocess.Popen(SLEEP)) as process:
        signal.raise_signal(signal.SIGTERM)
    assert process.returncode == -signal.SIGKILL


def test_a_program_that_cannot_start_leaves_the_handlers_as_they_were() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(FileNotFoundError), started(lambda: subprocess.Popen(["no-such-program"])):
        pass
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_is_kept_if_the_program_cannot_start() -> None:
    def start() -> subprocess.Popen[bytes]:
        signal.raise_signal(signal.SIGTERM)
        return subprocess.Popen(["no-such-program"])

    with pytest.raises(Stopped), started(start):
        raise AssertionError("the block is not entered")


def test_a_program_that_ends_is_waited_for() -> None:
    with started(lambda: subprocess.Popen([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE)) as process:
        assert process.communicate()[0].strip() == b"1"
    assert process.returncode == 0
