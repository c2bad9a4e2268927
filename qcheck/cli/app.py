"""The Typer app: every command with its help. `check` takes its options from the table in `options.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from types import GenericAlias
from typing import Annotated, Any, Literal

import typer
from typer.rich_utils import rich_format_error

from qcheck import __version__
from qcheck.cli import (
    admit,
    baseline,
    capacity,
    diff,
    drift,
    explain,
    init,
    merge,
    rules,
    schema,
    shares,
    simulate,
    snapshot,
)
from qcheck.cli.arguments import Paths
from qcheck.cli.check import check
from qcheck.cli.ending import COULD_NOT_JUDGE
from qcheck.cli.options import CHECK_OPTIONS, FLAG, LIVE, MANY, CheckOptions, Option
from qcheck.cli.terminal import PROGRESS, annotate, is_on_github

HELP = """Will what Kueue admits actually run?

Kueue admits by quota; kube-scheduler places by nodes. qcheck reads both sides from your repository and says, with both
lines of both files, where they disagree. It contacts a cluster only with --live, and runs nothing that it reads.
"""

CHECK_HELP = """The gate: say what is wrong, and fail when it is an error.

Reads every manifest, node pool and node dump below PATHS (default: what the settings name, else the current directory;
- is standard input).

Exit codes: 0 nothing at or above the threshold; 1 findings; 2 could not judge (bad flag or settings, nothing relevant
found, something unreadable).
"""


def flowing(text: str) -> str:
    """Paragraphs without line breaks inside, so that the terminal's width decides where they are."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


app = typer.Typer(
    name="qcheck",
    help=flowing(HELP),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(words: Sequence[str]) -> int:
    """Runs the app; its exit code."""
    words = optional_value(admit.spread_in(words) if words[:1] in (["admit"], ["simulate"]) else words)
    try:
        code = app(args=words, prog_name="qcheck", standalone_mode=False)
    except SystemExit as end:
        code = end.code
    except CommandLineError as error:
        return _refused(error)
    return code if isinstance(code, int) else int(code is not None)


CommandLineError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""What Typer raises for a command line that it refuses. It offers the subclasses only."""


def _refused(error: Any) -> int:
    """Shows an error as Typer does; on GitHub it is an annotation as well."""
    PROGRESS.erase()
    if is_on_github():
        annotate(error.format_message())
    rich_format_error(error)
    return COULD_NOT_JUDGE


def optional_value(words: Sequence[str]) -> list[str]:
    """`--live` as `--live=`: its value only ever follows `=`, so that it does not take the path after it."""
    end = words.index("--") if "--" in words else len(words)
    return [f"{word}=" if word in LIVE.names else word for word in words[:end]] + list(words[end:])


def examples(*lines: str) -> str:
    """An epilog of example command lines, one below the other."""
    return "\n\n".join(("[dim]Examples[/dim]", *(f"  {line}" for line in lines)))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"qcheck {__version__}")
        raise typer.Exit


@app.callback()
def options_of_all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _annotation(option: Option) -> Any:
    if option.kind == FLAG:
        return bool
    one: Any = Literal[option.choices] if option.choices else str
    return GenericAlias(list, (one,)) if option.kind == MANY else one | None


def _parameter(option: Option) -> Parameter:
    declaration = typer.Option(
        *option.names, help=option.help, metavar=option.metavar or None, rich_help_panel=option.panel, show_choices=True
    )
    default: object = {FLAG: False, MANY: []}.get(option.kind, option.default)
    annotation: Any = Annotated[_annotation(option), declaration]
    return Parameter(option.field, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def from_table(run: Callable[[CheckOptions], int], table: Sequence[Option]) -> Callable[..., None]:
    """A command function whose parameters are PATHS and the options of `table`."""
    paths = Parameter("paths", Parameter.KEYWORD_ONLY, default=None, annotation=Paths)
    parameters = [paths, *map(_parameter, table)]

    def command(**values: Any) -> None:
        plain: dict[str, Any] = {field: tuple(v) if isinstance(v, list) else v for field, v in values.items()}
        raise typer.Exit(run(CheckOptions(**{**plain, "paths": plain["paths"] or ()})))

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


app.command(
    "check",
    help=flowing(CHECK_HELP),
    epilog=examples(
        "qcheck check                                  [dim]the repository around you[/dim]",
        "qcheck check clusters/prod --format sarif=qcheck.sarif --format text",
        "kustomize build clusters/prod | qcheck check - nodes.yaml",
        "qcheck check --select QC1,QC2 --fail-on warning",
        "qcheck check --live=prod-a                    [dim]a running cluster, through kubectl[/dim]",
    ),
)(from_table(check, CHECK_OPTIONS))
app.command(
    "capacity",
    epilog=examples(
        "qcheck capacity",
        "qcheck capacity clusters/prod --format json",
        "kubectl get nodes -o json | qcheck capacity - queues/",
    ),
)(capacity.capacity)
app.command(
    "admit",
    epilog=examples(
        "qcheck admit job.yaml", "qcheck admit job.yaml other.yaml --in clusters/prod nodes.yaml --format json"
    ),
)(admit.admit)
app.command(
    "shares",
    epilog=examples(
        "qcheck shares",
        "qcheck shares clusters/prod --busy research,vision",
        "qcheck shares --demand demand.yaml --format html=shares.html",
    ),
)(shares.shares)
app.command(
    "simulate",
    epilog=examples("qcheck simulate scenario.yaml", "qcheck simulate scenario.yaml --in clusters/prod --format json"),
)(simulate.simulate)
app.command(
    "diff", epilog=examples("qcheck diff main", "qcheck diff v1.2 v1.3 --format markdown", "qcheck diff old/ new/")
)(diff.diff)
app.command(
    "snapshot",
    epilog=examples(
        "qcheck snapshot --live > cluster.yaml", "qcheck snapshot --live=prod-a --redact --output prod-a.yaml"
    ),
)(snapshot.snapshot)
app.command("drift", epilog=examples("qcheck drift --live", "qcheck drift clusters/prod --live=prod --format json"))(
    drift.drift
)
app.command(
    "merge", epilog=examples("qcheck merge reports/*.json", "qcheck merge a.json b.json --format html=fleet.html")
)(merge.merge)
app.command("rules", epilog=examples("qcheck rules", "qcheck rules --select QC3 --format json"))(rules.rules)
app.command("explain", epilog=examples("qcheck explain QC101", "qcheck explain owner-cannot-reclaim"))(explain.explain)
app.command("schema", epilog=examples("qcheck schema config > qcheck.schema.json"))(schema.schema)
app.add_typer(
    baseline.app, name="baseline", epilog=examples("qcheck baseline write", "qcheck baseline prune clusters/prod")
)
app.command("init", epilog=examples("qcheck init", "qcheck init clusters --output -"))(init.init)
