"""The JSON Schema of `--format json`, for programs that read it. `json.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Severity = Literal["error", "warning", "note"]
Data = dict[str, object]


class ReportPart(BaseModel):
    """Camel-case keys. Readers must accept more keys than these: within one `schema` number the report may grow."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow")


class Tool(ReportPart):
    name: Literal["qcheck"]
    version: str


class Summary(ReportPart):
    """How many findings are shown, by severity, and how many are not."""

    error: int
    warning: int
    note: int
    suppressed: int
    baselined: int


class NotReadPart(ReportPart):
    path: str
    why: str


class SkippedRule(ReportPart):
    """A rule that could not be judged."""

    rule: str
    why: str


class InputsPart(ReportPart):
    """What was looked at."""

    files: int
    documents: int
    objects: int
    not_read: list[NotReadPart]
    skipped_rules: list[SkippedRule]
    unjudged: list[str] = Field(description="Why the run could not judge (exit code 2); empty otherwise.")


class ObjectPart(ReportPart):
    """What the finding is about."""

    api_version: str
    kind: str
    namespace: str | None
    name: str


class PlacePart(ReportPart):
    """Lines and columns are 1-based and count code points; ends are exclusive."""

    file: str = Field(description="Relative to the working directory, with forward slashes.")
    line: int
    column: int
    end_line: int
    end_column: int
    route: str
    caption: str
    source: str | None = Field(default=None, description="The file that it was rendered from; absent for the others.")


class EditPart(ReportPart):
    """What to write between two positions."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    new: str


class FixPart(ReportPart):
    """Edits that resolve the finding, all of them together."""

    description: str
    safe: bool = Field(description="The edit does not change the object in the cluster; `check --fix` applies it.")
    edits: list[EditPart]


class FindingPart(ReportPart):
    rule: str
    name: str
    severity: Severity
    confidence: Literal["certain", "likely"]
    cluster: str
    message: str
    help: str
    url: str
    object: ObjectPart | None
    primary: PlacePart = Field(description="Where to edit.")
    related: list[PlacePart]
    data: Data = Field(description="The arithmetic, by rule.")
    fixes: list[FixPart] = []
    fingerprint: str = Field(description="Stays the same when lines move.")


class StatisticsPart(ReportPart):
    """How often a rule was found with one severity."""

    rule: str
    name: str
    severity: Severity
    count: int


class AcceleratorSumPart(ReportPart):
    resource: str
    nominal: int = Field(description="Promised by quota.")
    static: int | None = Field(description="On existing nodes, after DaemonSets and reserves; null if unknown.")
    headroom: int | None


class ClusterPart(ReportPart):
    """A cluster that was judged, with the sums of its accelerators over all nodes."""

    name: str
    accelerators: list[AcceleratorSumPart]


class Report(ReportPart):
    """What `qcheck check --format json` writes."""

    schema_number: Literal[1] = Field(alias="schema")
    tool: Tool
    summary: Summary
    inputs: InputsPart
    findings: list[FindingPart] = Field(description="Sorted by file, line and rule.")
    clusters: list[ClusterPart]
    statistics: list[StatisticsPart] | None = Field(default=None, description="With --statistics: counts by rule.")


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the report."""
    schema = Report.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck report"}
