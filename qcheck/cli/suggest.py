"""`qcheck suggest`: find the smallest edits that make `check` pass."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from qcheck.answers.constraints import Constraints, Headroom, Mode
from qcheck.cli.check_options import words
from qcheck.cli.inputs import check_rules, paths_for, settings_for, stop_if_unjudged
from qcheck.cli.output import UsageError, parse_outputs, write
from qcheck.cli.shared_parameters import Clusters, ConfigFile, Format, Paths, Verbose
from qcheck.cli.terminal import ProgressReporter, say
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.result import BaselineError
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import collect, gather
from qcheck.pipeline.picked import errors, of_rules
from qcheck.pipeline.rewritten_file import obstacle
from qcheck.pipeline.rewritten_file import write as write_file
from qcheck.pipeline.suggest import suggestions
from qcheck.pipeline.value_files import kept_places, rewritten
from qcheck.reports import suggest as report
from qcheck.schedulers.table import promises_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.findings.result import Result
    from qcheck.findings.suggestions import Suggestions
    from qcheck.pipeline.suggest import Asked
    from qcheck.settings import Settings

_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
FORMATS = {"text": report.render_text, "json": report.render_json, "patch": report.render_patch}

Rules = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="RULE,...", help="Rules to satisfy: id, name or prefix. Default: all errors."),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="minimal: change the fewest quotas; proportional: scale all quotas; fill: set them from nodes and `shares`.",
    ),
]
Keep = Annotated[
    list[str] | None, typer.Option("--keep", metavar="QUEUE", help="Keep this queue's quota; may be repeated.")
]
Floor = Annotated[
    list[str] | None,
    typer.Option("--floor", metavar="QUEUE=N", help="Leave this queue at least N accelerators; may be repeated."),
]
HeadroomOption = Annotated[
    str | None,
    typer.Option(
        "--headroom", metavar="N|P%|N-node", help="Capacity that fill leaves free: devices, percent or nodes."
    ),
]
Write = Annotated[
    bool, typer.Option("--write", help="Write the first alternative to the files; only the values change.")
]
Pick = Annotated[int, typer.Option("--pick", metavar="N", min=1, help="The alternative that --write applies.")]


def suggest(
    paths: Paths = None,
    rules: Rules = None,
    mode: ModeOption = Mode.MINIMAL,
    keep: Keep = None,
    floor: Floor = None,
    headroom: HeadroomOption = None,
    write_edits: Write = False,
    pick: Pick = 1,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Suggest the smallest edits that make check pass: lower quotas, more nodes, other names. Each is tested first.

    Exit codes: 0 nothing to suggest, or with --write the files now pass; 1 there are alternatives, or an error has none;
    2 could not judge.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    if write_edits and "-" in (paths or ()):
        raise UsageError("--write cannot be combined with standard input", "Pass files or directories.")
    settings = settings_for(paths or (), config, cluster or ())
    asked = _asked(words(rules or (), "--rules"))
    constraints = Constraints(
        mode=mode,
        kept=frozenset(words(keep or (), "--keep")),
        floors=_floors(floor or ()),
        headroom=_headroom(headroom),
    )
    result = _suggested(paths or (), settings, asked, constraints, ProgressReporter(verbose, quiet=False))
    for output in outputs:
        write(output, FORMATS[output.format](result))
    stop_if_unjudged(result.inputs.unjudged)
    found = result.suggestions
    if not write_edits or found is None or not found.alternatives:
        raise typer.Exit(report.exit_code(result))
    _write(found, pick)
    raise typer.Exit(1 if _still_fails(paths or (), settings, asked) else 0)


def _asked(rules: Sequence[str]) -> Asked:
    check_rules(rules, "--rules")
    return of_rules(rules) if rules else errors


def _suggested(
    paths: Sequence[str], settings: Settings, asked: Asked, constraints: Constraints, watch: ProgressReporter
) -> Result:
    """Return the result of the check with its suggestions. Raises `UsageError` if no queue has a given name."""
    read = collect(paths_for(paths, settings), settings, watch)
    constraints = replace(constraints, kept_places=kept_places(read.loaded))
    try:
        result = suggestions(read, settings, asked, constraints, watch)
    except BaselineError as error:
        raise UsageError(str(error)) from None
    finally:
        watch.close()
    named = {*constraints.kept, *constraints.floors}
    queues = {c.holder for k in result.clusters for cells in promises_of(k).cells.values() for c in cells}
    if unknown := sorted(named - queues):
        known = ", ".join(sorted(queues)) or "none"
        raise UsageError(f"--keep and --floor: there is no queue {' or '.join(unknown)}", f"Queues: {known}.")
    return result


def _write(found: Suggestions, pick: int) -> None:
    """Write an alternative to its files. Raises `UsageError` for an unknown number or a file that cannot be written."""
    if pick > len(found.alternatives):
        there = f"{len(found.alternatives)} alternative{'s' * (len(found.alternatives) != 1)}"
        raise UsageError(f"--pick {pick}: there {'is' if len(found.alternatives) == 1 else 'are'} {there}")
    files = rewritten(found.alternatives[pick - 1].edits)
    if unwritable := [f"{file.path} ({why})" for file in files if (why := obstacle(file))]:
        hint = "Nothing was written. Apply the patch that --format patch prints."
        raise UsageError(f"the files cannot be rewritten: {', '.join(unwritable)}", hint)
    try:
        for file in files:
            write_file(file)
            say(f"rewrote {file.path}")
    except OSError as error:
        raise UsageError(f"the files cannot be rewritten: {error}", "Apply the patch of --format patch.") from None


def _still_fails(paths: Sequence[str], settings: Settings, asked: Asked) -> bool:
    """Return whether the files, read again, still have the findings in question, or could not be judged."""
    result = checked(gather(paths_for(paths, settings), settings), settings)
    return bool(result.inputs.unjudged) or bool(asked(result))


def _floors(texts: Sequence[str]) -> dict[str, int]:
    floors = {}
    for text in words(texts, "--floor"):
        queue, equals, number = text.rpartition("=")
        if not equals or not queue or _NUMBER.fullmatch(number) is None:
            raise UsageError(f"--floor {text}: write QUEUE=N, N a whole number of accelerators")
        floors[queue] = int(number)
    return floors


def _headroom(text: str | None) -> Headroom:
    match = re.fullmatch(r"(\d{1,9})(%|-nodes?)?", text or "0", re.ASCII)
    if match is None:
        raise UsageError(
            f"--headroom {text}: write a number of devices, a percentage such as 5%, or nodes such as 1-node"
        )
    number, unit = int(match[1]), match[2]
    if unit == "%":
        return Headroom(percent=number)
    return Headroom(nodes=number) if unit else Headroom(devices=number)
