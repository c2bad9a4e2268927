"""`qcheck admit`: predict whether a workload is admitted, and whether it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from qcheck import api
from qcheck.cli.inputs import paths_for, running, settings_for
from qcheck.cli.output import Output, parse_outputs, write
from qcheck.cli.shared_parameters import Busy, Clusters, ConfigFile, Format, In, Live, Verbose
from qcheck.cli.terminal import ProgressReporter, complain
from qcheck.reports import admission as report

FORMATS = {"text": report.render_text, "json": report.render_json}

Workloads = Annotated[
    list[str],
    typer.Argument(metavar="WORKLOAD...", help="Files with the workloads, or - for stdin.", show_default=False),
]


def admit(
    workloads: Workloads,
    into: In = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    live: Live = None,
    busy: Busy = False,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Predict whether workloads are admitted and run, on which nodes, and if not, why.

    Assumes an otherwise idle cluster unless --busy is given. Exit codes: 0 all run; 1 some will not; 2 cannot tell.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    paths = into or []
    settings = settings_for(paths, config, cluster or (), live, near=workloads)
    watch = ProgressReporter(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    judged = api.admit(workloads, paths_for(paths, settings, live), settings, watch, running(live, watch), busy)
    watch.close()
    for output in outputs:
        write(output, FORMATS[output.format](judged))
    if judged.unjudged and Output("text") not in outputs:
        complain("could not judge everything:\n" + "\n".join(judged.unjudged))
    raise typer.Exit(judged.exit_code)
