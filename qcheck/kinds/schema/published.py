"""JSON Schemas of described kinds, from the same descriptions that `check` uses."""

from __future__ import annotations

from qcheck.kinds.schema.catalogue import KUEUE, SERVED, Described, described
from qcheck.kinds.schema.formats import FORMATS, QUANTITY
from qcheck.kinds.schema.node import INT_RANGE, SchemaNode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.kinds.schema.catalogue import Release

    Json = dict[str, object]


def kueue_schema(kind: str, version: str, release: Release) -> Json:
    """Return the schema of one of Kueue's kinds. Raises `KeyError` if the release does not have it."""
    first, last = SERVED[kind][version]
    found = described(KUEUE, version, kind, release)
    if found is None or not first <= release < last:
        raise KeyError(version)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": kind, **json_schema(found)}


def json_schema(found: Described) -> Json:
    """Return a JSON Schema.

    It is closed if the kind is: an unknown field is an error, as with `kubectl --validate=strict`.
    """
    return _schema(found.tree, found)


def _schema(node: SchemaNode, found: Described) -> Json:
    node, default = found.compiler.resolve(node), node.default
    schema = _typed(node, found)
    return schema if default is None else {**schema, "default": default}


def _typed(node: SchemaNode, found: Described) -> Json:
    match node.kind:
        case "object":
            return _object(node, found)
        case "list":
            assert node.item is not None
            return {
                "type": "array",
                **_bounds(node.bounds, "Items"),
                **({"uniqueItems": True} if node.unique else {}),
                **(
                    {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(node.keys)}
                    if node.keys
                    else {}
                ),
                "items": _schema(node.item, found),
            }
        case "map":
            assert node.item is not None
            return {
                "type": "object",
                **_bounds(node.bounds, "Properties"),
                "additionalProperties": _schema(node.item, found),
            }
    return _scalar(node)


def _object(node: SchemaNode, found: Described) -> Json:
    properties = {name: _schema(child, found) for name, child in node.children.items()}
    required = sorted(name for name, child in node.children.items() if child.required)
    schema: Json = {"type": "object"}
    if properties:
        schema["properties"] = properties
        schema["additionalProperties"] = node.is_open
    if required:
        schema["required"] = required
    return schema


def _scalar(node: SchemaNode) -> Json:
    match node.kind:
        case "string":
            pattern = {"pattern": f"^{FORMATS[node.format].pattern}$"} if node.format else {}
            values = {"enum": list(node.values)} if node.values else {}
            return {"type": "string", **values, **_bounds(node.length, "Length"), **pattern}
        case "int32" | "int64":
            low, high = INT_RANGE[node.kind]
            low = low if node.minimum is None else node.minimum
            return {"type": "integer", "minimum": low, "maximum": high if node.maximum is None else node.maximum}
        case "bool":
            return {"type": "boolean"}
        case "quantity":
            return {"type": ["integer", "string"], "pattern": QUANTITY}
        case "int-or-string":
            return {"type": ["integer", "string"]}
        case "number":
            return {"type": "number"}
        case "duration":
            return {"type": "string"}
        case "time":
            return {"type": "string", "format": "date-time"}
    return {}


def _bounds(bounds: tuple[int, int | None], what: str) -> Json:
    low, high = bounds
    return {**({f"min{what}": low} if low else {}), **({} if high is None else {f"max{what}": high})}
