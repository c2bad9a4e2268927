"""Readers of one value of the settings each: what it becomes in the model, or `Unusual` where only the schema can tell."""

from __future__ import annotations

import re

from qcheck.cluster.policy import Release
from qcheck.cluster.quantity import amount, parse_quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = dict[str, object]
    Reader = Callable[[object], object]
    Table = dict[str, tuple[str, Reader]]
    """By key as it is written: its name in the model, and how its value is read."""

RELEASE = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]+)?")
PLAIN_PATTERN = r"[^\\[!#\s][^\\[!]*"
"""What is a pattern for certain; of others only pathspec can tell."""


class Unusual(Exception):
    """Something that the quick way does not know."""


def fields(data: object, table: Table) -> Fields:
    """Each key of a mapping under the name it has in the model. Raises `Unusual`."""
    if not isinstance(data, dict) or not data.keys() <= table.keys():
        raise Unusual
    return {table[key][0]: table[key][1](value) for key, value in data.items()}


def part(table: Table) -> Reader:
    return lambda value: fields(value, table)


def text(value: object) -> str:
    if not isinstance(value, str):
        raise Unusual
    return value


def strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise Unusual
    return tuple(text(v) for v in value)


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unusual
    return value


def one_of(*allowed: str | int) -> Reader:
    def read(value: object) -> object:
        if type(value) not in (str, int) or value not in allowed:
            raise Unusual
        return value

    return read


def number(least: int, most: int | None = None) -> Reader:
    def read(value: object) -> int:
        if type(value) is not int or value < least or (most is not None and value > most):
            raise Unusual
        return value

    return read


def release(value: object) -> Release:
    match = RELEASE.fullmatch(text(value))
    if match is None:
        raise Unusual
    return Release(int(match[1]), int(match[2]))


def path(value: object) -> str:
    if leaves_root(text(value)):
        raise Unusual
    return text(value)


def leaves_root(path: str) -> bool:
    """Whether a path of the settings leads out of their folder."""
    parts = path.replace("\\", "/").split("/")
    return path.startswith(("/", "~")) or ":" in parts[0] or ".." in parts


def paths(value: object) -> tuple[str, ...]:
    return tuple(path(v) for v in strings(value))


def patterns(value: object) -> tuple[str, ...]:
    if not all(re.fullmatch(PLAIN_PATTERN, path(v)) for v in strings(value)):
        raise Unusual
    return strings(value)


def amounts(value: object) -> dict[str, int]:
    """Quantities by resource, in base units. Raises `Unusual` or `QuantityError`."""
    written = mapping(value)
    if not all(isinstance(v, (str, int)) for v in written.values()):
        raise Unusual
    return {resource: amount(resource, parse_quantity(v)) for resource, v in written.items()}


def mapping(value: object) -> Fields:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Unusual
    return value


def items(value: object) -> list[object]:
    if not isinstance(value, list):
        raise Unusual
    return value


def texts(value: object) -> dict[str, str]:
    return {name: text(v) for name, v in mapping(value).items()}


def params(value: object) -> dict[str, dict[str, object]]:
    return {rule: {name: _param(v) for name, v in mapping(told).items()} for rule, told in mapping(value).items()}


def _param(value: object) -> object:
    if type(value) not in (str, int):
        return list(strings(items(value)))
    return value


def severities(value: object) -> dict[str, object]:
    return {name: one_of("error", "warning", "note")(v) for name, v in mapping(value).items()}
