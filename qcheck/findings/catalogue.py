"""The rule catalogue: the metadata of each rule in `rules/`.

`make docs` compiles `rule_table.py` from the YAML files (a test keeps it current), because reading JSON takes 2 ms;
`explain` and the documentation read the YAML itself.
"""

from __future__ import annotations

import os

from qcheck import DOCS
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.severity import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Params = dict[str, str | int | list[str]]
    Samples = dict[str, list[dict[str, Any]]]


class Rule(Value):
    """One rule. `needs` are the facts without which it is skipped; `kueue` are the releases to which it applies.

    A rule with a `scheduler` does not run in clusters that have no object of that scheduler.
    """

    id: str
    name: str
    family: str
    severity: Severity
    summary: str
    fix: str
    needs: tuple[str, ...] = ()
    scheduler: str = ""
    kueue: str = ""
    since: str = "0.1.0"
    params: Params = {}

    @property
    def url(self) -> str:
        return f"{DOCS}/rules/{self.id}.md"


def rules_folder() -> str:
    """Return the path of `rules/`: inside the installed package, or beside it in a checkout or editable install."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    inside = os.path.join(package, "rules")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "rules")


def load_catalogue() -> dict[str, Rule]:
    """Return all rules by id, in order of id."""
    from qcheck.findings.rule_table import ROWS  # not at the top: `make docs` writes it first

    return {row[0]: Rule(*row) for row in ROWS}


def load_samples() -> Samples:
    """Return sample messages by rule id, each with `severity`, `message`, `captions` and `help`."""
    import json  # 1.5 ms

    with open(os.path.join(rules_folder(), "messages.json"), encoding="utf-8") as messages:
        samples: Samples = json.load(messages)
    return samples


def choose(catalogue: Iterable[Rule], wanted: Iterable[str]) -> tuple[set[str], list[str]]:
    """Return the ids that `wanted` selects (by id, name, or prefix such as `QC1`), and the words without a match."""
    rules = list(catalogue)
    chosen: set[str] = set()
    unknown: list[str] = []
    for word in wanted:
        hits = {r.id for r in rules if word in (r.id, r.name) or (word.startswith("QC") and r.id.startswith(word))}
        chosen |= hits
        if not hits:
            unknown.append(word)
    return chosen, unknown
