"""Validates kinds whose CustomResourceDefinitions are in the inputs against these, as the API server does.

jsonschema checks values; this module handles what a structural schema adds to JSON Schema (unknown fields, list maps,
integers or strings, defaults, dropped nulls), and `cel.py` the CEL rules.
"""

from __future__ import annotations

import re

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.kinds.cel import CelEvaluator
from qcheck.kinds.decode import DEFINITIONS
from qcheck.kinds.rewrite import with_fixes
from qcheck.kinds.schema.advice import advice
from qcheck.kinds.schema.catalogue import KUEUE, described
from qcheck.kinds.schema.failure import Failure, as_sentence, field_path
from qcheck.kinds.shared_fields import object_id
from qcheck.kinds.validate import first_of_each, validate
from qcheck.kinds.validation.target import ServedVersions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema import Draft7Validator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.validation.target import Target

    Json = dict[str, object]
    Key = tuple[str, str, str]
    Route = tuple[str | int, ...]

KIND = "CustomResourceDefinition"
_KEPT = frozenset({"apiVersion", "kind", "metadata"})
_PLAIN = frozenset(
    {
        "type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required",
    }
)  # fmt: skip


_validators: dict[int, tuple[Json, Draft7Validator | None]] = {}
"""By the id of the schema, which is kept alive so that its id stays unique."""


class CustomDefinition(Value):
    """One version of a kind: its structural schema, and the place of the definition."""

    key: Key
    schema: Json
    place: Place

    @property
    def name(self) -> str:
        group, version, kind = self.key
        return f"{group}/{version} {kind}"


def is_definition(root: Cursor) -> bool:
    return root["kind"].text() == KIND and (root["apiVersion"].text() or "").startswith(f"{DEFINITIONS}/")


def definitions(roots: Iterable[Cursor]) -> dict[Key, CustomDefinition]:
    """Return the served versions of all CustomResourceDefinitions, by group, version and kind."""
    found: dict[Key, CustomDefinition] = {}
    for root in roots:
        if not is_definition(root):
            continue
        group, kind = root["spec"]["group"].text(), root["spec"]["names"]["kind"].text()
        for version in root["spec"].items_at("versions"):
            schema, name = version["schema"]["openAPIV3Schema"], version["name"].text()
            if group and kind and name and isinstance(schema.data, dict) and version["served"].data is not False:
                key = (group, name, kind)
                found.setdefault(key, CustomDefinition(key, schema.data, Place(root.document, schema.route)))
    return found


def replaces(definition: CustomDefinition, release: tuple[int, int]) -> bool:
    """Return whether a definition replaces ours: if we have none, or if it is Kueue's and has other fields."""
    group, version, kind = definition.key
    ours = described(group, version, kind, release)
    if group != KUEUE or ours is None:
        return ours is None
    spec = ours.tree.children.get("spec")
    known = set(spec.children) if spec else set()
    return set(_part(_below(definition.schema, "spec"), "properties")) != known


def validate_custom(root: Cursor, definition: CustomDefinition, judge: CelEvaluator) -> Iterator[Problem]:
    """Yield the problems of an object whose kind is defined by a CustomResourceDefinition in the inputs."""
    identity = object_id(root)
    schema = definition.schema
    data = defaulted(schema, pruned(schema, root.data))
    failures = [*_unknown(schema, root.data, ()), *_values(schema, data), *_lists(schema, data, ())]
    if not any(f.code is ProblemCode.API_REJECTED for f in failures):
        failures += judge.failures(schema, data)
    for failure, more in first_of_each(failures):
        route = failure.route
        path = field_path(route)
        text = f"{path}: {failure.text}"
        if failure.code is ProblemCode.UNKNOWN_FIELD:
            text = f'unknown field "{path}": {definition.name} has no such field, so it is dropped silently'
        yield Problem(
            code=failure.code,
            place=Place(root.document, root.route + route, "", failure.on_key),
            message=text + more,
            help=_help(path, failure),
            object=identity,
            related=(definition.place.named("the schema of this kind"),),
            data={"check": failure.check, "field": path},
        )


