"""`qcheck suggest`: the smallest edits after which `check` passes."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from qcheck.answers.proposals import Headroom, Mode, Wishes
from qcheck.cli.inputs import check_rules, paths_for, settings_for, stop_if_unjudged, words
from qcheck.cli.output import UsageError, parse_outputs, write
from qcheck.cli.shared_parameters import Clusters, ConfigFile, Format, Paths, Verbose
from qcheck.cli.terminal import ProgressReporter, say
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.pipeline.gather import collect
from qcheck.pipeline.suggest import Workshop, kept_places
from qcheck.reports import suggest as report

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
FORMATS = {"text": report.render_text, "json": report.render_json, "patch": report.render_patch}


def suggest(
    paths: Paths = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--rules", metavar="RULE,...", help="Rules to satisfy: id, name or prefix. Default: all errors."),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            "--mode",
            help="minimal: change the fewest quotas; proportional: scale all quotas; fill: set them from nodes and `shares`.",
        ),
    ] = Mode.MINIMAL,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="QUEUE", help="Keep this queue's quota; may be repeated.")
    ] = None,
    floor: Annotated[
        list[str] | None,
        typer.Option("--floor", metavar="QUEUE=N", help="Leave this queue at least N accelerators; may be repeated."),
    ] = None,
    headroom: Annotated[
        str | None,
        typer.Option(
            "--headroom", metavar="N|P%|N-node", help="Capacity that fill leaves free: devices, percent or nodes."
        ),
    ] = None,
    write_edits: Annotated[
        bool, typer.Option("--write", help="Write the first alternative to the files; only the values change.")
    ] = False,
    pick: Annotated[int, typer.Option("--pick", metavar="N", min=1, help="The alternative that --write applies.")] = 1,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Suggest the smallest edits that make check pass: lower quotas, more nodes, other names. Each one is tried first.

    Exit codes: 0 nothing to suggest, or with --write the files now pass; 1 there are alternatives, or an error has none;
    2 could not judge.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    if write_edits and "-" in (paths or ()):
        raise UsageError("--write cannot be combined with standard input", "Give files or directories.")
    settings = settings_for(paths or (), config, cluster or ())
    named = words(rules or ())
    check_rules(named, "--rules")
    watch = ProgressReporter(verbose, quiet=False)
    read = collect(paths_for(paths or (), settings), settings, watch)
    wishes = Wishes(
        mode=mode,
        kept=frozenset(words(keep or ())),
        kept_places=kept_places(read.loaded),
        floors=_floors(floor or ()),
        headroom=_headroom(headroom),
    )
    workshop = Workshop(read, settings, named, wishes, watch)
    unknown = sorted({*wishes.kept, *wishes.floors} - workshop.queues())
    if unknown:
        known = ", ".join(sorted(workshop.queues())) or "none"
        raise UsageError(f"--keep and --floor name {', '.join(unknown)}, which is no queue", f"Queues: {known}.")
    found = workshop.suggestions()
    watch.close()
    for output in outputs:
        write(output, FORMATS[output.format](found))
    stop_if_unjudged(found.result.inputs)
    if not write_edits or not found.alternatives:
        raise typer.Exit(found.exit_code)
    if pick > len(found.alternatives):
        raise UsageError(f"--pick {pick}: there are {len(found.alternatives)} alternatives")
    try:
        for path in workshop.write(found.alternatives[pick - 1]):
            say(f"rewrote {path}")
    except OSError as error:
        raise UsageError(f"the files cannot be rewritten: {error}", "Apply the patch of --format patch.") from None
    raise typer.Exit(1 if workshop.still_fails(paths_for(paths or (), settings)) else 0)


def _floors(texts: Sequence[str]) -> dict[str, int]:
    floors = {}
    for text in words(texts):
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
