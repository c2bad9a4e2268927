"""`qcheck shares`: show what each queue gets when queues are busy."""

from __future__ import annotations

from typing import Annotated

import typer

from qcheck.answers.question import QuestionError
from qcheck.cli.check_options import words
from qcheck.cli.inputs import paths_for, running, settings_for, stop_if_unjudged
from qcheck.cli.output import UsageError, parse_outputs, write_report
from qcheck.cli.shared_parameters import Clusters, ConfigFile, Format, Live, Paths, Verbose
from qcheck.cli.terminal import ProgressReporter
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.gather import gather
from qcheck.pipeline.shares import divide
from qcheck.reports import shares as report
from qcheck.reports.html.shares import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.reports.shares import Divided


def _html(divided: Divided, unjudged: Sequence[str]) -> str:
    return render(divided, unjudged)


FORMATS = {
    "text": report.render_text,
    "json": report.render_json,
    "markdown": report.render_markdown,
    "html": _html,
}


def shares(
    paths: Paths = None,
    demand: Annotated[
        str | None,
        typer.Option("--demand", metavar="FILE", help="Demand of each queue; a queue that is not listed has none."),
    ] = None,
    busy: Annotated[
        list[str] | None,
        typer.Option("--busy", metavar="QUEUE,...", help="Queues with unlimited demand; the others have none."),
    ] = None,
    usage: Annotated[str | None, typer.Option("--usage", metavar="FILE", help="Past usage of each queue.")] = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    live: Live = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Show what each queue gets when every queue is busy: reserved, entitled, share, limit, and what it takes back.

    Exit codes: 0 success; 2 could not judge.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    only = words(busy or (), "--busy")
    settings = settings_for(paths or (), config, cluster or (), live)
    watch = ProgressReporter(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    gathered = gather(paths_for(paths or (), settings, live), settings, watch, live=running(live, watch))
    try:
        divided = divide(gathered.clusters, demand, usage, only)
    except QuestionError as error:
        raise UsageError(str(error)) from None
    watch("report", 0, 0)
    for output in outputs:
        write_report(output, FORMATS, divided, gathered.unjudged)
    watch.close()
    stop_if_unjudged(gathered.unjudged)
