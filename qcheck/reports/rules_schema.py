"""The JSON Schema of `qcheck rules --format json`. `cli/rules.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from qcheck.reports.schema import ReportPart


class RuleMessagePart(ReportPart):
    """A message of a rule with sample values."""

    severity: Literal["error", "warning", "note"]
    message: str
    captions: list[str]
    help: str | None


class RuleEntryPart(ReportPart):
    id: str
    name: str
    family: str
    severity: Literal["error", "warning", "note"]
    summary: str
    fix: str
    needs: list[str] = Field(description="Facts without which the rule is skipped.")
    kueue: str = Field(description="Releases of Kueue in which it holds, such as >=0.6; empty: all.")
    since: str = Field(description="The release of qcheck that added it.")
    params: dict[str, Any] = Field(description="Parameters with their default values.")
    url: str
    messages: list[RuleMessagePart] | None = Field(default=None, description="With --messages only.")


class RulesReport(ReportPart):
    """The output of `qcheck rules --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    rules: list[RuleEntryPart]


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = RulesReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck rules"}