def _help(path: str, failure: Failure) -> str:
    if failure.near:
        return f"Write {failure.near}."
    return as_sentence(advice(path, failure.text)) if failure.code is ProblemCode.API_REJECTED else ""


def validate_all(roots: list[Cursor], target: Target) -> list[Problem]:
    """Return the problems of all objects, validated against the inputs' CustomResourceDefinitions if they apply."""
    defined = definitions(roots)
    custom = {key: b for key, b in defined.items() if replaces(b, target.release)}
    target = replace(target, installed=(*target.installed, *_of_kueue(defined.values())))
    judge = CelEvaluator()
    problems: list[Problem] = []
    for root in roots:
        identity = object_id(root)
        definition = custom.get((identity.group, identity.version, identity.kind))
        if definition is None:
            problems += with_fixes(root, target, validate(root, target))
        else:
            quantities = [p for p in validate(root, target) if p.code.startswith("quantity")]
            problems += with_fixes(root, target, quantities)
            problems += validate_custom(root, definition, judge)
    return problems


def _of_kueue(defined: Iterable[CustomDefinition]) -> Iterator[ServedVersions]:
    """Yield the versions that the definitions of each of Kueue's kinds serve."""
    by_kind: dict[str, list[CustomDefinition]] = {}
    for each in defined:
        group, _, kind = each.key
        if group == KUEUE:
            by_kind.setdefault(kind, []).append(each)
    for kind, found in by_kind.items():
        place = found[0].place
        versions = Place(place.origin, place.route[:2])
        yield ServedVersions(versions, by_kind={kind: tuple(each.key[1] for each in found)})


def unjudged(roots: list[Cursor], release: tuple[int, int]) -> list[tuple[str, str]]:
    """Return the path and reason for each definition of a present kind with CEL rules that cannot be evaluated."""
    present = {(i.group, i.version, i.kind) for i in map(object_id, roots)}
    found = []
    for key, each in definitions(roots).items():
        if key in present and replaces(each, release):
            if _validator(each.schema) is None:
                found.append(
                    (each.place.origin.path, f"the schema of {each.name} is invalid: its objects were not checked")
                )
            why = CelEvaluator().unjudged(each.schema)
            found += [(each.place.origin.path, f"a CEL rule of {each.name} was not judged: {w}") for w in why]
    return found


def pruned(schema: Json, data: object) -> object:
    """Return data without the nulls that the schema does not allow, which the API server drops."""
    if isinstance(data, dict):
        inner = {k: (_below(schema, k), v) for k, v in data.items()}
        return {k: pruned(s, v) for k, (s, v) in inner.items() if v is not None or s.get("nullable")}
    if isinstance(data, list):
        return [pruned(_part(schema, "items"), v) for v in data]
    return data


def defaulted(schema: Json, data: object) -> object:
    """Return data with the defaults of the schema, including those inside defaults."""
    if isinstance(data, dict):
        properties = _part(schema, "properties")
        missing = {
            k: s["default"] for k, s in properties.items() if isinstance(s, dict) and "default" in s and k not in data
        }
        return {k: defaulted(_below(schema, k), v) for k, v in {**data, **missing}.items()}
    if isinstance(data, list):
        return [defaulted(_part(schema, "items"), v) for v in data]
    return data


def _part(schema: Json, name: str) -> Json:
    found = schema.get(name)
    return found if isinstance(found, dict) else {}


def _below(schema: Json, key: str) -> Json:
    """Return the schema of a key: that of its property, else that of additional properties."""
    properties = _part(schema, "properties")
    return _part(properties, key) if key in properties else _part(schema, "additionalProperties")


