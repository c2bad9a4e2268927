"""Parameters that several Typer commands share; the texts are those of `check`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from qcheck.cli import check_options
from qcheck.cli.completion import clusters, formats

Paths = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PATHS]...", help="Files, directories, or - for stdin.", show_default=False),
]
In = Annotated[
    list[str] | None,
    typer.Option(
        "--in",
        metavar="PATH",
        help="Files that describe the cluster; may be repeated. Default: as for check.",
        show_default=False,
    ),
]
ConfigFile = Annotated[str | None, typer.Option("--config", metavar="FILE", help=check_options.CONFIG.help)]
Clusters = Annotated[
    list[str] | None,
    typer.Option("--cluster", metavar="NAME", help=check_options.CLUSTER.help, autocompletion=clusters),
]
Live = Annotated[str | None, typer.Option("--live", metavar=check_options.LIVE.metavar, help=check_options.LIVE.help)]
"""`cli/app.py` sets it to "" if no value follows."""
LiveCluster = Annotated[
    str | None,
    typer.Option(
        "--live",
        metavar=check_options.LIVE.metavar,
        help="Required: the running cluster, from kubectl's current context or from CONTEXT.",
    ),
]
"""Variant for commands that require a running cluster."""
Busy = Annotated[bool, typer.Option("--busy", help="Take running workloads into account; needs --live or a snapshot.")]
Color = Annotated[
    Literal["auto", "always", "never"],
    typer.Option("--color", metavar=check_options.COLOR.metavar, help=check_options.COLOR.help),
]
Format = Annotated[
    list[str] | None,
    typer.Option("--format", "-f", metavar="FMT[=FILE]", help=check_options.FORMAT.help, autocompletion=formats),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help=check_options.VERBOSE.help)]
