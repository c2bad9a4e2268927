"""The JSON Schema of `qcheck shares --format json`. `shares.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from qcheck.reports.schema import PlacePart, ReportPart

Number = int | float
Amount = Annotated[Number, Field(description="In base units: devices, milli-cpu, bytes.")]


class ReclaimablePart(ReportPart):
    """The quota that the queue reclaims from borrowers."""

    amount: Amount
    holders: list[str] = Field(alias="from")
    how: str


class NotePart(ReportPart):
    code: str
    message: str
    place: PlacePart | None


class QueueSharePart(ReportPart):
    """Amounts in base units: devices, milli-cpu, bytes."""

    queue: str
    parent: str | None
    reserved: Number = Field(description="What no other queue can keep from it, in base units.")
    entitled: Number = Field(description="Nominal quota (Kueue), quota (KAI), deserved (Volcano), in base units.")
    share: Number | None = Field(
        description="The fluid division, in base units; null where the mechanism defines none."
    )
    limit: Number = Field(description="The most it can ever hold, in base units.")
    reclaimable: ReclaimablePart
    notes: list[NotePart]


class SharesPoolPart(ReportPart):
    """One tree of queues, for one pool and resource."""

    scheduler: Literal["kueue", "kai", "volcano"]
    pool: str = Field(description="The flavor (Kueue), the shard (KAI) or the node group (Volcano).")
    resource: str
    tree: str = Field(description="The root of the tree.")
    total: Number = Field(description="What the scheduler divides, in base units.")
    queues: list[QueueSharePart]


class SharesClusterPart(ReportPart):
    name: str
    pools: list[SharesPoolPart]


class SharesReport(ReportPart):
    """The output of `qcheck shares --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    clusters: list[SharesClusterPart]
    unjudged: list[str] = Field(description="Why the run could not judge (exit code 2); empty otherwise.")


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = SharesReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck shares"}