def _unknown(schema: Json, data: object, route: Route) -> Iterator[Failure]:
    if isinstance(data, dict):
        properties = _part(schema, "properties")
        is_open = (
            not properties
            or "additionalProperties" in schema
            or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        )
        for key, value in data.items():
            if not route and key in _KEPT:
                continue
            if key not in properties and not is_open:
                near = nearest(key, list(properties))
                steps = reversed((*route, key))
                yield Failure("SCHEMA", key, steps, code=ProblemCode.UNKNOWN_FIELD, on_key=True, near=near)
            else:
                yield from _unknown(_below(schema, key), value, (*route, key))
    elif isinstance(data, list):
        for at, value in enumerate(data):
            yield from _unknown(_part(schema, "items"), value, (*route, at))


def _values(schema: Json, data: object) -> Iterator[Failure]:
    validator = _validator(schema)
    for error in validator.iter_errors(data) if validator is not None else ():
        route = tuple(error.absolute_path)
        text = f"Invalid value: {error.message[:300]}"
        if error.validator == "required" and isinstance(error.instance, dict):
            for name in error.validator_value:
                if name not in error.instance and f"{name!r} is" in error.message:
                    route, text = (*route, name), "Required value"
        yield Failure("SCHEMA", text, reversed(route))


def _validator(schema: Json) -> Draft7Validator | None:
    """Return the validator of a schema, created once; None if the schema is invalid.

    Draft 7 has all keywords of `translated`, and its metaschema is checked five times faster than newer ones.
    """
    if id(schema) not in _validators:
        from jsonschema import Draft7Validator, SchemaError  # 80 ms

        made = translated(schema)
        try:
            Draft7Validator.check_schema(made)
        except SchemaError:
            _validators[id(schema)] = (schema, None)
        else:
            _validators[id(schema)] = (schema, Draft7Validator(made))
    return _validators[id(schema)][1]


def translated(schema: Json) -> Json:
    """Return a structural schema as JSON Schema."""
    plain: Json = {k: v for k, v in schema.items() if k in _PLAIN}
    if schema.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
    if schema.get("nullable") and isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
    pattern = plain.pop("pattern", None)
    if isinstance(pattern, str) and (known := _pattern(pattern)):
        plain["pattern"] = known
    for name in ("exclusiveMinimum", "exclusiveMaximum"):
        if plain.pop(name, None) is True:
            plain[name] = plain.pop(f"{name[9].lower()}{name[10:]}", None)
    if properties := _part(schema, "properties"):
        plain["properties"] = {
            k: translated(v) for k, v in properties.items() if isinstance(v, dict) and k not in _KEPT
        }
    for name in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(name), dict):
            plain[name] = translated(_part(schema, name))
    for name in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(name)
        if isinstance(branches, list) and not schema.get("x-kubernetes-int-or-string"):
            plain[name] = [translated(b) for b in branches if isinstance(b, dict)]
    return plain


def _pattern(pattern: str) -> str | None:
    """Return a Go pattern for Python, flags first; None if Python cannot compile it, so that it is not checked."""
    match = re.match(r"\^?\(\?([a-z]+)\)", pattern)
    moved = f"(?{match[1]})" + pattern.replace(f"(?{match[1]})", "", 1) if match else pattern
    try:
        re.compile(moved)
    except re.error:
        return None
    return moved


def _lists(schema: Json, data: object, route: Route) -> Iterator[Failure]:
    """Yield the repeated items of a list map or set."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _lists(_below(schema, key), value, (*route, key))
    elif isinstance(data, list):
        kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
        seen: list[object] = []
        for at, value in enumerate(data):
            named = [value.get(k) for k in keys] if isinstance(value, dict) and isinstance(keys, list) else value
            if kind in ("map", "set") and named in seen:
                yield Failure("SCHEMA", f"Duplicate value: {named}", reversed((*route, at)))
            seen.append(named)
            yield from _lists(_part(schema, "items"), value, (*route, at))
