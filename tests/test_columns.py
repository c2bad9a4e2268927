"""Tables on terminals: columns where they fit, a block for each row where they do not, whole lines in pipes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from qcheck.reports.columns import columns, cut

ROOT = Path(__file__).parent.parent
FLEET = str(ROOT / "fixtures" / "clusters" / "research-fleet")
ROWS = [("queue", "limit", "note"), ("research", "80", "lends all"), ("default", "152", "")]


def test_columns_side_by_side() -> None:
    assert columns(ROWS, right={1}) == ["queue     limit  note", "research     80  lends all", "default     152"]


def test_a_narrow_terminal_gets_a_block_for_each_row() -> None:
    assert columns(ROWS, right={1}, width=20) == [
        "research",
        "  limit  80",
        "  note   lends all",
        "default",
        "  limit  152",
    ]
    assert columns(ROWS, width=len("research  80     lends all")) == columns(ROWS)


def test_a_cut_line_fits() -> None:
    assert cut("a long line", 6) == "a lon…"
    assert cut("short", 6) == "short"
    assert cut("a long line", None) == "a long line"


def on_terminal(wide: int, *words: str, **env: str) -> str:
    """What a command shows on a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, wide, 0, 0))
    kept = {
        k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "CI", "GITHUB_ACTIONS")
    }
    run = [sys.executable, "-m", "qcheck", *words]
    with subprocess.Popen(
        run, stdout=follower, stderr=subprocess.DEVNULL, env={**kept, "TERM": "xterm", **env}
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 1 << 16)
            except OSError:
                break
            shown += part
        process.wait()
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "words", [["capacity", FLEET], ["shares", FLEET], ["explain", "preemption", FLEET]], ids=lambda w: w[0]
)
def test_a_terminal_decides_on_the_layout(words: list[str]) -> None:
    piped = subprocess.run([sys.executable, "-m", "qcheck", *words], capture_output=True, text=True, check=True).stdout
    assert on_terminal(240, *words) == piped
    narrow = on_terminal(60, *words)
    assert narrow != piped
    assert narrow.count("\n") > piped.count("\n")


def test_the_list_of_rules_is_cut_to_the_terminal() -> None:
    lines = on_terminal(60, "rules").splitlines()
    assert max(map(len, lines)) == 60
    assert any(line.endswith("…") for line in lines)


def test_colours_are_for_terminals_that_want_them() -> None:
    escapes = re.compile(r"\x1b\[")
    assert escapes.search(on_terminal(100, "check", FLEET))
    assert not escapes.search(on_terminal(100, "check", FLEET, NO_COLOR="1"))
    assert not escapes.search(on_terminal(100, "check", FLEET, TERM="dumb"))
    piped = subprocess.run(
        [sys.executable, "-m", "qcheck", "check", FLEET], capture_output=True, text=True, check=False
    )
    assert not escapes.search(piped.stdout)
