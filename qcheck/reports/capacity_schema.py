"""The JSON Schema of `qcheck capacity --format json`. `capacity.py` writes it; a test compares the two."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from qcheck.reports.schema import Count, Line, ReportPart

Price = int | float
"""An amount of the currency in which the settings state prices."""


Money = Annotated[Price, Field(description="Per hour, in the currency of the prices in the settings.")]


class CapacityPoolPart(ReportPart):
    """Nodes behind a flavor; amounts per node in base units (devices, milli-cpu, bytes)."""

    name: str
    nodes: int = Field(description="Nodes that exist without an autoscaler.")
    ceiling_nodes: int | None = Field(description="The most nodes there can be; null without a ceiling.")
    per_node: int = Field(description="Allocatable of one node, in base units.")
    free_per_node: int = Field(description="What DaemonSets and reserves leave of it, in base units.")


class StrandedPart(ReportPart):
    pool: str
    amount: int = Field(description="Devices of one node.")
    by: str = Field(description="The resource that runs out first.")


class UsePart(ReportPart):
    """The number of pods of a size or shape that fit."""

    name: str
    size: int = Field(description="Devices of one pod.")
    pods: Count
    idle: int = Field(description="Devices that stay idle with only such pods.")
    fragmentation: list[int] = Field(description="Numerator and denominator.")
    largest_gangs: dict[str, int] = Field(description="Pods of the largest gang in one domain, by level.")
    stranded: list[StrandedPart]


class DomainPart(ReportPart):
    nodes: Count
    accelerators: Count


class UsabilityPart(ReportPart):
    """The usability of the free accelerators."""

    free: int = Field(description="Devices.")
    sizes: list[UsePart]
    shapes: list[UsePart]
    expected_fragment: list[int] | None = Field(description="Numerator and denominator of the FGD measure.")
    per_accelerator: dict[str, int] = Field(description="Milli-cpu and bytes per device that strand no device.")
    largest_domains: dict[str, DomainPart]


class FlavorPart(ReportPart):
    """One flavor, shard or node group and one resource, in base units: devices, milli-cpu, bytes."""

    flavor: str
    scheduler: Literal["kai", "volcano"] | None = Field(default=None, description="Absent for Kueue.")
    resource: str
    nominal: int = Field(description="What queues promise, in base units.")
    static: int | None = Field(
        description="On existing nodes after DaemonSets and reserves, in base units; null if unknown."
    )
    ceiling: int | None = Field(description="The most that can exist, in base units; null if unknown or unlimited.")
    daemon_sets: int = Field(description="What DaemonSets take, in base units.")
    reserves: int = Field(description="What the settings reserve, in base units.")
    headroom: int | None = Field(description="static - nominal, in base units.")
    known: bool
    estimated: bool
    pools: list[CapacityPoolPart]
    placeable: dict[str, int] = Field(description="Pods that fit on existing nodes, by their number of devices.")
    topology: UsabilityPart | None
    cost_per_hour: Price | None = Field(default=None, description="With prices in the settings.")


class SourcePart(ReportPart):
    """The sources of the figures of a pool."""

    pool: str
    format: str
    file: str
    line: Line
    count_line: int = Field(description="Line of the node count, 1-based.")
    figures: list[str]
    unknown: str | None


class QueueCostPart(ReportPart):
    queue: str
    reserved: Money
    lendable: Money


class CostPart(ReportPart):
    """The cost of the nodes per hour: reserved + stranded + unclaimed = hour."""

    hour: Money
    reserved: Money
    lendable: Money
    stranded: Money
    unclaimed: Money
    queues: list[QueueCostPart]
    unpriced: list[str]


class CapacityClusterPart(ReportPart):
    name: str
    flavors: list[FlavorPart]
    sources: list[SourcePart]
    cost: CostPart | None = Field(default=None, description="With prices in the settings.")
    live: dict[str, Any] | None = Field(default=None, description="Usage and pending pods of a running cluster.")


class CapacityReport(ReportPart):
    """The output of `qcheck capacity --format json`."""

    schema_number: Literal[1] = Field(alias="schema")
    clusters: list[CapacityClusterPart]
    unjudged: list[str] = Field(description="Why the run could not judge (exit code 2); empty otherwise.")


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the answer."""
    schema = CapacityReport.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck capacity"}
