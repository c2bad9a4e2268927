"""Fast reading of typical, valid settings without pydantic, whose import takes longer than a small check.

`keys.json` lists the keys and their allowed values; it is generated from the models in `schema.py`, which handle and
explain everything unusual. Measured: 150 ms of CPU for pydantic and the models, 3 ms for this.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from types import SimpleNamespace

from qcheck.settings import validators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Kind = dict[str, Any]
    """The type of a value, as `key_table.py` describes it."""

KEYS = os.path.join(os.path.dirname(__file__), "keys.json")
TYPES = {"str": str, "int": int, "float": float, "bool": bool, "null": type(None)}


class Unusual(Exception):
    """A value that only the models can judge."""


def quick(data: object) -> Any:
    """Return plain data as an object with the attributes of `SettingsPart`; None if only the models can decide."""
    try:
        return _part("SettingsPart", data)
    except (Unusual, ValueError):
        return None


@cache
def _parts() -> dict[str, Kind]:
    with open(KEYS, encoding="utf-8") as file:
        parts: dict[str, Kind] = json.load(file)
    return parts


def _part(name: str, data: object) -> SimpleNamespace:
    described = _parts()[name]
    keys: dict[str, Kind] = described["keys"]
    if not isinstance(data, dict) or not data.keys() <= keys.keys():
        raise Unusual
    part = SimpleNamespace(model_fields_set={keys[key]["name"] for key in data})
    for key, kind in keys.items():
        if key not in data and "default" not in kind:
            raise Unusual
        setattr(part, kind["name"], _value(kind, data.get(key, kind.get("default"))))
    _checked(described, part)
    return part


def _value(kind: Kind, value: object) -> Any:
    if "any" in kind:
        return _first(kind["any"], value)
    if "part" in kind:
        return _part(kind["part"], value)
    return _checked(kind, _plain(kind, value))


def _plain(kind: Kind, value: object) -> object:
    if "list" in kind and isinstance(value, list):
        return [_value(kind["list"], item) for item in value]
    if "map" in kind and isinstance(value, dict):
        return {_value(kind["key"], key): _value(kind["map"], item) for key, item in value.items()}
    if not _fits(kind, value):
        raise Unusual
    return value


def _first(kinds: list[Kind], value: object) -> Any:
    """Return the value as the first of several kinds that accepts it."""
    for kind in kinds:
        try:
            return _value(kind, value)
        except Unusual:
            continue
    raise Unusual


def _fits(kind: Kind, value: object) -> bool:
    if "in" in kind:
        return type(value) in (str, int) and value in kind["in"]
    if isinstance(value, str) and "pattern" in kind and re.fullmatch(kind["pattern"], value) is None:
        return False
    if isinstance(value, int) and not kind.get("ge", value) <= value <= kind.get("le", value):
        return False
    return type(value) is TYPES.get(kind.get("is", ""))


def _checked(described: Kind, value: Any) -> Any:
    for name in described.get("checks", ()):
        value = getattr(validators, name)(value)
    return value
