"""The JSON Schema of `qcheck explain preemption --format json`. `preemption.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qcheck.reports.schema import ReportPart


class PreemptionQueuePart(ReportPart):
    """The preemption policies of a ClusterQueue and what follows from them."""

    name: str
    cohort: str | None
    within_queue: str = Field(alias="withinClusterQueue")
    reclaim: str = Field(alias="reclaimWithinCohort")
    borrow: str = Field(alias="borrowWithinCohort")
    threshold: int | None = Field(alias="maxPriorityThreshold", description="A priority.")
    effects: list[str]


class ClaimPart(ReportPart):
    """Lent quota, and whether and when its owner gets it back."""

    owner: str
    flavor: str
    resource: str
    nominal: int = Field(description="In base units: devices, milli-cpu, bytes.")
    holders: list[str] = Field(description="Queues that may borrow it.")
    amount: int = Field(description="What they may hold of it, in base units.")
    comes_back: str = Field(alias="comesBack", description="Whether the owner can reclaim it.")
    why: str
    seconds: int | None = Field(description="Seconds until the nodes are free; null where nothing bounds it.")
    slowest: str | None = Field(description="The workload that takes longest to end.")
    assumed: bool = Field(description="No workload is known: `seconds` is the default grace period.")


class PreemptionClusterPart(ReportPart):
    name: str
    fair_sharing: bool = Field(alias="fairSharing")
    profile: str | None = Field(description="The profile of the settings that the priorities follow.")
    queues: list[PreemptionQueuePart]
    claims: list[ClaimPart]


class PreemptionReport(ReportPart):
    """The output of `qcheck explain preemption --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    clusters: list[PreemptionClusterPart]


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = PreemptionReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck explain preemption"}
