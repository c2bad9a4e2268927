"""Output of reports to standard output or files, complete or not at all."""

from __future__ import annotations

import os
import sys

from qcheck.cli.signals import end_tidily
from qcheck.cli.terminal import PROGRESS, width_of
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

STDOUT = "-"


class UsageError(Exception):
    """The command cannot be carried out as given."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Output(Value):
    """One report: its format and its file (`-`: standard output)."""

    format: str
    file: str = STDOUT


def parse_outputs(words: Iterable[str], formats: Sequence[str]) -> tuple[Output, ...]:
    """Return `FMT[=FILE]` of each `--format`; the first of `formats` if none is given. Raises `UsageError`."""
    outputs = tuple(_output(word, formats) for word in words) or (Output(formats[0]),)
    files = [output.file for output in outputs]
    if double := next((file for file in files if files.count(file) > 1), None):
        where = "standard output" if double == STDOUT else double
        raise UsageError(f"two reports cannot both go to {where}", "Give each its own file: --format sarif=FILE.")
    return outputs


def _output(word: str, formats: Sequence[str]) -> Output:
    name, sign, file = word.partition("=")
    if name not in formats:
        raise UsageError(f"there is no format {name!r}", f"Formats: {', '.join(formats)}.")
    if sign and not file:
        raise UsageError(
            f"--format {word}: a file name is missing", f"Write {name}=FILE, or {name} for standard output."
        )
    return Output(name, file or STDOUT)


def write_report(output: Output, formats: Mapping[str, Callable[..., str]], *given: object) -> None:
    """Write `given` in a format, fitted to the width of a terminal. Raises `UsageError`."""
    render = formats[output.format]
    on_terminal = output == Output("text") and (width := width_of(sys.stdout)) is not None
    write(output, render(*given, width=width) if on_terminal else render(*given))


def write(output: Output, text: str) -> None:
    """Write a report. Raises `UsageError` if the file cannot be written."""
    if output.file == STDOUT:
        to_stdout(text)
        return
    end_tidily()
    try:
        write_whole(output.file, text)
    except OSError as error:
        raise UsageError(f"cannot write {output.file}: {error.strerror or error}") from None


def to_stdout(text: str) -> None:
    """Write UTF-8 bytes with LF line ends on every platform. A closed pipe is not an error."""
    PROGRESS.erase()
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_whole(path: str, text: str) -> None:
    """Write a file in one step, so that an interrupted run keeps the old one; write to pipes and devices directly."""
    data = text.encode("utf-8", "backslashreplace")
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as stream:
            stream.write(data)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
