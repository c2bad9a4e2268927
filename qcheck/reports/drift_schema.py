"""The JSON Schema of `drift --format json`. `drift.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qcheck.reports.schema import Line, ObjectPart, ReportPart


class WherePart(ReportPart):
    file: str
    line: Line


class WrittenPart(ObjectPart):
    file: str
    line: Line


class DriftFieldPart(ReportPart):
    """A field with another value; null where one side has none."""

    route: str
    file: object
    live: object


class ChangedPart(ReportPart):
    object: ObjectPart
    place: WherePart = Field(description="Where the files define it.")
    fields: list[DriftFieldPart]


class NodePart(ReportPart):
    """A figure of a pool that nodes do not have. Amounts are integers in base units."""

    pool: str | None = Field(description="null for nodes that no pool of the files accounts for.")
    place: WherePart | None
    field: str = Field(description="count, labels.KEY, taints.KEY, allocatable.RESOURCE or node.")
    file: object
    live: object
    nodes: list[str] = Field(description="The nodes that differ; none where their number does.")


class DriftReport(ReportPart):
    """The output of `qcheck drift --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    only_in_files: list[WrittenPart]
    only_live: list[ObjectPart]
    changed: list[ChangedPart]
    nodes: list[NodePart]
    not_compared: list[str] = Field(description="What could not be compared, and why.")
    unjudged: list[str] = Field(description="Why the run could not judge (exit code 2); empty otherwise.")


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the report."""
    schema = DriftReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck drift"}
