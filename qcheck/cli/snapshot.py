"""`qcheck snapshot`: save a running cluster as one file."""

from __future__ import annotations

from typing import Annotated

import typer

from qcheck.cli.output import STDOUT, Output, UsageError, write
from qcheck.cli.shared_parameters import LiveCluster, Verbose
from qcheck.cli.signals import end_tidily
from qcheck.cli.terminal import ProgressReporter
from qcheck.pipeline.live import read_live, snapshot_text

OutputFile = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - is standard output.")]
Redact = Annotated[bool, typer.Option("--redact", help="Replace names with made-up ones, consistently.")]


def snapshot(
    live: LiveCluster = None, output: OutputFile = STDOUT, redact: Redact = False, verbose: Verbose = False
) -> None:
    """Save what qcheck reads of a running cluster as one YAML file, to repeat a check offline or to report a bug.

    The file contains only what the checks need: no Secrets, environment variables, arguments or managed fields. The same
    cluster gives the same file. Exit codes: 0 everything was read; 2 something could not be read.
    """
    if live is None:
        raise UsageError("a snapshot needs a running cluster", "Pass --live, or --live=CONTEXT.")
    watch = ProgressReporter(verbose, quiet=False)
    end_tidily()
    read = read_live(live, watch)
    watch.close()
    if read.objects or not read.failed:
        write(Output("yaml", output), snapshot_text(read, redact))
    if read.failed:
        raise UsageError("could not read everything:\n" + "\n".join(f"{n.path}: {n.why}" for n in read.failed))
