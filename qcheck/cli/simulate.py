"""`qcheck simulate`: what Kueue's scheduler does with many workloads, cycle by cycle."""

from __future__ import annotations

from typing import Annotated

import typer

from qcheck import api
from qcheck.answers.question import QuestionError
from qcheck.cli.admit import In
from qcheck.cli.arguments import Clusters, ConfigFile, Format, Verbose
from qcheck.cli.given import paths_for, settings_for
from qcheck.cli.output import UsageError, parse_outputs, write
from qcheck.cli.terminal import Watch
from qcheck.reports import simulation as report

FORMATS = {"text": report.render_text, "json": report.render_json}
HINT = "`qcheck schema scenario` prints what a scenario may hold, docs/simulate.md explains it."


def simulate(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file.", show_default=False)],
    into: In = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """What happens, cycle by cycle: who is admitted, who is preempted by whom, who waits and why.

    Exit codes: 0 it ran; 2 it could not.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    settings = settings_for(into or [scenario], config, cluster or ())
    watch = Watch(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    try:
        run = api.simulate(scenario, paths_for(into or [], settings), settings, watch)
    except QuestionError as error:
        raise UsageError(str(error), HINT) from None
    watch("report", 0, 0)
    for output in outputs:
        write(output, FORMATS[output.format](run))
    watch.close()
