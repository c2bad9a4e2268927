"""The options of `check`: one table, used by the fast parser here and by the Typer app."""

from __future__ import annotations

from enum import Enum

from qcheck.cli.output import UsageError
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.severity import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

COLORS = ("auto", "always", "never")


class OptionKind(Enum):
    """The values of an option: none, the last one, each one, or one after `=` (else "")."""

    FLAG = "flag"
    ONE = "one"
    MANY = "many"
    MAYBE = "maybe"


class CommandOption(Value):
    """One option of a command."""

    names: tuple[str, ...]
    kind: OptionKind
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    panel: str | None = None

    @property
    def field(self) -> str:
        """The name of its field in `CheckOptions`."""
        return self.names[0].lstrip("-").replace("-", "_")


class CheckOptions(Value):
    """The options of `check`; the fields are those of the table."""

    paths: tuple[str, ...] = ()
    config: str | None = None
    cluster: tuple[str, ...] = ()
    render: bool = False
    format: tuple[str, ...] = ()
    min_severity: str = "note"
    statistics: bool = False
    suggest: bool = False
    all: bool = False
    fail_on: str = "error"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: str | None = None
    since: str | None = None
    live: str | None = None
    strict: bool = False
    exit_zero: bool = False
    fix: bool = False
    diff: bool = False
    set: tuple[str, ...] = ()
    add_nodes: tuple[str, ...] = ()
    color: str = "auto"
    quiet: bool = False
    verbose: bool = False


OUTPUT, VERDICT, FIXES = "Output", "Verdict", "Fixes"
CONFIG = CommandOption(
    ("--config",), OptionKind.ONE, "Settings file; default: the nearest one above the first path.", "FILE"
)
CLUSTER = CommandOption(("--cluster",), OptionKind.MANY, "Only this cluster of the settings; may be repeated.", "NAME")
RENDER = CommandOption(
    ("--render",),
    OptionKind.FLAG,
    "Render every kustomization root and chart found, with the kustomize and helm on PATH.",
)
FORMAT = CommandOption(
    ("--format", "-f"),
    OptionKind.MANY,
    "Report format: {formats}. Written to standard output, or to FILE. May be repeated.",
    "FMT[=FILE]",
    panel=OUTPUT,
)
LIVE = CommandOption(
    ("--live",),
    OptionKind.MAYBE,
    "Read a running cluster through kubectl; if files are given too, read both.",
    "[=CONTEXT]",
)
COLOR = CommandOption(
    names=("--color",),
    kind=OptionKind.ONE,
    help="Use colours: auto (on terminals), always or never.",
    metavar="WHEN",
    choices=COLORS,
    default="auto",
    panel=OUTPUT,
)
QUIET = CommandOption(
    ("--quiet", "-q"),
    OptionKind.FLAG,
    "Hide the summary and progress; still report what could not be judged.",
    panel=OUTPUT,
)
VERBOSE = CommandOption(
    ("--verbose", "-v"),
    OptionKind.FLAG,
    "Print the settings file and the time per stage on standard error.",
    panel=OUTPUT,
)

