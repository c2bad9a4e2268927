"""`qcheck merge`: combine the JSON reports of many runs."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from qcheck.cli.check_options import FAIL_ON, MIN_SEVERITY
from qcheck.cli.output import STDOUT, Output, UsageError, parse_outputs, write
from qcheck.cli.shared_parameters import Color, Format
from qcheck.cli.terminal import complain, wants_color
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.severity import Severity
from qcheck.pipeline.merge import MergeError
from qcheck.pipeline.merge import merge as merge_reports
from qcheck.reports import FORMATS, render, text
from qcheck.sources.files import reason

if TYPE_CHECKING:
    from qcheck.findings.result import Result

Level = Literal["error", "warning", "note"]


def merge(
    reports: Annotated[
        list[str], typer.Argument(metavar="REPORT...", help="Reports of `check --format json`; - is stdin.")
    ],
    format: Format = None,
    fail_on: Annotated[Level, typer.Option("--fail-on", metavar="LEVEL", help=FAIL_ON.help)] = "error",
    min_severity: Annotated[Level, typer.Option("--min-severity", metavar="LEVEL", help=MIN_SEVERITY.help)] = "note",
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit 0 even with findings; code 2 is unaffected.")
    ] = False,
    color: Color = "auto",
) -> None:
    """Merge JSON reports into one: clusters with most errors first, total headroom, and each shared finding once.

    The result equals one run over all inputs. Exit codes: 0 nothing at or above the threshold; 1 findings; 2 a run
    could not judge, or a file is not a report.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    try:
        merged = merge_reports([(path, _content(path)) for path in reports])
    except MergeError as error:
        raise UsageError(str(error), "Write reports with `qcheck check --format json=FILE`.") from None
    result = replace(merged, fail_on=Severity(fail_on)).from_severity(Severity(min_severity))
    for output in outputs:
        write(output, _rendered(result, output, color))
    if result.inputs.unjudged and Output("text") not in outputs:
        complain("could not judge everything:\n" + "\n".join(result.inputs.unjudged))
    raise typer.Exit(0 if exit_zero and result.exit_code == 1 else result.exit_code)


def _content(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None


def _rendered(result: Result, output: Output, color: str) -> str:
    if output.format != "text":
        return render(result, output.format)
    return text.render(result, output.file == STDOUT and wants_color(color, sys.stdout))
