"""`qcheck simulate`: simulate a scheduler with many workloads, cycle by cycle."""

from __future__ import annotations

from typing import Annotated

import typer

from qcheck import DOCS
from qcheck.answers.question import QuestionError
from qcheck.cli.inputs import paths_for, running, settings_for
from qcheck.cli.output import UsageError, parse_outputs, write
from qcheck.cli.shared_parameters import Busy, Clusters, ConfigFile, Format, In, Live, Verbose
from qcheck.cli.terminal import ProgressReporter
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.simulate import run_change, run_scenario
from qcheck.reports import simulation as report
from qcheck.reports.html.simulation import render, render_svg
from qcheck.sources.git import GitError

if TYPE_CHECKING:
    from qcheck.answers.simulated import Simulated


def _svg(run: Simulated) -> str:
    return render_svg(run)


def _html(run: Simulated) -> str:
    return render(run)


FORMATS = {"text": report.render_text, "json": report.render_json, "html": _html, "svg": _svg}
COMPARISONS = {"text": report.render_change, "json": report.render_change_json}
HINT = f"`qcheck schema scenario` prints the schema of a scenario; {DOCS}/simulate.md explains it."


ScenarioFile = Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file.", show_default=False)]
FullWith = Annotated[
    str | None,
    typer.Option(
        "--full-with",
        metavar="SHAPE",
        help="Start with full queues of workloads of this shape: a name from the settings, or nvidia.com/gpu=8.",
    ),
]
Compare = Annotated[
    str | None,
    typer.Option(
        "--compare",
        metavar="BASE..HEAD",
        help="Compare runs before and after a change; BASE.. compares with the working files.",
    ),
]


def simulate(
    scenario: ScenarioFile,
    into: In = None,
    full_with: FullWith = None,
    compare: Compare = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    live: Live = None,
    busy: Busy = False,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Simulate a scenario cycle by cycle: who is admitted, who is preempted by whom, who waits and why.

    Exit codes: 0 success; 2 could not simulate.
    """
    if compare is not None and live is not None:
        raise UsageError("--compare reads two revisions of the files and cannot be combined with --live")
    outputs = parse_outputs(format or (), tuple(FORMATS if compare is None else COMPARISONS))
    settings = settings_for(into or (), config, cluster or (), live, near=[scenario])
    watch = ProgressReporter(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    paths = paths_for(into or [], settings, live)
    try:
        if compare is None:
            runs = [run_scenario(scenario, paths, settings, watch, full_with, running(live, watch), busy)]
            texts = [FORMATS[o.format](runs[0].run) for o in outputs]
        else:
            before, after = run_change(scenario, compare, paths, settings, watch, full_with)
            runs = [before, after]
            texts = [COMPARISONS[o.format](before.run, after.run, (before.name, after.name)) for o in outputs]
    except QuestionError as error:
        raise UsageError(str(error), HINT if scenario in str(error) and "--cluster" not in str(error) else "") from None
    except GitError as error:
        raise UsageError(str(error), error.hint) from None
    for output, text in zip(outputs, texts, strict=True):
        write(output, text)
    watch.close()
    unjudged = [why for ran in runs for why in ran.unjudged]
    if unjudged:
        raise UsageError("could not judge everything:\n" + "\n".join(dict.fromkeys(unjudged)))
