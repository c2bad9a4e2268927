"""Validation of objects against the CustomResourceDefinitions in the inputs, as by the API server.

`structural_schemas.py` checks values with jsonschema, and `cel.py` evaluates CEL rules. This module finds the definitions of
an object and checks what JSON Schema cannot express: unknown fields and the keys of lists.
"""

from __future__ import annotations

import json

from qcheck.cluster.did_you_mean import nearest_field
from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.kinds import structural_schemas
from qcheck.kinds.cel import CelEvaluator, has_loops
from qcheck.kinds.decode import is_definition
from qcheck.kinds.rewrite import with_fixes
from qcheck.kinds.schema.advice import advice
from qcheck.kinds.schema.catalogue import KUEUE, described
from qcheck.kinds.schema.failure import Failure, as_sentence, field_path
from qcheck.kinds.shared_fields import object_id
from qcheck.kinds.structural_schemas import KEPT, below, defaulted, part, pruned
from qcheck.kinds.validate import first_of_each, validate
from qcheck.kinds.validation.target import ServedVersions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.validation.target import Target

    Json = dict[str, object]
    Key = tuple[str, str, str]
    Route = tuple[str | int, ...]


class CustomDefinition(Value):
    """One version of a kind: its structural schema, and the place of the definition."""

    key: Key
    schema: Json
    place: Place

    @property
    def name(self) -> str:
        group, version, kind = self.key
        return f"{group}/{version} {kind}"


def definitions(roots: Iterable[Cursor]) -> dict[Key, CustomDefinition]:
    """Return the first definition of each served version of a CustomResourceDefinition, by group, version and kind."""
    return {key: found[0] for key, found in alternatives(roots).items()}


def alternatives(roots: Iterable[Cursor]) -> dict[Key, list[CustomDefinition]]:
    """Return the different definitions of each served version, such as those of several releases or a simplified copy."""
    found: dict[Key, list[CustomDefinition]] = {}
    for root in roots:
        if not is_definition(root):
            continue
        group, kind = root["spec"]["group"].text(), root["spec"]["names"]["kind"].text()
        for version in root["spec"].items_at("versions"):
            schema, name = version["schema"]["openAPIV3Schema"], version["name"].text()
            if group and kind and name and isinstance(schema.data, dict) and version["served"].data is not False:
                key = (group, name, kind)
                known = found.setdefault(key, [])
                if all(each.schema != schema.data for each in known):
                    known.append(CustomDefinition(key, schema.data, Place(root.document, schema.route)))
    return found


def replaces(definition: CustomDefinition, release: tuple[int, int]) -> bool:
    """Return whether a definition replaces ours: if we have none, or if it is Kueue's and has other fields."""
    group, version, kind = definition.key
    ours = described(group, version, kind, release)
    if group != KUEUE or ours is None:
        return ours is None
    spec = ours.tree.children.get("spec")
    known = set(spec.children) if spec else set()
    return set(part(below(definition.schema, "spec"), "properties")) != known


def validate_custom(root: Cursor, definition: CustomDefinition, judge: CelEvaluator) -> Iterator[Problem]:
    """Yield the problems of an object whose kind is defined by a CustomResourceDefinition in the inputs."""
    identity = object_id(root)
    schema = definition.schema
    data = defaulted(schema, pruned(schema, root.data))
    failures = [*_unknown(schema, root.data, ()), *structural_schemas.failures(schema, data), *_lists(schema, data, ())]
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
    defined = alternatives(roots)
    custom = {key: found for key, found in defined.items() if replaces(found[0], target.release)}
    target = replace(target, installed=(*target.installed, *_of_kueue(found[0] for found in defined.values())))
    judge = CelEvaluator()
    problems: list[Problem] = []
    for root in roots:
        identity = object_id(root)
        found = custom.get((identity.group, identity.version, identity.kind))
        if found is None:
            problems += with_fixes(root, target, validate(root, target))
        else:
            quantities = [p for p in validate(root, target) if p.code.startswith("quantity")]
            problems += with_fixes(root, target, quantities)
            problems += _by_the_best(root, found, judge)
    return problems


def _by_the_best(root: Cursor, found: list[CustomDefinition], judge: CelEvaluator) -> list[Problem]:
    """Return the problems of an object by the definition with the fewest problems: any definition may be installed."""
    fewest: list[Problem] | None = None
    for definition in found:
        problems = list(validate_custom(root, definition, judge))
        if not problems:
            return []
        if fewest is None or len(problems) < len(fewest):
            fewest = problems
    return fewest or []


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
    """Return the path and reason for each definition of a present kind whose rules cannot all be evaluated."""
    present: dict[Key, list[Cursor]] = {}
    for root in roots:
        identity = object_id(root)
        present.setdefault((identity.group, identity.version, identity.kind), []).append(root)
    found = []
    for key, defined in alternatives(roots).items():
        for each in defined if key in present and replaces(defined[0], release) else ():
            found += [(each.place.origin.path, why) for why in structural_schemas.unjudged(each.schema, each.name)]
            why = [*CelEvaluator().unjudged(each.schema), *_unfinished(each.schema, present[key])]
            found += [(each.place.origin.path, f"a CEL rule of {each.name} was not judged: {w}") for w in why]
    return found


def _unfinished(schema: Json, roots: list[Cursor]) -> list[str]:
    """Return the reasons why rules cannot be evaluated for some of the objects."""
    judge = CelEvaluator()
    for root in roots if has_loops(schema) else ():
        for _ in judge.failures(schema, defaulted(schema, pruned(schema, root.data))):
            pass
    return [f"{e!r} takes too many iterations" for e in sorted(judge.unfinished)]


def _unknown(schema: Json, data: object, route: Route) -> Iterator[Failure]:
    if isinstance(data, dict):
        properties = part(schema, "properties")
        is_open = (
            not properties
            or "additionalProperties" in schema
            or bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        )
        for key, value in data.items():
            if not route and key in KEPT:
                continue
            if key not in properties and not is_open:
                near = nearest_field(key, list(properties))
                steps = reversed((*route, key))
                yield Failure("SCHEMA", key, steps, code=ProblemCode.UNKNOWN_FIELD, on_key=True, near=near)
            else:
                yield from _unknown(below(schema, key), value, (*route, key))
    elif isinstance(data, list):
        for at, value in enumerate(data):
            yield from _unknown(part(schema, "items"), value, (*route, at))


def _lists(schema: Json, data: object, route: Route) -> Iterator[Failure]:
    """Yield the repeated items of a list map or set."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _lists(below(schema, key), value, (*route, key))
    elif isinstance(data, list):
        kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
        seen: set[str] = set()
        for at, value in enumerate(data):
            named = [value.get(k) for k in keys] if isinstance(value, dict) and isinstance(keys, list) else value
            if kind in ("map", "set"):
                if (text := json.dumps(named, sort_keys=True, default=str)) in seen:
                    yield Failure("SCHEMA", f"Duplicate value: {named}", reversed((*route, at)))
                seen.add(text)
            yield from _lists(part(schema, "items"), value, (*route, at))