MIN_SEVERITY = CommandOption(
    names=("--min-severity",),
    kind=OptionKind.ONE,
    help="Lowest severity to show: error, warning or note. Hidden findings still count.",
    metavar="LEVEL",
    choices=SEVERITIES[::-1],
    default="note",
    panel=OUTPUT,
)
FAIL_ON = CommandOption(
    names=("--fail-on",),
    kind=OptionKind.ONE,
    help="Lowest severity that gives exit code 1: error, warning or note.",
    metavar="LEVEL",
    choices=SEVERITIES[::-1],
    default="error",
    panel=VERDICT,
)
CHECK_OPTIONS = (
    CONFIG,
    CLUSTER,
    LIVE,
    RENDER,
    FORMAT,
    COLOR,
    QUIET,
    VERBOSE,
    MIN_SEVERITY,
    CommandOption(("--statistics",), OptionKind.FLAG, "Add counts by rule at the end.", panel=OUTPUT),
    CommandOption(
        ("--suggest",), OptionKind.FLAG, "Add edits that resolve what fails; each is tested first.", panel=OUTPUT
    ),
    CommandOption(("--all",), OptionKind.FLAG, "Also show findings that follow from others.", panel=OUTPUT),
    FAIL_ON,
    CommandOption(
        ("--select",),
        OptionKind.MANY,
        "Check only these rules: id, name or prefix such as QC1; may be repeated.",
        "RULE",
        panel=VERDICT,
    ),
    CommandOption(("--ignore",), OptionKind.MANY, "Skip these rules; may be repeated.", "RULE", panel=VERDICT),
    CommandOption(("--baseline",), OptionKind.ONE, "Accept the findings in this file.", "FILE", panel=VERDICT),
    CommandOption(
        ("--since",),
        OptionKind.ONE,
        "Fail only on findings that are new or worse since this revision.",
        "REV",
        panel=VERDICT,
    ),
    CommandOption(
        ("--strict",), OptionKind.FLAG, "Fail on warnings and on rules that could not be judged.", panel=VERDICT
    ),
    CommandOption(("--exit-zero",), OptionKind.FLAG, "Exit 0 even with findings; code 2 is unaffected.", panel=VERDICT),
    CommandOption(
        ("--fix",),
        OptionKind.FLAG,
        "Rewrite old API versions, renamed fields and quantities in place, then check.",
        panel=FIXES,
    ),
    CommandOption(
        names=("--set",),
        kind=OptionKind.MANY,
        help="Check as if a quota were N, where QUOTA is POOL/QUEUE/RESOURCE. Writes nothing. May be repeated.",
        metavar="QUOTA=N",
        panel=VERDICT,
    ),
    CommandOption(
        names=("--add-nodes",),
        kind=OptionKind.MANY,
        help="Check as if this node pool had N more nodes. Writes nothing. May be repeated.",
        metavar="POOL=N",
        panel=VERDICT,
    ),
    CommandOption(
        ("--diff",),
        OptionKind.FLAG,
        "Show what --fix would rewrite, and write nothing; exit 1 if there are changes.",
        panel=FIXES,
    ),
)


def parse_plainly(words: Sequence[str]) -> CheckOptions | None:
    """Return the options of `check`; None if Typer must handle it: help, an error message or anything unusual."""
    known = {name: option for option in CHECK_OPTIONS for name in option.names}
    values: dict[str, list[str]] = {}
    flags: dict[str, Any] = {}
    paths: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        option = known.get(name if name.startswith("--") else word)
        if word == "--":
            paths += rest
        elif word == "-" or not word.startswith("-"):
            paths.append(word)
        elif option is None or (option.kind is OptionKind.FLAG and equals):
            return None
        elif option.kind is OptionKind.FLAG:
            flags[option.field] = True
        elif option.kind is OptionKind.MAYBE:
            values[option.field] = [value]
        else:
            given = value if equals else next(rest, None)
            if given is None or (option.choices and given not in option.choices):
                return None
            values.setdefault(option.field, []).append(given)
    if "" in paths or any("" in given for field, given in values.items() if field != "live"):
        return None
    many = {o.field for o in CHECK_OPTIONS if o.kind is OptionKind.MANY}
    named: dict[str, Any] = {field: tuple(given) if field in many else given[-1] for field, given in values.items()}
    return CheckOptions(tuple(paths), **named, **flags)


def words(texts: Iterable[str], option: str) -> tuple[str, ...]:
    """Split `--select QC1,QC2 --select QC305` into three words. Raises `UsageError` for a text that has none."""
    split = [[word for word in text.split(",") if word.strip()] for text in texts]
    if not all(split):
        raise UsageError(f"{option} lists no names", "Give a name, or omit the option.")
    return tuple(word for each in split for word in each)
