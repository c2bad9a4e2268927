"""Checks of device classes as resources (`resources.deviceClassMappings`): CFG-V10."""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, label_fault, subdomain_fault
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

_CHECK = "CFG-V10"
_MOST_MAPPINGS = 16
_MOST_CLASSES = 8
_LONGEST = 253
_LONGEST_DRIVER = 63
_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]{0,31}")
_GATES = {"counter": "KueueDRAIntegrationPartitionableDevices", "capacity": "KueueDRAIntegrationConsumableCapacity"}


def device_classes(at: Cursor, target: Target) -> Iterator[Failure]:
    mappings = at.items()
    names: dict[str, Cursor] = {}
    owners: dict[str, tuple[str, Cursor, set[str]]] = {}
    if len(mappings) > _MOST_MAPPINGS:
        yield refuse(at, _CHECK, f"Too many: {len(mappings)}: must have at most {_MOST_MAPPINGS} items")
    for mapping in mappings:
        name = mapping["name"]
        if name.text() is not None:
            yield from _key(name)
            yield from _first(name, names)
        yield from _classes(mapping, owners)
        yield from _sources(mapping["sources"], target)


def _key(at: Cursor) -> Iterator[Failure]:
    text = at.text() or ""
    fault = key_fault(text) or ("must be no more than 253 characters" if len(text) > _LONGEST else None)
    if fault:
        yield refuse(at, _CHECK, f"Invalid value: {show(text)}: {fault}")


def _first(at: Cursor, seen: dict[str, Cursor]) -> Iterator[Failure]:
    first = seen.setdefault(at.text() or "", at)
    if first is not at:
        yield refuse(at, _CHECK, f"Duplicate value: {show(at.data)}", related=(first.route,))


def _classes(mapping: Cursor, owners: dict[str, tuple[str, Cursor, set[str]]]) -> Iterator[Failure]:
    """Check that a class belongs to one resource, unless each of its mappings uses a different counter."""
    at, resource = mapping["deviceClassNames"], mapping.text_at("name")
    listed = at.items()
    if at.exists and not 1 <= len(listed) <= _MOST_CLASSES:
        yield refuse(at, _CHECK, f"Invalid value: has {len(listed)} items, must have from 1 to {_MOST_CLASSES}")
    counter = mapping["sources"][0]["counter"].text_at("name")
    own: dict[str, Cursor] = {}
    for name in listed:
        if name.text() is None:
            continue
        yield from _key(name)
        yield from _first(name, own)
        known = owners.get(name.text() or "")
        if known is None:
            owners[name.text() or ""] = resource, name, {counter} - {""}
        elif known[0] != resource and (not counter or not known[2] or counter in known[2]):
            text = f"Invalid value: {show(name.data)}: already belongs to {known[0]}"
            yield refuse(name, _CHECK, text, related=(known[1].route,))
        elif known[0] != resource:
            known[2].add(counter)


def _sources(at: Cursor, target: Target) -> Iterator[Failure]:
    used = set()
    for source in at.items():
        given = [field for field in _GATES if source[field].exists]
        if len(given) != 1:
            yield refuse(source, _CHECK, "Invalid value: exactly one of counter and capacity must be set")
            continue
        field = given[0]
        used.add(field)
        if not target.has_gate(_GATES[field]):
            text = f"Invalid value: {field} sources need the feature gate {_GATES[field]}"
            yield refuse(source[field], _CHECK, text, on_key=True)
            continue
        yield from _source_name(source[field]["name"], is_counter=field == "counter")
        yield from _driver(source[field]["driver"])
        expression = source[field]["deviceSelector"]["cel"]["expression"]
        if not expression.text():
            yield refuse(expression, _CHECK, "Required value: a source needs a CEL expression for its devices")
    if len(used) > 1:
        yield refuse(at, _CHECK, "Invalid value: counter and capacity sources cannot be combined in one mapping")


def _source_name(at: Cursor, is_counter: bool) -> Iterator[Failure]:
    text = at.text() or ""
    fault = (label_fault(text) if is_counter else _qualified_fault(text)) if text else None
    if fault:
        yield refuse(at, _CHECK, f"Invalid value: {show(text)}: {fault}")
    elif not text:
        yield refuse(at, _CHECK, "Required value: a source needs a name")


def _qualified_fault(text: str) -> str | None:
    """Return the fault of a capacity's name, an identifier with or without a driver's name and a slash before it."""
    domain, slash, name = text.rpartition("/")
    if slash and (not domain or subdomain_fault(domain.lower()) or len(domain) > _LONGEST_DRIVER):
        return "the part before '/' must be a DNS name of at most 63 characters"
    return None if _IDENTIFIER.fullmatch(name) else "must be a name of letters, digits and '_', at most 32 of them"


def _driver(at: Cursor) -> Iterator[Failure]:
    text = at.text() or ""
    if not text:
        yield refuse(at, _CHECK, "Required value: a source needs the driver of its devices")
    elif len(text) > _LONGEST_DRIVER:
        yield refuse(at, _CHECK, f"Invalid value: {show(text)}: must be no more than {_LONGEST_DRIVER} characters")
    elif fault := subdomain_fault(text):
        yield refuse(at, _CHECK, f"Invalid value: {show(text)}: {fault}")
