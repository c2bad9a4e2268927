"""`qcheck rules`: list the rules, or their messages with sample values."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from qcheck.cli import completion
from qcheck.cli.check_options import words
from qcheck.cli.output import UsageError, to_stdout
from qcheck.cli.terminal import width_of
from qcheck.cluster.did_you_mean import nearest
from qcheck.findings.catalogue import Rule, choose, load_catalogue, load_samples
from qcheck.reports.columns import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.findings.catalogue import Samples

MOST_ALIKE = 12
LETTERS_FOR_DIGITS = str.maketrans("OIL", "011")
"""Letters that are mistaken for digits: QC1O1 means QC101."""


def rules(
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE", help="List only these: id, name or prefix such as QC1.", autocompletion=completion.rules
        ),
    ] = None,
    format: Annotated[Literal["text", "json"], typer.Option("--format", "-f", help="Output format.")] = "text",
    messages: Annotated[
        bool, typer.Option("--messages", help="Print every message, caption and help of each rule, with sample values.")
    ] = False,
) -> None:
    """List every rule with its severity and summary.

    `qcheck explain RULE` shows the details of one rule.
    """
    catalogue = load_catalogue()
    chosen = listed(catalogue, select or ())
    samples = load_samples() if messages else None
    if format == "json":
        to_stdout(as_json(chosen, samples))
    else:
        to_stdout(as_text(chosen) if samples is None else "\n".join(messages_of(rule, samples) for rule in chosen))


def of_family(catalogue: dict[str, Rule], family: str) -> list[Rule]:
    """Return the rules of a family such as `capacity`."""
    return [rule for rule in catalogue.values() if rule.family == family.lower()]


def listed(catalogue: dict[str, Rule], select: Sequence[str], called: str = "") -> list[Rule]:
    """Return the rules that `select` names, or all. Raises `UsageError` for a word that names none.

    `called` is the word for the error to quote, if it differs from the unknown word.
    """
    asked = words(select, "--select")
    ids, unknown = choose(catalogue.values(), asked) if asked else (set(catalogue), [])
    if unknown:
        raise no_such_rule(catalogue, called or unknown[0])
    return [rule for rule in catalogue.values() if rule.id in ids]


def no_such_rule(catalogue: dict[str, Rule], word: str) -> UsageError:
    """Return the error for a word that names no rule, with the closest rule name."""
    names = [text for rule in catalogue.values() for text in (rule.id, rule.name)]
    digits = word.upper().translate(LETTERS_FOR_DIGITS)
    begun = [digits] if digits in catalogue else [name for name in names if name.startswith(word.lower())]
    near = begun[0] if len(begun) == 1 else nearest(word, names)
    alike = [f"{rule.id} {rule.name}" for rule in catalogue.values() if word.lower() in rule.name]
    hint = f"Did you mean {near}?" if near else "`qcheck rules` lists them."
    if not near and 0 < len(alike) <= MOST_ALIKE:
        hint = f"Rules with this in their name: {', '.join(alike)}."
    return UsageError(f"no rule is called {word!r}", hint)


def as_text(chosen: list[Rule]) -> str:
    longest = max((len(rule.name) for rule in chosen), default=0)
    lines = (f"{r.id}  {r.severity:<7}  {r.name:<{longest}}  {r.summary}" for r in chosen)
    width = width_of(sys.stdout)
    return "".join(f"{cut(line, width)}\n" for line in lines)


def messages_of(rule: Rule, samples: Samples) -> str:
    """Return a rule's messages, one after the other, and its general fix if a message has no help."""
    lines = [f"{rule.id} {rule.name}"]
    for sample in samples[rule.id]:
        lines.append(f"  {sample['severity']}: {sample['message']}")
        lines += [f"    caption: {caption}" for caption in sample["captions"]]
        lines += [f"    help: {sample['help']}"] if sample["help"] else []
    return "\n".join([*lines, f"  fix: {rule.fix}", ""])


def as_json(chosen: list[Rule], samples: Samples | None) -> str:
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
            **({} if samples is None else {"messages": samples[rule.id]}),
        }
        for rule in chosen
    ]
    return json.dumps({"schema": 1, "rules": entries}, indent=2) + "\n"
