"""`qcheck explain preemption`: whether owners get their quota back, from whom, and how long it may take."""

from __future__ import annotations

from qcheck.cli.inputs import paths_for, settings_for, stop_if_unjudged
from qcheck.cli.output import parse_outputs, write_report
from qcheck.cli.terminal import ProgressReporter
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.gather import gather
from qcheck.reports import preemption as report
from qcheck.schedulers.kueue.preemption import preemption_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORMATS: dict[str, Callable[..., str]] = {
    "text": report.render_text,
    "json": report.render_json,
    "markdown": report.render_markdown,
    "html": report.render_html,
}


def explain_preemption(
    paths: Sequence[str], config: str | None, clusters: Sequence[str], formats: Sequence[str]
) -> None:
    outputs = parse_outputs(formats, tuple(FORMATS))
    settings = settings_for(paths, config, clusters)
    watch = ProgressReporter(False, quiet=False)
    gathered = gather(paths_for(paths, settings), settings, watch)
    watch("report", 0, 0)
    matrices = [preemption_matrix(c) for c in gathered.clusters]
    for output in outputs:
        write_report(output, FORMATS, matrices)
    watch.close()
    stop_if_unjudged(gathered.unjudged)
