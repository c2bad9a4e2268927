"""The JSON Schema of `qcheck simulate --format json`. `simulation.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from qcheck.reports.schema import ReportPart
from qcheck.schedulers.kai.simulation.session import Action
from qcheck.schedulers.kueue.simulation.outcomes import Cause, Outcome, PendingPlace
from qcheck.schedulers.kueue.simulation.timeline import End

Flavors = dict[str, dict[str, str]]


class AdmissionPart(ReportPart):
    workload: str
    flavors: Flavors = Field(description="Pod set to resource to flavor.")
    counts: dict[str, int] = Field(
        default={}, description="Number of pods by pod set, if partial admission reduced it."
    )


class PreemptionPart(ReportPart):
    workload: str
    by: str
    reason: Cause | Action


class CyclePart(ReportPart):
    """One cycle of the scheduler; cycles without changes may be missing."""

    cycle: int = Field(description="From 1.")
    at: int = Field(description="Seconds, as in the scenario.")
    heads: list[tuple[str, Outcome]] = Field(description="In the order in which they are processed.")
    admitted: list[AdmissionPart]
    preempted: list[PreemptionPart]


class PendingPart(ReportPart):
    workload: str
    place: PendingPlace
    reason: str | None = Field(description="Null for a workload that was never tried.")


class QueuePart(ReportPart):
    queue: str
    device_hours: int | float = Field(description="Accelerator hours.")
    waited: int = Field(description="Seconds of all its workloads together.")
    preempted: int = Field(description="Preemptions of its workloads.")


class SharePart(ReportPart):
    """KAI's fair shares from a second on, in GPUs by queue."""

    at: int = Field(description="Seconds, as in the scenario.")
    shares: dict[str, int | float] = Field(description="Fair share in base units, by resource.")


class SimulationReport(ReportPart):
    """The output of `qcheck simulate --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    end: End
    cycles: list[CyclePart]
    admitted: list[AdmissionPart]
    pending: list[PendingPart]
    queues: list[QueuePart]
    not_simulated: list[str]
    shares: list[SharePart] | None = Field(None, description="Only for queues of KAI.")


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = SimulationReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck simulate"}
