"""The command class of the app: options with optional or several values, and errors for empty values."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand

from qcheck.cli.check_options import LIVE
from qcheck.cli.completion import formats_of

FORMATS_HERE = "{formats}"
"""The placeholder for a command's formats in the help of `--format`."""


class Command(TyperCommand):
    """A command whose `--live` takes a value only after `=`, and whose `--in` takes all words up to the next option.

    The help of `--format` lists the formats.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text and FORMATS_HERE in text:
                parameter.help = text.replace(FORMATS_HERE, ", ".join(formats_of(self.callback)))  # type: ignore[attr-defined]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        names = {name for parameter in self.params for name in parameter.opts}
        valued = {
            name
            for p in self.params
            if p.param_type_name == "option" and not getattr(p, "is_flag", False)
            for name in p.opts
        }
        if "--in" in names:
            args = spread_in(args, valued)
        if "--live" in names:
            args = optional_value(args)
        rest: list[str] = super().parse_args(ctx, args)
        for parameter in self.params:
            _refuse_empty(ctx, parameter)
        return rest


def _refuse_empty(ctx: Any, parameter: Any) -> None:
    """Raise an error for an empty value: in a script, it usually comes from an unset variable."""
    given = ctx.params.get(parameter.name)
    is_empty = "" in given if isinstance(given, (list, tuple)) else given == ""
    if is_empty and "--live" not in parameter.opts:
        where = "omit it" if parameter.param_type_name == "argument" else "omit the option"
        raise typer.BadParameter(f"the value is empty; give one, or {where}", ctx, parameter)


def optional_value(words: Sequence[str]) -> list[str]:
    """Return `--live` as `--live=`: with an optional value, Typer would consume the next word, which is a path."""
    end = words.index("--") if "--" in words else len(words)
    return [f"{word}=" if word in LIVE.names else word for word in words[:end]] + list(words[end:])


def spread_in(words: Sequence[str], valued: Container[str]) -> list[str]:
    """Return `job.yaml --in a b` as `job.yaml --in a --in b`: after an argument, all words after `--in` are paths.

    `valued` are the options that take a value.
    """
    spread: list[str] = []
    given = inside = False
    for before, word in pairwise(["", *words]):
        option = word.startswith("-") and word != "-"
        if inside and not option and before != "--in":
            spread.append("--in")
        inside = (word == "--in" and given) or (inside and not option)
        given = given or not (option or inside or before in valued)
        spread.append(word)
    return spread
