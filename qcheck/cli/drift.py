"""`qcheck drift`: compare a running cluster with its files."""

from __future__ import annotations

import typer

from qcheck import api
from qcheck.cli.inputs import paths_for, settings_for
from qcheck.cli.output import Output, UsageError, parse_outputs, write
from qcheck.cli.shared_parameters import Clusters, ConfigFile, Format, LiveCluster, Paths, Verbose
from qcheck.cli.signals import end_tidily
from qcheck.cli.terminal import ProgressReporter, complain
from qcheck.pipeline.drift import WANTED
from qcheck.pipeline.live import read_live
from qcheck.reports import drift as report
from qcheck.reports.wording import plain

FORMATS = {"text": report.render_text, "json": report.render_json}


def drift(
    paths: Paths = None,
    live: LiveCluster = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Show how a running cluster differs from its files: objects on one side only, fields, and nodes against pools.

    Compares scheduler configuration, priority classes, DaemonSets that the files define, and nodes. Ignores defaults and
    the notation of quantities. Exit codes: 0 no differences; 1 differences; 2 could not judge.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    if live is None:
        raise UsageError("drift needs a running cluster to compare with the files", "Pass --live, or --live=CONTEXT.")
    settings = settings_for(paths or (".",), config, cluster or (), live)
    watch = ProgressReporter(verbose, quiet=False)
    end_tidily()
    found = api.drift(paths_for(paths or (), settings), read_live(live, watch, WANTED), settings, watch)
    watch.close()
    for output in outputs:
        write(output, FORMATS[output.format](found))
    if found.unjudged and Output("text") not in outputs:
        complain("could not judge everything:\n" + "\n".join(map(plain, found.unjudged)))
    raise typer.Exit(found.exit_code)
