"""`qcheck baseline`: accept today's findings, so that only new ones count."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from qcheck.cli.command import Command
from qcheck.cli.inputs import audited, settings_for, stop_if_unjudged
from qcheck.cli.output import Output, UsageError
from qcheck.cli.output import write as to_file
from qcheck.cli.shared_parameters import ConfigFile, Paths
from qcheck.cli.terminal import ProgressReporter, say
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.baseline import prune_text, read_baseline, stale, write_text
from qcheck.findings.result import BaselineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.findings.baseline import Baseline
    from qcheck.findings.result import Result
    from qcheck.settings import Settings

DEFAULT = "qcheck-baseline.json"
BaselineFile = Annotated[
    str | None,
    typer.Option(
        "--baseline", metavar="FILE", help=f"Baseline file; default: the one in the settings, else {DEFAULT}."
    ),
]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Accept today's findings, so that only new ones count.\n\n"
    "The file identifies findings by object and field, not by line. Add it to the settings: baseline: qcheck-baseline.json",
)


@app.command(cls=Command)
def write(paths: Paths = None, config: ConfigFile = None, baseline: BaselineFile = None) -> None:
    """Accept all current findings; entries that this run could not judge are kept."""
    settings = settings_for(paths or (), config)
    file = _file(settings, baseline)
    known = _read(file) if os.path.exists(file) else None
    result = _found(paths or [], settings, file if known else None)
    gone = {e.fingerprint for e in stale(known, result)} if known else set()
    kept = [e for e in known.entries.values() if e.fingerprint not in gone] if known else []
    to_file(Output("json", file), write_text(result, kept))
    say(f"wrote {file}: {len(_read(file).entries)} accepted findings")
    if settings.baseline is None and baseline is None:
        say(f"hint: add `baseline: {DEFAULT}` to qcheck.yaml, or pass --baseline {file} to `qcheck check`")


@app.command(cls=Command)
def prune(paths: Paths = None, config: ConfigFile = None, baseline: BaselineFile = None) -> None:
    """Remove findings that no longer occur; nothing is added."""
    settings = settings_for(paths or (), config)
    file = _file(settings, baseline)
    known = _read(file)
    result = _found(paths or [], settings, file)
    to_file(Output("json", file), prune_text(known, result))
    say(f"wrote {file}: {len(stale(known, result))} of {len(known.entries)} accepted findings no longer occur")


def _file(settings: Settings, given: str | None) -> str:
    """Return the path of the baseline, relative to the working directory."""
    return given or os.path.normpath(os.path.join(settings.root, settings.baseline or DEFAULT))


def _read(file: str) -> Baseline:
    try:
        return read_baseline(file)
    except BaselineError as error:
        raise UsageError(str(error)) from None


def _found(paths: Sequence[str], settings: Settings, file: str | None) -> Result:
    """Return the findings of a run that `file` does not accept, without problems of the baseline itself (QC013)."""
    beside = None if file is None else os.path.relpath(file, settings.root)
    watch = ProgressReporter(verbose=False, quiet=False)
    rules = replace(settings.rules, ignore=(*settings.rules.ignore, "baseline-stale"))
    result = audited(paths, replace(settings, baseline=beside, rules=rules), watch)
    watch.close()
    stop_if_unjudged(result.inputs.unjudged)
    return result
