"""The JSON Schema of the project's own node-pool format, for editors. `own.py` reads the format; a test compares the two."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Quantity = str | int
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")


class Metadata(Part):
    model_config = ConfigDict(extra="allow")
    name: str


class Range(Part):
    """An autoscaled pool."""

    min: Count = 0
    desired: Count | None = None
    max: Count | None = Field(default=None, description="Left out: no ceiling.")


class TaintPart(Part):
    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Accelerator(Part):
    model: str | None = None
    nvlink_domain: Positive | None = Field(default=None, description="Accelerators that one NVLink domain connects.")


class Level(Part):
    """How the nodes fall into domains of one topology level."""

    level: str = Field(description="The label key, as in the Topology.")
    domains: Positive | None = None
    nodes_per_domain: Positive | None = None


class Spec(Part):
    count: Count | Range = Field(description="Nodes: a number, or the bounds of an autoscaled pool.")
    instance_type: str | None = Field(
        default=None, description="Looked up in the catalogue for what is not given here."
    )
    labels: dict[str, str] = {}
    taints: list[TaintPart] = []
    allocatable: dict[str, Quantity] = Field(default={}, description="What the scheduler may hand out per node.")
    accelerator: Accelerator = Accelerator()
    topology: list[Level] = []


class NodePool(Part):
    """Nodes that are declared for qcheck, where the real definition lives elsewhere."""

    api_version: Literal["qcheck.dev/v1"]
    kind: Literal["NodePool"]
    metadata: Metadata
    spec: Spec


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of the format."""
    schema = NodePool.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck.dev/v1 NodePool"}
