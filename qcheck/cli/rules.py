"""`qcheck rules`: the catalogue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from qcheck.cli import completion
from qcheck.cli.output import UsageError, to_stdout
from qcheck.cluster.nearest import nearest
from qcheck.findings.catalogue import Rule, choose, load_catalogue


def rules(
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE", help="List only these: id, name or prefix such as QC1.", autocompletion=completion.rules
        ),
    ] = None,
    format: Annotated[Literal["text", "json"], typer.Option("--format", "-f", help="Output format.")] = "text",
) -> None:
    """List every rule with its severity and what it finds.

    `qcheck explain RULE` shows the details of one rule.
    """
    catalogue = load_catalogue()
    chosen = listed(catalogue, select or ())
    to_stdout(as_json(chosen) if format == "json" else as_text(chosen))


def listed(catalogue: dict[str, Rule], select: Sequence[str]) -> list[Rule]:
    """The rules that `select` names, or all. Raises `UsageError` for a word that names none."""
    words = [word for text in select for word in text.split(",") if word]
    ids, unknown = choose(catalogue.values(), words) if words else (set(catalogue), [])
    if unknown:
        raise no_such_rule(catalogue, unknown[0])
    return [rule for rule in catalogue.values() if rule.id in ids]


def no_such_rule(catalogue: dict[str, Rule], word: str) -> UsageError:
    """The error for a word that names no rule, with the nearest that does."""
    near = nearest(word, [text for rule in catalogue.values() for text in (rule.id, rule.name)])
    return UsageError(f"no rule is called {word!r}", f"Did you mean {near}?" if near else "`qcheck rules` lists them.")


def as_text(chosen: list[Rule]) -> str:
    longest = max((len(rule.name) for rule in chosen), default=0)
    return "".join(f"{r.id}  {r.severity:<7}  {r.name:<{longest}}  {r.summary}\n" for r in chosen)


def as_json(chosen: list[Rule]) -> str:
    entries = [
        {
            "id": rule.id,
            "name": rule.name,
            "family": rule.family,
            "severity": rule.severity,
            "summary": rule.summary,
            "fix": rule.fix,
            "needs": list(rule.needs),
            "kueue": rule.kueue,
            "since": rule.since,
            "params": rule.params,
            "url": rule.url,
        }
        for rule in chosen
    ]
    return json.dumps({"schema": 1, "rules": entries}, indent=2) + "\n"
