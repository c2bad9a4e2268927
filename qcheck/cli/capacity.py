"""`qcheck capacity`: compare what queues promise with what nodes hold."""

from __future__ import annotations

from collections.abc import Callable

from qcheck.cli.inputs import paths_for, running, settings_for, stop_if_unjudged
from qcheck.cli.output import parse_outputs, write_report
from qcheck.cli.shared_parameters import Clusters, ConfigFile, Format, Live, Paths, Verbose
from qcheck.cli.terminal import ProgressReporter
from qcheck.pipeline.gather import gather
from qcheck.reports import capacity as report

FORMATS: dict[str, Callable[..., str]] = {"text": report.render_text, "json": report.render_json}


def capacity(
    paths: Paths = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    live: Live = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Show quota and nodes side by side: what queues promise of each flavor and resource, and what its nodes hold.

    Node amounts exclude DaemonSets and reserves. Headroom is what existing nodes hold minus the quota; nodes that an
    autoscaler can add do not count.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    settings = settings_for(paths or (), config, cluster or (), live)
    watch = ProgressReporter(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    gathered = gather(paths_for(paths or (), settings, live), settings, watch, live=running(live, watch))
    watch("report", 0, 0)
    for output in outputs:
        write_report(output, FORMATS, gathered.clusters, gathered.unjudged)
    watch.close()
    stop_if_unjudged(gathered.unjudged)
