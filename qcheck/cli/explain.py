"""`qcheck explain`: explain a rule, preemption in given clusters, or a scheduler's terms.

`explain RULE` prints its reason, fix and examples; `explain preemption`, who reclaims what; `explain kai` and `explain
volcano`, a scheduler's terms next to Kueue's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from qcheck.checks import run
from qcheck.checks.registry import check_of, import_checks
from qcheck.cli.completion import rules
from qcheck.cli.output import UsageError, to_stdout
from qcheck.cli.rules import as_text, listed, of_family
from qcheck.cli.shared_parameters import Clusters, Color, ConfigFile, Format
from qcheck.cli.terminal import wants_color
from qcheck.findings import baseline, settle, suppressions
from qcheck.findings.catalogue import Rule, load_catalogue
from qcheck.findings.rulebook import page_path, topic_path

PREEMPTION = "preemption"
FORMATS = ("text", "json", "markdown", "html")
"""The formats of `explain preemption`, whose module takes 15 ms to import."""
ELSEWHERE: dict[str, Callable[..., object]] = {
    run.CRASHED: run.run,
    settle.SUPPRESSION_PROBLEM: suppressions.problems,
    settle.BASELINE_STALE: baseline.stale_findings,
}
"""The functions that produce the findings of rules without a check function."""


def explain(
    rule: Annotated[
        str,
        typer.Argument(
            metavar="RULE",
            help="A rule such as QC101, a prefix such as QC1, a family such as capacity, or preemption, kai or volcano.",
            autocompletion=rules,
        ),
    ],
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATHS]...", help="Paths for preemption; default: as for check.")
    ] = None,
    config: ConfigFile = None,
    cluster: Clusters = None,
    format: Format = None,
    color: Color = "auto",
    source: Annotated[
        bool, typer.Option("--source", help="Print the file and line of the rule's function instead.")
    ] = False,
) -> None:
    """Explain a rule: why it matters, how to fix it, and tested examples. A prefix or a family lists its rules.

    With preemption, explain for the clusters in PATHS which queue gets its quota back, from whom, and how long it takes.
    """
    if rule == PREEMPTION:
        from qcheck.cli.preemption import explain_preemption  # 6 ms

        explain_preemption(paths or (), config, cluster or (), format or ())
        return
    if paths or config or cluster or format:
        raise UsageError("PATHS, --config, --cluster and --format apply only to `qcheck explain preemption`")
    topic = topic_path(rule.lower())
    if topic is not None:
        _print(topic, color)
        return
    catalogue = load_catalogue()
    found = next((r for r in catalogue.values() if rule.lower() in (r.id.lower(), r.name)), None)
    if found is None:
        several = of_family(catalogue, rule) or listed(catalogue, [rule.upper()], called=rule)
        to_stdout("".join(f"{source_of(r)}\n" for r in several) if source else as_text(several))
        return
    if source:
        to_stdout(f"{source_of(found)}\n")
        return
    _print(page_path(found.id), color)


def source_of(rule: Rule) -> str:
    """Return `file:line` of the function behind a rule's findings, relative to the working directory if inside it."""
    import_checks([rule.family])
    function = check_of(rule.id) or ELSEWHERE[rule.id]
    code = function.__code__
    path = os.path.relpath(code.co_filename)
    return f"{code.co_filename if path.startswith('..') else path}:{code.co_firstlineno}"


def _print(path: Path, color: str) -> None:
    page = path.read_text(encoding="utf-8")
    to_stdout(_rendered(page) if wants_color(color, sys.stdout) else page)


def _rendered(page: str) -> str:
    from rich.console import Console  # 12 ms
    from rich.markdown import Markdown  # 30 ms

    console = Console(force_terminal=True)
    with console.capture() as capture:
        console.print(Markdown(page))
    return capture.get()
