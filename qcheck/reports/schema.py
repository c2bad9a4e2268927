"""The JSON Schema of `--format json`, for programs that read it. `json.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Line = Annotated[int, Field(description="1-based.")]
Column = Annotated[int, Field(description="1-based, in code points.")]
Count = Annotated[int, Field(description="How many there are.")]
BaseUnits = Annotated[int, Field(description="In base units: devices, milli-cpu, bytes.")]
Severity = Literal["error", "warning", "note"]
Data = dict[str, object]


class ReportPart(BaseModel):
    """Camel-case keys. Readers must accept more keys than these: within one `schema` number the report may grow."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow")


class Tool(ReportPart):
    name: Literal["qcheck"]
    version: str


class Summary(ReportPart):
    """The number of findings shown, by severity, and of those not shown."""

    error: Count
    warning: Count
    note: Count
    suppressed: Count
    baselined: Count


class NotReadPart(ReportPart):
    path: str
    why: str


class SkippedRule(ReportPart):
    """A rule that could not be judged."""

    rule: str
    why: str


class FileReadPart(ReportPart):
    """A file that was read. `merge` counts the files that several reports share once."""

    path: str
    documents: Count
    size: Count = Field(description="Characters.")


class InputsPart(ReportPart):
    """The inputs of the run."""

    files: Count
    documents: Count
    objects: Count
    not_read: list[NotReadPart]
    skipped_rules: list[SkippedRule]
    unjudged: list[str] = Field(description="Why the run could not judge (exit code 2); empty otherwise.")
    read: list[FileReadPart] = []


class ObjectPart(ReportPart):
    """The object of the finding."""

    api_version: str
    kind: str
    namespace: str | None
    name: str


class PlacePart(ReportPart):
    """Lines and columns are 1-based and count code points; ends are exclusive."""

    file: str = Field(description="Relative to the working directory, with forward slashes.")
    line: Line
    column: Column
    end_line: Line
    end_column: Column
    route: str
    caption: str
    source: str | None = Field(default=None, description="The file that it was rendered from; absent for the others.")


class EditPart(ReportPart):
    """The text to write between two positions."""

    file: str
    line: Line
    column: Column
    end_line: Line
    end_column: Column
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
    """The number of findings of a rule with one severity."""

    rule: str
    name: str
    severity: Severity
    count: Count


class AcceleratorSumPart(ReportPart):
    resource: str
    nominal: int = Field(description="Devices promised by quota.")
    static: int | None = Field(description="Devices of existing nodes, after DaemonSets and reserves; null if unknown.")
    headroom: int | None = Field(description="static - nominal, in devices; null if unknown.")


class ClusterPart(ReportPart):
    """A cluster that was judged, with the sums of its accelerators over all nodes."""

    name: str
    objects: Count = 0
    accelerators: list[AcceleratorSumPart]


class Report(ReportPart):
    """The output of `qcheck check --format json`."""

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
