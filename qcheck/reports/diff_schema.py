"""The JSON Schema of `qcheck diff --format json`. `diff.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qcheck.reports.schema import BaseUnits, Count, FindingPart, Line, ReportPart

Amount = Annotated[int | float, Field(description="In base units: devices, milli-cpu, bytes.")]


class CountsPart(ReportPart):
    error: Count
    warning: Count
    note: Count


class DiffSummaryPart(ReportPart):
    new: CountsPart
    fixed: CountsPart
    remaining: CountsPart


class BothPart(ReportPart):
    """A figure on both sides; null where the pair does not occur or the figure is unknown."""

    before: BaseUnits | None
    after: BaseUnits | None


class CapacityChangePart(ReportPart):
    """A flavor and resource whose quota or supply differs, in base units: devices, milli-cpu, bytes."""

    flavor: str
    resource: str
    nominal: BothPart
    static: BothPart
    ceiling: BothPart
    headroom: BothPart


class DiffFieldPart(ReportPart):
    route: str
    before: Any
    after: Any


class ObjectChangePart(ReportPart):
    change: str
    kind: str
    name: str
    was: str | None = Field(description="The former name of a renamed object.")
    file: str
    line: Line
    fields: list[DiffFieldPart]


class ShareChangePart(ReportPart):
    """The share of a queue when all are busy; a side is null if the queue does not exist."""

    scheduler: str
    pool: str
    resource: str
    queue: str
    before: dict[str, Amount | None] | None
    after: dict[str, Amount | None] | None


class DiffClusterPart(ReportPart):
    name: str
    capacity: list[CapacityChangePart]
    objects: list[ObjectChangePart]
    shares: list[ShareChangePart]


class DiffReport(ReportPart):
    """The output of `qcheck diff --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    base: str
    head: str
    summary: DiffSummaryPart
    unjudged: list[str]
    clusters: list[DiffClusterPart]
    new: list[FindingPart]
    fixed: list[FindingPart]
    remaining: list[FindingPart]


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = DiffReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck diff"}
