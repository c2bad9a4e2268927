"""`qcheck drift`: what the cluster has and the files do not, and the reverse."""

from __future__ import annotations

import typer

from qcheck import api
from qcheck.cli.arguments import Clusters, ConfigFile, Format, Live, Paths, Verbose
from qcheck.cli.given import paths_for, settings_for
from qcheck.cli.output import Output, UsageError, parse_outputs, write
from qcheck.cli.terminal import Watch, complain
from qcheck.pipeline.drift import WANTED
from qcheck.pipeline.live import read_live
from qcheck.reports import drift as report
from qcheck.reports.wording import plain

FORMATS = {"text": report.render_text, "json": report.render_json}


def drift(
    paths: Paths = None,
    live: Live = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """How a running cluster differs from its files: objects of either side alone, fields, nodes against pools.

    Compared are the schedulers' configuration, priority classes, DaemonSets that files define, and nodes. Defaults and the
    spelling of quantities make no difference. Exit codes: 0 none; 1 differences; 2 could not judge.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    if live is None:
        raise UsageError("which cluster? Files are compared with a running one", "Give --live, or --live=CONTEXT.")
    settings = settings_for(paths or (".",), config, cluster or (), live)
    watch = Watch(verbose, quiet=False)
    found = api.drift(paths_for(paths or (), settings), read_live(live, watch, WANTED), settings, watch)
    watch.close()
    for output in outputs:
        write(output, FORMATS[output.format](found))
    if found.unjudged and Output("text") not in outputs:
        complain("could not judge everything:\n" + "\n".join(map(plain, found.unjudged)))
    raise typer.Exit(found.exit_code)
