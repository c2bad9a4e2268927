"""Shell completion: rules, formats, clusters of the settings, schemas."""

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
    """Yield matching rule ids, or names if no id matches, each with the rule's summary.

    After a comma, the next of several rules is completed.
    """
    before, comma, word = incomplete.rpartition(",")
    for rule in load_catalogue().values():
        name = next((text for text in (rule.id, rule.name) if text.lower().startswith(word.lower())), None)
        if name is not None:
            yield f"{before}{comma}{name}", rule.summary


def formats(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the formats of a command, which its module lists as `FORMATS`."""
    return _starting(formats_of(ctx.command.callback), incomplete)


def formats_of(function: Callable[..., Any] | None) -> Iterable[str]:
    """Return the formats of a command by its function."""
    found: Iterable[str] = getattr(sys.modules.get(getattr(function, "__module__", "")), "FORMATS", FORMATS)
    return found


def clusters(incomplete: str) -> list[str]:
    """Return the clusters in the settings of the current directory; none if these cannot be read."""
    try:
        return _starting((scope.name for scope in load_settings().scopes), incomplete)
    except SettingsError:
        return []


def _starting(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


COMPLETIONS: dict[str, Callable[..., Any]] = {"select": rules, "ignore": rules, "format": formats, "cluster": clusters}
"""Completion functions by option of `check`."""
