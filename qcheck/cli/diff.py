"""`qcheck diff`: show the effect of a change."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from qcheck.answers.finding_changes import Comparison
from qcheck.cli.inputs import paths_for, settings_for
from qcheck.cli.output import Output, UsageError, parse_outputs, write
from qcheck.cli.shared_parameters import Clusters, ConfigFile, Format, Verbose
from qcheck.cli.terminal import ProgressReporter, wants_color, width_of
from qcheck.findings.result import BaselineError
from qcheck.pipeline.diff import compare, sides
from qcheck.reports import diff as report
from qcheck.sources.git import GitError

FORMATS = {"text": report.render_text, "json": report.render_json, "markdown": report.render_markdown}


def diff(
    base: Annotated[str, typer.Argument(metavar="BASE", help="A revision (main, v1.2, a commit), or a directory.")],
    head: Annotated[
        str | None, typer.Argument(metavar="[HEAD]", help="A second revision or directory; default: the working files.")
    ] = None,
    within: Annotated[
        list[str] | None, typer.Option("--in", metavar="PATH", help="Paths to read; default: as for check.")
    ] = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Show what a change does to quota, capacity, headroom and findings.

    Revisions are read through git; the checkout is not modified. The comparison starts at the merge base of BASE and HEAD.
    Exit codes: 0 no new error; 1 new errors; 2 could not judge.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    settings = settings_for(within or (), config, cluster or ())
    watch = ProgressReporter(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    try:
        comparison = compare(*sides(base, head, paths_for(within or (), settings), settings), watch)
    except GitError as error:
        raise UsageError(str(error), error.hint) from None
    except BaselineError as error:
        raise UsageError(str(error)) from None
    watch("report", 0, 0)
    for output in outputs:
        write(output, _rendered(comparison, output))
    watch.close()
    raise typer.Exit(comparison.exit_code)


def _rendered(comparison: Comparison, output: Output) -> str:
    if output == Output("text"):
        return report.render_text(comparison, wants_color("auto", sys.stdout), width_of(sys.stdout))
    return FORMATS[output.format](comparison)
