"""qcheck's own node-pool format: each field defined once, with its type and its meaning.

Its JSON Schema, for editors, and the description by which misspelled fields are rejected, as in Kueue's objects, are
generated from here (`make docs`); `qcheck_format.py` reads the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Quantity = Annotated[str | int, "quantity"]
Text = str | bool | int | float
"""A text field, in which an unquoted `true` is accepted as text."""
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class FormatPart(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")


class Metadata(FormatPart):
    model_config = ConfigDict(extra="allow")
    name: str


class Range(FormatPart):
    """An autoscaled pool."""

    min: Count = 0
    desired: Count | None = None
    max: Count | None = Field(default=None, description="Default: no maximum.")


class TaintPart(FormatPart):
    key: str
    value: Text = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Accelerator(FormatPart):
    model: str | None = None
    nvlink_domain: Positive | None = Field(default=None, description="Accelerators that one NVLink domain connects.")


class Level(FormatPart):
    """The domains of one topology level."""

    level: str = Field(description="The label key, as in the Topology.")
    domains: Positive | None = None
    nodes_per_domain: Positive | None = None


class Spec(FormatPart):
    count: Count | Range = Field(description="Nodes: a number, or the bounds of an autoscaled pool.")
    instance_type: str | None = Field(default=None, description="The catalogue supplies what is not given here.")
    labels: dict[str, Text] = {}
    taints: list[TaintPart] = []
    allocatable: dict[str, Quantity] = Field(default={}, description="Amounts per node that the scheduler may assign.")
    accelerator: Accelerator = Accelerator()
    topology: list[Level] = []


class NodePoolPart(FormatPart):
    """Nodes that are declared for qcheck, where the real definition lives elsewhere."""

    api_version: Literal["qcheck.dev/v1"]
    kind: Literal["NodePool"]
    metadata: Metadata
    spec: Spec


def json_schema() -> dict[str, object]:
    """Return the JSON Schema (2020-12) of the format."""
    schema = NodePoolPart.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck.dev/v1 NodePool"}


def description() -> str:
    """Return the spec in the notation of `kinds/schema`. `kinds/validation` checks counts, which have two types."""
    return "\n".join(["spec! NP-S01", *_fields(Spec, "  ")]) + "\n"


def _fields(model: type[FormatPart], indent: str) -> Iterator[str]:
    for field in model.model_fields.values():
        kind, inner = _kind(field.annotation, field.metadata)
        yield f"{indent}{field.alias}{'!' * field.is_required()} {kind}".rstrip()
        if inner is not None:
            yield from _fields(inner, indent + "  ")


def _kind(annotation: Any, metadata: Any = ()) -> tuple[str, type[FormatPart] | None]:
    """Return a type in words, and the model of its content."""
    origin, inner = get_origin(annotation), [each for each in get_args(annotation) if each is not NoneType]
    if origin is Annotated:
        return _kind(inner[0], inner[1:])
    if "quantity" in metadata:
        return "quantity", None
    if origin is Literal:
        return "|".join(inner), None
    if origin in (list, dict):
        kind, model = _kind(inner[-1])
        return f"{'[..]' if origin is list else '{..}'} {kind}", model
    if len(inner) == 1:
        return _kind(inner[0])
    if isinstance(annotation, type) and issubclass(annotation, FormatPart):
        return "", annotation
    least = [bound.ge for data in metadata for bound in getattr(data, "metadata", [data]) if hasattr(bound, "ge")]
    words = {str: "string", int: f"int32 min:{least[0]}" if least else "int32"}
    return words.get(annotation, "any"), None
