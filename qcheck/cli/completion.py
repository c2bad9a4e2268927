"""Shell completion of the words of a command line: rules, formats, clusters of the settings, schemas."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer

from qcheck.findings.catalogue import load_catalogue
from qcheck.reports import FORMATS
from qcheck.settings import SettingsError
from qcheck.settings.load import load_settings


def rules(incomplete: str) -> Iterator[tuple[str, str]]:
    """Ids, or names once something else than an id is typed, each with what the rule is about.

    After a comma the next of several rules is completed.
    """
    before, comma, word = incomplete.rpartition(",")
    for rule in load_catalogue().values():
        name = next((text for text in (rule.id, rule.name) if text.lower().startswith(word.lower())), None)
        if name is not None:
            yield f"{before}{comma}{name}", rule.summary


def formats(ctx: typer.Context, incomplete: str) -> list[str]:
    """The formats of a command, which are in its module as `FORMATS`."""
    return _starting(formats_of(ctx.command.callback), incomplete)


def formats_of(function: Callable[..., Any] | None) -> Iterable[str]:
    """The formats of the command that a function is."""
    found: Iterable[str] = getattr(sys.modules.get(getattr(function, "__module__", "")), "FORMATS", FORMATS)
    return found


def clusters(incomplete: str) -> list[str]:
    """The clusters of the settings of the current directory; nothing if these cannot be read."""
    try:
        return _starting((scope.name for scope in load_settings().scopes), incomplete)
    except SettingsError:
        return []


def _starting(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


COMPLETIONS: dict[str, Callable[..., Any]] = {"select": rules, "ignore": rules, "format": formats, "cluster": clusters}
"""By option of `check`."""
