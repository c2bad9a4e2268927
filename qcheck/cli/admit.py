"""`qcheck admit`: would this workload be admitted, and would it run?"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

import typer

from qcheck import api
from qcheck.cli.arguments import Clusters, ConfigFile, Format, Live, Verbose
from qcheck.cli.given import paths_for, running, settings_for
from qcheck.cli.options import CLUSTER, CONFIG, FORMAT
from qcheck.cli.output import parse_outputs, write
from qcheck.cli.terminal import Watch
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports import admission as report

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = {"text": report.render_text, "json": report.render_json}
IN = "--in"
TAKES_VALUE = {*CONFIG.names, *CLUSTER.names, *FORMAT.names}

Workloads = Annotated[
    list[str],
    typer.Argument(metavar="WORKLOAD...", help="Files with the workloads, or - for stdin.", show_default=False),
]
In = Annotated[
    list[str] | None,
    typer.Option(
        IN, metavar="PATHS...", help="Where the cluster is described; default: as for check.", show_default=False
    ),
]


def admit(
    workloads: Workloads,
    into: In = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    live: Live = None,
    format: Format = None,
    verbose: Verbose = False,
) -> None:
    """Would it be admitted, would it run, where, and if not, why? On an otherwise idle cluster.

    Exit codes: 0 all of them run; 1 one will not; 2 it cannot be told.
    """
    outputs = parse_outputs(format or (), tuple(FORMATS))
    paths = into or []
    settings = settings_for(paths or workloads, config, cluster or (), live)
    watch = Watch(verbose, quiet=False)
    watch.note(f"settings: {settings.path or 'none found'}")
    judged = api.admit(workloads, paths_for(paths, settings, live), settings, watch, running(live, watch))
    watch.close()
    for output in outputs:
        write(output, FORMATS[output.format](judged))
    raise typer.Exit(judged.exit_code)


def spread_in(words: Sequence[str]) -> list[str]:
    """`admit job.yaml --in a b` as `admit job.yaml --in a --in b`: once workloads were given, what follows are paths."""
    spread: list[str] = []
    given = inside = False
    for before, word in pairwise(["", *words]):
        option = word.startswith("-") and word != "-"
        if inside and not option and before != IN:
            spread.append(IN)
        inside = (word == IN and given) or (inside and not option)
        given = given or not (option or inside or before in TAKES_VALUE)
        spread.append(word)
    return spread
