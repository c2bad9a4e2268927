"""The rules as their YAML files define them: everything that `rule_table.py`, the documentation and `explain` need.

A run never imports this module; it reads the table (`catalogue.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from qcheck.documents.load import load
from qcheck.findings.catalogue import rules_folder


class RulebookError(Exception):
    """A rule file cannot be used; the message names the file and the fault."""


def _sentence(text: str) -> str:
    if not text.rstrip().endswith("."):
        raise ValueError("must be a sentence that ends in a full stop")
    return text.strip()


Sentence = Annotated[str, AfterValidator(_sentence)]
Families = Literal[
    "input",
    "capacity",
    "placement",
    "priority",
    "queues",
    "topology",
    "workloads",
    "configuration",
    "change",
    "schedulers",
]


class RulePart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Parameter(RulePart):
    """A value that settings may change: `rules: {params: {QC311: {budget: 60s}}}`."""

    default: str | int | list[str]
    meaning: Sentence


class RuleText(RulePart):
    """One file of `rules/`. `examples` are cases below `fixtures/rules/<id>-<name>/`, shown in the documentation."""

    id: Annotated[str, Field(pattern=r"^QC\d{3}$")]
    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    family: Families
    severity: Literal["error", "warning", "note"]
    summary: Sentence
    why: Sentence
    fix: Sentence
    needs: list[str] = []
    scheduler: Literal["", "kai", "volcano", "several"] = ""
    since: str = "0.1.0"
    kueue: str = ""
    params: dict[str, Parameter] = {}
    references: list[str] = []
    examples: list[str] = []

    @property
    def slug(self) -> str:
        return f"{self.id}-{self.name}"

    def row(self) -> tuple[object, ...]:
        """Return what a run needs: the fields of `catalogue.Rule`, in order."""
        params = {name: p.default for name, p in self.params.items()}
        texts = (self.id, self.name, self.family, self.severity, self.summary, self.fix)
        return (*texts, tuple(self.needs), self.scheduler, self.kueue, self.since, params)


def read_rulebook() -> dict[str, RuleText]:
    """Return all rules by id, in order. Raises `RulebookError`."""
    rules = [_read(path) for path in sorted(Path(rules_folder()).glob("QC*.yaml"))]
    return {rule.id: rule for rule in rules}


def topic_path(name: str) -> Path | None:
    """Return the page about a scheduler's terms; None if no page has that name."""
    rules = Path(rules_folder())
    inside = rules / "topics"
    folder = inside if inside.is_dir() else rules.parent / "docs" / "schedulers"
    return next((page for page in folder.glob("*.md") if page.stem == name), None)


def page_path(identifier: str) -> Path:
    """Return the path of a rule's page: inside the installed package, or in `docs/` of a checkout."""
    rules = Path(rules_folder())
    inside = rules / "pages"
    folder = inside if inside.is_dir() else rules.parent / "docs" / "rules"
    return folder / f"{identifier}.md"


def _read(path: Path) -> RuleText:
    loaded = load(path.read_bytes(), path.name)
    if loaded.faults or len(loaded.documents) != 1:
        raise RulebookError(f"{path.name}: {loaded.faults[0].message if loaded.faults else 'must be one document'}")
    try:
        rule = RuleText.model_validate(loaded.documents[0].data)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise RulebookError(f"{path.name}: {wrong}") from None
    if path.stem != rule.slug:
        raise RulebookError(f"{path.name}: the file must be named {rule.slug}.yaml")
    return rule
