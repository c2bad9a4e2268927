"""The JSON Schema of `qcheck admit --format json`. `admission.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qcheck.reports.schema import Count, Line, ObjectPart, PlacePart, ReportPart


class ReasonPart(ReportPart):
    """A reason why a workload is not admitted or does not run, or why that is unknown."""

    code: str = Field(description="Kueue's reason word where it has one.")
    cause: str
    message: str
    place: PlacePart | None
    related: list[PlacePart]
    flavor: str | None
    resource: str | None
    change: str = Field(description="A hint; empty if there is none.")


class PodSetPart(ReportPart):
    name: str
    count: Count
    requests: dict[str, int] = Field(description="Total of the pod set in base units: devices, milli-cpu, bytes.")
    flavors: dict[str, str] = Field(description="Flavor by resource.")


class PlacedPart(ReportPart):
    """Equal nodes of a pool with the pods that each gets."""

    pool: str
    nodes: Count
    names: list[str] = Field(description="The nodes by name, where they are known.")
    pods_per_node: dict[str, int] = Field(description="Pods on each node, by pod set.")


class NewValuePart(ReportPart):
    """A value that the smallest change writes."""

    file: str
    line: Line
    new: str


class WorkloadPart(ReportPart):
    object: ObjectPart
    cluster: str
    queue: str | None
    cluster_queue: str | None
    verdict: str
    admitted: bool | None = Field(description="null: cannot tell, and the reasons say why.")
    runs: bool | None = Field(description="null: cannot tell, and the reasons say why.")
    flavors: dict[str, str] = Field(description="Flavor by resource, over all pod sets.")
    pod_sets: list[PodSetPart]
    placement: list[PlacedPart] = Field(description="The witness: where every pod runs.")
    reasons: list[ReasonPart]
    change: str = Field(description="The smallest change that was tried and makes it run; empty if none was found.")
    edits: list[NewValuePart] = Field(description="The same as other values; empty where it is no change of a value.")


class AdmissionReport(ReportPart):
    """The output of `qcheck admit --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    workloads: list[WorkloadPart]
    unjudged: list[str]


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = AdmissionReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck admit"}
