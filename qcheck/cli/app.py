"""The Typer app: every command with its help. `check` takes its options from the table in `check_options.py`.

A command's module is imported when the command is called, and all of them only for the list of commands: importing all
takes twice as long as a small check (measured: 170 ms of CPU).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import Parameter, Signature, getdoc
from types import GenericAlias
from typing import Annotated, Any, Literal

import typer

from qcheck import __version__
from qcheck.cli.check import check
from qcheck.cli.check_options import CHECK_OPTIONS, CheckOptions, CommandOption, OptionKind
from qcheck.cli.command import Command
from qcheck.cli.completion import COMPLETIONS
from qcheck.cli.shared_parameters import Paths
from qcheck.cli.signals import COULD_NOT_JUDGE
from qcheck.cli.terminal import PROGRESS, annotate, is_on_github

HELP = """Will what Kueue admits actually run?

Kueue admits by quota; kube-scheduler places by nodes. qcheck reads both sides from your repository and reports each
mismatch with its location in both files. It contacts a cluster only with --live, and never runs what it reads.
"""

CHECK_HELP = """Report what is wrong, and fail on errors.

Reads every manifest, node pool and node dump below PATHS (default: the paths in the settings, else the current directory;
- is standard input).

Exit codes: 0 nothing at or above the threshold; 1 findings; 2 could not judge (bad flag or settings, nothing relevant
found, unreadable input).
"""


def flowing(text: str) -> str:
    """Return paragraphs without line breaks inside, so that the terminal's width decides where they are."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def main(words: Sequence[str]) -> int:
    """Run the app and return its exit code."""
    try:
        code = app_for(words)(args=list(words), prog_name="qcheck", standalone_mode=False)
    except SystemExit as end:
        code = end.code
    except CommandLineError as error:
        return _refused(_hinted(error, words))
    return code if isinstance(code, int) else int(code is not None)


CommandLineError: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""The exception that Typer raises for a command line that it rejects; only its subclasses are public."""


def _hinted(error: Any, words: Sequence[str]) -> Any:
    """Return the error; if the word is a common command of other programs, with the equivalent option here."""
    word, *more = words or ("",)
    meant = {
        "version": "qcheck --version",
        "help": " ".join(("qcheck", *(n for n in more[:1] if n in EXAMPLES), "--help")),
    }
    if word in meant:
        error.message = f"{error.message.rstrip('.')}. Did you mean '{meant[word]}'?"
    return error


def _refused(error: Any) -> int:
    """Print an error as Typer does; on GitHub, also as an annotation."""
    PROGRESS.erase()
    if is_on_github():
        annotate(error.format_message())
    from typer.rich_utils import rich_format_error  # 60 ms

    rich_format_error(error)
    return COULD_NOT_JUDGE


def examples(*lines: str) -> str:
    """Return an epilog of example command lines, one per paragraph."""
    return "\n\n".join(("[dim]Examples[/dim]", *(f"  {line}" for line in lines)))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"qcheck {__version__}")
        raise typer.Exit


def options_of_all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _annotation(option: CommandOption) -> Any:
    if option.kind is OptionKind.FLAG:
        return bool
    one: Any = Literal[option.choices] if option.choices else str
    return GenericAlias(list, (one,)) if option.kind is OptionKind.MANY else one | None


def _parameter(option: CommandOption) -> Parameter:
    declaration = typer.Option(
        *option.names,
        help=option.help,
        metavar=option.metavar or None,
        rich_help_panel=option.panel,
        autocompletion=COMPLETIONS.get(option.field),
    )
    default: object = {OptionKind.FLAG: False, OptionKind.MANY: []}.get(option.kind, option.default)
    annotation: Any = Annotated[_annotation(option), declaration]
    return Parameter(option.field, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def from_table(run: Callable[[CheckOptions], int], table: Sequence[CommandOption]) -> Callable[..., None]:
    """Return a command function whose parameters are PATHS and the options of `table`."""
    paths = Parameter("paths", Parameter.KEYWORD_ONLY, default=None, annotation=Paths)
    parameters = [paths, *map(_parameter, table)]

    def command(**values: Any) -> None:
        plain: dict[str, Any] = {field: tuple(v) if isinstance(v, list) else v for field, v in values.items()}
        raise typer.Exit(run(CheckOptions(**{**plain, "paths": plain["paths"] or ()})))

    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


EXAMPLES = {
    "check": (
        "qcheck check",
        "qcheck check clusters/prod --format sarif=qcheck.sarif --format text",
        "kustomize build clusters/prod | qcheck check - nodes.yaml",
        "qcheck check --select QC1,QC2 --fail-on warning",
        "qcheck check --live=prod-a",
    ),
    "capacity": (
        "qcheck capacity",
        "qcheck capacity clusters/prod --format json",
        "kubectl get nodes -o json | qcheck capacity - queues/",
    ),
    "admit": (
        "qcheck admit job.yaml",
        "qcheck admit job.yaml other.yaml --in clusters/prod --in nodes.yaml --format json",
    ),
    "shares": (
        "qcheck shares",
        "qcheck shares clusters/prod --busy research,vision",
        "qcheck shares --demand demand.yaml --format html=shares.html",
    ),
    "simulate": (
        "qcheck simulate scenario.yaml",
        "qcheck simulate scenario.yaml --in clusters/prod --format html=simulation.html",
    ),
    "diff": ("qcheck diff main", "qcheck diff v1.2 v1.3 --format markdown", "qcheck diff old/ new/"),
    "snapshot": (
        "qcheck snapshot --live > cluster.yaml",
        "qcheck snapshot --live=prod-a --redact --output prod-a.yaml",
    ),
    "drift": ("qcheck drift --live", "qcheck drift clusters/prod --live=prod --format json"),
    "merge": ("qcheck merge reports/*.json", "qcheck merge a.json b.json --format html=fleet.html"),
    "rules": ("qcheck rules", "qcheck rules --select QC3 --format json"),
    "suggest": ("qcheck suggest", "qcheck suggest --keep research --floor batch=32", "qcheck suggest --write"),
    "explain": (
        "qcheck explain QC101",
        "qcheck explain owner-cannot-reclaim",
        "qcheck explain preemption clusters/prod --format html=preemption.html",
    ),
    "schema": ("qcheck schema config > qcheck.schema.json", "qcheck schema ClusterQueue --kueue 0.18"),
    "baseline": ("qcheck baseline write", "qcheck baseline prune clusters/prod"),
    "init": ("qcheck init", "qcheck init clusters --output -"),
}
"""Example command lines of every command. A command is a function in the module of its name, `baseline` an app."""


def app_for(words: Sequence[str]) -> typer.Typer:
    """Return the app with the command that the first word names, or with all commands."""
    app = typer.Typer(
        name="qcheck",
        help=flowing(HELP),
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options_of_all)
    for name in words[:1] if words and words[0] in EXAMPLES else EXAMPLES:
        _add(app, name)
    return app


def _add(app: typer.Typer, name: str) -> None:
    epilog = examples(*EXAMPLES[name])
    if name == "check":
        function, text = from_table(check, CHECK_OPTIONS), flowing(CHECK_HELP)
        app.command(name, cls=Command, help=text, epilog=epilog)(function)
        return
    module = import_module(f"qcheck.cli.{name}")
    if name == "baseline":
        app.add_typer(module.app, name=name, epilog=epilog)
    else:
        function = getattr(module, name)
        app.command(name, cls=Command, help=flowing(getdoc(function) or ""), epilog=epilog)(function)
