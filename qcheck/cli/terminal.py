"""Errors and progress on standard error, and the choice of colours."""

from __future__ import annotations

import os
import sys
from time import perf_counter

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import plain

if TYPE_CHECKING:
    from typing import TextIO

RED, BOLD, RESET = "\x1b[31m", "\x1b[1m", "\x1b[0m"


def wants_color(choice: str, stream: TextIO) -> bool:
    """Decide by `--color`, then NO_COLOR and FORCE_COLOR, then whether `stream` is a terminal with colours."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int | None:
    """Return a terminal's width in columns; None for anything else, whose lines may have any length."""
    if not stream.isatty():
        return None
    from shutil import get_terminal_size  # 2 ms

    return get_terminal_size().columns


def complain(message: str, hint: str = "", color: str = "auto") -> None:
    """Print an error for people: the problem, and what to do next; on GitHub, also as an annotation."""
    if is_on_github():
        annotate(f"{message}\n{hint}" if hint else message)

    head = f"{BOLD}{RED}error:{RESET}" if wants_color(color, sys.stderr) else "error:"
    first, *more = map(plain, message.splitlines() or [""])
    lines = [f"{head} {first}", *(f"     | {line}" for line in more)]
    if hint:
        lines.append(f"  hint: {plain(hint)}")
    _to_stderr("\n".join(lines))


def is_on_github() -> bool:
    """Return whether GitHub Actions runs this process."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotate(message: str) -> None:
    """Print an error as a workflow command.

    Runners read it on standard error too, where it does not affect a report.
    """
    from qcheck.reports.github import error_command  # 0.4 ms

    _to_stderr(error_command("qcheck", message))


def say(text: str) -> None:
    """Print a line on standard error."""
    _to_stderr(plain(text))


def _to_stderr(text: str) -> None:
    """Print to standard error; a closed stream must not make a run fail."""
    PROGRESS.erase()
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        return


class ProgressLine:
    """The progress line on standard error; any other output erases it first."""

    def __init__(self) -> None:
        self._is_drawn = False

    def draw(self, text: str) -> None:
        self._write(f"\r{text}\x1b[K")
        self._is_drawn = True

    def erase(self) -> None:
        if self._is_drawn:
            self._write("\r\x1b[K")
            self._is_drawn = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            return


PROGRESS = ProgressLine()


def is_animated() -> bool:
    """Return whether standard error is a terminal that can redraw a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")


class ProgressReporter:
    """Reports progress on a terminal once a run takes longer than a moment, and times per stage for `--verbose`."""

    PATIENCE = 0.7
    REDRAW = 0.1

    def __init__(self, verbose: bool, quiet: bool) -> None:
        self.verbose = verbose
        self.draws = not quiet and is_animated()
        self.drawn = self.started = perf_counter()
        self.stages: list[tuple[str, float]] = []

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = perf_counter()
        if not self.stages or self.stages[-1][0] != stage:
            self.stages.append((stage, now))
        elif not self.draws or now - self.drawn < self.REDRAW:
            return
        if self.draws and now - self.started > self.PATIENCE:
            self.drawn = now
            PROGRESS.draw(f"{stage} {done}/{total}" if total else stage)

    def note(self, text: str) -> None:
        """Print details for `--verbose`."""
        if self.verbose:
            say(text)

    def close(self) -> None:
        """Erase the progress line, and print how long each stage took for `--verbose`."""
        PROGRESS.erase()
        if self.verbose:
            ends = [began for _, began in self.stages[1:]] + [perf_counter()]
            for (stage, began), end in zip(self.stages, ends, strict=True):
                say(f"{stage:<9} {(end - began) * 1000:8.1f} ms")
