"""`qcheck init`: write a starter qcheck.yaml for a repository."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from qcheck.cli.inputs import stop_if_unjudged
from qcheck.cli.output import STDOUT, Output, UsageError, write
from qcheck.cli.shared_parameters import Paths
from qcheck.cli.terminal import ProgressReporter, say
from qcheck.pipeline.environments import proposed
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings
from qcheck.settings.load import FILE_NAMES
from qcheck.settings.starter import starter
from qcheck.sources.renderers import installed


def init(
    paths: Paths = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write; - prints it.")
    ] = FILE_NAMES[0],
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a starter qcheck.yaml for the files below PATHS.

    Guesses are marked: review the file before you commit it.
    """
    if os.path.exists(output) and not force:
        raise UsageError(f"{output} already exists", "Use --force to overwrite it, or --output - to print.")
    watch = ProgressReporter(verbose=False, quiet=False)
    gathered = gather(tuple(paths or ()) or (".",), Settings(), watch)
    cluster = gathered.clusters[0]
    clusters = proposed(gathered.loaded, cluster.problems)
    missing = [tool for tool in ("helm", "kustomize") if not installed(tool)]
    watch.close()
    if not any(p.renders for p in clusters):
        stop_if_unjudged(gathered.inputs.unjudged)
    write(Output("yaml", output), starter(cluster, clusters, missing))
    if output != STDOUT:
        say(f"wrote {output}; next: qcheck check")
