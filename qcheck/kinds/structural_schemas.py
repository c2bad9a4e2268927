"""Validation by structural schemas of CustomResourceDefinitions, which are translated to JSON Schema for jsonschema.

The API server drops nulls and adds defaults before it validates. Patterns have Go's syntax.
"""

from __future__ import annotations

from functools import cache

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.go_patterns import matcher
from qcheck.kinds.schema.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema import Draft7Validator, ValidationError

    Json = dict[str, object]

KEPT = frozenset({"apiVersion", "kind", "metadata"})
"""Fields that every object has."""
_PLAIN = frozenset(
    {
        "type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minItems", "maxItems", "minProperties", "maxProperties", "required",
    }
)  # fmt: skip
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(_PLAIN - {"type", "enum", "pattern", "required"}, (int, float)),
    "enum": list,
    "required": list,
}
"""The types of keyword values."""
_ONE, _SEVERAL = ("items", "additionalProperties", "not"), ("allOf", "anyOf", "oneOf")
"""The keywords whose value is a schema, and those whose value is a list of schemas."""
_PATTERN = "x-go-pattern"
"""The keyword that replaces `pattern`, which jsonschema evaluates with Python's `re`."""
_validators: dict[int, tuple[Json, Draft7Validator | None]] = {}
"""By the id of the schema, which is kept alive so that its id stays unique."""


def pruned(schema: Json, data: object) -> object:
    """Return data without the nulls that the schema does not allow, which the API server drops."""
    if isinstance(data, dict):
        inner = {k: (below(schema, k), v) for k, v in data.items()}
        return {k: pruned(s, v) for k, (s, v) in inner.items() if v is not None or s.get("nullable")}
    if isinstance(data, list):
        return [pruned(part(schema, "items"), v) for v in data]
    return data


def defaulted(schema: Json, data: object) -> object:
    """Return data with the defaults of the schema, including those inside defaults."""
    if isinstance(data, dict):
        properties = part(schema, "properties")
        missing = {
            k: s["default"] for k, s in properties.items() if isinstance(s, dict) and "default" in s and k not in data
        }
        return {k: defaulted(below(schema, k), v) for k, v in {**data, **missing}.items()}
    if isinstance(data, list):
        return [defaulted(part(schema, "items"), v) for v in data]
    return data


def part(schema: Json, name: str) -> Json:
    """Return the mapping of a keyword; empty if it is absent or something else."""
    found = schema.get(name)
    return found if isinstance(found, dict) else {}


def below(schema: Json, key: str) -> Json:
    """Return the schema of a key: that of its property, else that of additional properties."""
    properties = part(schema, "properties")
    return part(properties, key) if key in properties else part(schema, "additionalProperties")


def failures(schema: Json, data: object) -> Iterator[Failure]:
    """Yield the values that a schema rejects; none if the schema itself is invalid."""
    validator = _validator(schema)
    for error in validator.iter_errors(data) if validator is not None else ():
        route = tuple(error.absolute_path)
        text = f"Invalid value: {error.message[:300]}"
        if error.validator == "required" and isinstance(error.instance, dict):
            for name in error.validator_value:
                if name not in error.instance and f"{name!r} is" in error.message:
                    route, text = (*route, name), "Required value"
        yield Failure("SCHEMA", text, reversed(route))


def unjudged(schema: Json, name: str) -> Iterator[str]:
    """Yield the reasons why the schema of the kind `name` cannot be checked in full."""
    if _validator(schema) is None:
        yield f"the schema of {name} is invalid: its objects were not checked"
    for pattern in dict.fromkeys(_patterns(translated(schema))):
        if matcher(pattern) is None:
            yield f"a pattern of {name} was not judged: {pattern!r} cannot be evaluated"


def _validator(schema: Json) -> Draft7Validator | None:
    """Return the validator of a schema, created once; None if the schema is invalid.

    `_is_valid` replaces validation by the metaschema, which takes up to a second for one kind.
    """
    if id(schema) not in _validators:
        made = translated(schema)
        _validators[id(schema)] = (schema, _draft()(made) if _is_valid(made) else None)
    return _validators[id(schema)][1]


def _is_valid(schema: Json) -> bool:
    """Return whether the keywords of a translated schema have valid values; its subschemas are in the right places."""
    named = schema.get("type", [])
    if not all(isinstance(each, str) and each in _TYPES for each in (named if isinstance(named, list) else [named])):
        return False
    if not all(isinstance(schema[key], kind) for key, kind in _KINDS.items() if key in schema):
        return False
    if schema.get("multipleOf", 1) == 0 or not all(isinstance(name, str) for name in _listed(schema.get("required"))):
        return False
    inner = [*part(schema, "properties").values(), *(schema[k] for k in _ONE if k in schema)]
    branches = (each for k in _SEVERAL for each in _listed(schema.get(k)))
    return all(_is_valid(each) for each in (*inner, *branches) if isinstance(each, dict))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


@cache
def _draft() -> type[Draft7Validator]:
    """Return jsonschema's validator class, extended by our keyword."""
    from jsonschema import Draft7Validator, validators  # 80 ms

    extend: Callable[..., type[Draft7Validator]] = validators.extend
    return extend(Draft7Validator, {_PATTERN: _matches})


def translated(schema: Json) -> Json:
    """Return a structural schema as JSON Schema."""
    plain: Json = {k: v for k, v in schema.items() if k in _PLAIN}
    if schema.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
    if schema.get("nullable") and isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
    pattern = plain.pop("pattern", None)
    if isinstance(pattern, str):
        plain[_PATTERN] = pattern
    if isinstance(plain.get("multipleOf"), float):
        del plain["multipleOf"]  # the API server divides with a tolerance; jsonschema does not
    for name in ("exclusiveMinimum", "exclusiveMaximum"):
        if plain.pop(name, None) is True:
            plain[name] = plain.pop(f"{name[9].lower()}{name[10:]}", None)
    if properties := part(schema, "properties"):
        plain["properties"] = {k: translated(v) for k, v in properties.items() if isinstance(v, dict) and k not in KEPT}
    for name in _ONE:
        if isinstance(schema.get(name), dict):
            plain[name] = translated(part(schema, name))
    for name in _SEVERAL:
        branches = schema.get(name)
        if isinstance(branches, list) and not schema.get("x-kubernetes-int-or-string"):
            plain[name] = [translated(b) for b in branches if isinstance(b, dict)]
    return plain


def _patterns(schema: object) -> Iterator[str]:
    """Yield all patterns in a translated schema."""
    if isinstance(schema, dict):
        if isinstance(schema.get(_PATTERN), str):
            yield schema[_PATTERN]
        schema = [*schema.values()]
    for inner in schema if isinstance(schema, list) else ():
        yield from _patterns(inner)


def _matches(validator: object, pattern: str, text: object, schema: object) -> Iterator[ValidationError]:  # noqa: ARG001
    """Check a pattern; the signature is that of a jsonschema keyword."""
    from jsonschema import ValidationError

    test = matcher(pattern)
    if isinstance(text, str) and test is not None and not test(text):
        yield ValidationError(f"{text!r} does not match {pattern!r}")
