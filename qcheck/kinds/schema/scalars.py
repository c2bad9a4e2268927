"""Checks of single values, in the API server's words."""

from __future__ import annotations

import re

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.kinds.schema.failure import QUOTE, Failure, show, type_name
from qcheck.kinds.schema.formats import DURATION, FORMATS, near_name
from qcheck.kinds.schema.node import INT_RANGE, SchemaNode, VersionScope

__all__ = ["check", "show"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Check = Callable[[object], "list[Failure] | None"]


def check(node: SchemaNode, scope: VersionScope) -> Check:
    """Return the check of a scalar node."""
    match node.kind:
        case "string":
            return _string(node)
        case "int32" | "int64":
            return _integer(node)
        case "bool":
            return _typed(node, bool, "boolean")
        case "quantity":
            return _quantity(node, scope.is_builtin)
        case "int-or-string":
            return _either(node)
        case "time":
            return _typed(node, str, "string")
        case "number":
            return _number(node)
        case "duration":
            return _duration(node)
    return lambda value: None  # noqa: ARG005  (whatever it is)


def _typed(node: SchemaNode, wanted: type, name: str) -> Check:
    def check(value: object) -> list[Failure] | None:
        return None if type(value) is wanted else [_wrong_type(node, name, value)]

    return check


def _string(node: SchemaNode) -> Check:
    shortest, longest = node.length
    pattern = FORMATS[node.format].matches if node.format else None
    values = frozenset(node.values)

    def check(value: object) -> list[Failure] | None:
        if type(value) is not str:
            return [_wrong_type(node, "string", value)]
        if values and value not in values:
            return [_unsupported(node, value)]
        if longest is not None and len(value) > longest:
            return [_failure(node, f"Too long: has {len(value)} characters, may not be more than {longest}")]
        if len(value) < shortest:
            return [_failure(node, f"Invalid value: {show(value)}: must have at least {shortest} character")]
        if pattern and not pattern(value):
            return [_malformed(node, value)]
        return None

    return check


def _integer(node: SchemaNode) -> Check:
    low, high = INT_RANGE[node.kind]
    low = low if node.minimum is None else node.minimum
    high = high if node.maximum is None else node.maximum

    def check(value: object) -> list[Failure] | None:
        if type(value) is not int:
            return [_wrong_type(node, "integer", value)]
        if value < low:
            return [_failure(node, f"Invalid value: {value}: should be greater than or equal to {low}")]
        if value > high:
            return [_failure(node, f"Invalid value: {value}: should be less than or equal to {high}")]
        return None

    return check


def _quantity(node: SchemaNode, is_builtin: bool) -> Check:
    def check(value: object) -> list[Failure] | None:
        if type(value) is int and abs(value) < 2**63:
            return None
        if type(value) is bool or (type(value) is float and not is_builtin) or isinstance(value, (dict, list)):
            return [_wrong_type(node, "integer or string", value)]
        try:
            parse_quantity(value)
        except QuantityError as error:
            return [_failure(node, f"Invalid value: {show(value)}: {error}")]
        return None

    return check


def _number(node: SchemaNode) -> Check:
    def check(value: object) -> list[Failure] | None:
        return None if type(value) in (int, float) else [_wrong_type(node, "number", value)]

    return check


def _duration(node: SchemaNode) -> Check:
    """Return the check of a Go duration that is not negative: 5m, 1h30m, 0s."""

    def check(value: object) -> list[Failure] | None:
        if type(value) is not str:
            return [_wrong_type(node, "string", value)]
        if not re.fullmatch(DURATION, value):
            return [_failure(node, f"Invalid value: {show(value)}: is not a duration such as 30m or 1h30m")]
        if value.startswith("-") and value.strip("-0.nuµmsh"):
            return [_failure(node, f"Invalid value: {show(value)}: must be greater than or equal to 0")]
        return None

    return check


def _either(node: SchemaNode) -> Check:
    def check(value: object) -> list[Failure] | None:
        return None if type(value) in (int, str) else [_wrong_type(node, "integer or string", value)]

    return check


def _failure(node: SchemaNode, text: str, fix: str = "", near: str | None = None) -> Failure:
    return Failure(node.check or "schema", text, fix=fix, near=near)


def _wrong_type(node: SchemaNode, wanted: str, value: object) -> Failure:
    fix = ""
    if wanted == "string" and isinstance(value, (bool, int, float)):
        fix = f'{QUOTE}"{show(value)}"'
    elif wanted in ("integer", "boolean") and isinstance(value, str):
        fix = "write it without quotes" if value.lstrip("-").isdigit() or value in ("true", "false") else ""
    elif wanted == "integer or string" and isinstance(value, float):
        fix = f'{QUOTE}"{show(value)}"'
    return _failure(node, f"Invalid value: {show(value)}: must be of type {wanted}, not {type_name(value)}", fix)


def _unsupported(node: SchemaNode, value: str) -> Failure:
    near = nearest(value, node.values)
    shown = ", ".join(show(v) for v in node.values)
    fix = f"write {near}" if near else ""
    return _failure(node, f"Unsupported value: {show(value)}: supported values: {shown}", fix, near)


def _malformed(node: SchemaNode, value: str) -> Failure:
    near = near_name(value) if node.format in ("dns", "dns-label") else None
    fix = f"write {near}" if near else ""
    return _failure(node, f"Invalid value: {show(value)}: {FORMATS[node.format].says}", fix, near)
