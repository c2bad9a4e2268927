"""The JSON Schema of `qcheck suggest --format json`. `suggest.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qcheck.reports.schema import Line, ReportPart


class SuggestEditPart(ReportPart):
    """A value as it is written, quotes included, and what to write instead."""

    file: str
    line: Line
    old: str
    new: str


class AlternativePart(ReportPart):
    """Edits that were applied in memory and checked."""

    kind: Literal["quota", "nodes", "daemonset", "shape", "label", "name"]
    words: str = Field(description="The changes in one line.")
    edits: list[SuggestEditPart]
    resolves: list[str] = Field(description="Fingerprints of the findings that are gone.")
    leaves: list[str] = Field(description="Fingerprints of those that stay.")
    brings: list[str] = Field(description="Rules whose warnings are new.")
    uncovers: list[str] = Field(description="Errors that other findings hid and that the edits uncover.")
    proof: str = Field(description="The sum after the edits.")
    proved: bool = Field(description="No smaller edit of this kind is enough.")


class RejectedPart(ReportPart):
    edit: str
    why: str


class SuggestReport(ReportPart):
    """The output of `qcheck suggest --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    alternatives: list[AlternativePart]
    rejected: list[RejectedPart]
    stopped: str = Field(description="Why the search ended early; empty if it did not.")


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = SuggestReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck suggest"}
