"""Reads a settings file into `Settings`, or raises an error that names each line and its correction."""

from __future__ import annotations

import os
import re
from functools import cache

from qcheck import DOCS
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.place import Place, follow
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.documents.text import NotText, Spot, Text, decode
from qcheck.settings import Settings, SettingsError
from qcheck.settings.build import settings_of
from qcheck.settings.without_pydantic import quick
from qcheck.sources.files import File

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

    from qcheck.settings.schema import SettingsPart

    Route = tuple[str | int, ...]
    Locate = Callable[[Route], str]
    """A function from a route in the settings to `file:line`."""

HINT = f"`qcheck schema config` prints the schema; {DOCS}/settings.md explains the keys."
LARGEST = 1_000_000
MOST_FAULTS = 100
"""The maximum number of faults listed for one file."""
FLOAT = re.compile(r"[+-]?(?=\d*[.eE])[\d.]+(?:[eE][+-]?\d+)?")
"""A number with a fraction or an exponent; the loader reads one such as 1.0 as an integer."""
TOML_SEPARATORS = str.maketrans(".[]\"'", "     ")
TOML_LINE = re.compile(r"at line (\d+)")
"""The position in an error of tomllib, which gives no line at the end of the file."""


def read_settings(path: str) -> Settings:
    """Return the settings in the file `path`. Raises `SettingsError`."""
    shown = os.path.relpath(path).replace(os.sep, "/")
    written, locate = _plain_data(shown, _text(path, shown))
    data = {} if written is None else written
    root = os.path.dirname(shown) or "."
    return settings_of(quick(data) or _by_schema(data, locate), shown, root)


def line_of(path: str, route: Route) -> str:
    """Return `file:line` of the value at a route of the settings file `path`. Raises `SettingsError`."""
    return _plain_data(path, _text(path, path))[1](route)


def place_of(path: str, route: Route) -> Place:
    """Return the key or item at a route of the settings file `path`, as a place for findings.

    Raises `SettingsError`.
    """
    text = _text(path, path)
    if not path.endswith(".toml"):
        place = Place(load(text, path).documents[0], route)
        return place if isinstance(route[-1], int) else place.key()
    line = _toml_line(text, route)
    start = sum(len(each) for each in text.splitlines(keepends=True)[: line - 1])
    return Place(Spot(Text(path, text), start, start + len(text.splitlines()[line - 1])))


def _by_schema(data: object, locate: Locate) -> SettingsPart:
    """Validate with pydantic, which is slower but explains every fault."""
    from pydantic import ValidationError  # 20 ms

    from qcheck.settings.schema import SettingsPart  # with pydantic, 80 ms

    try:
        return SettingsPart.model_validate(data)
    except ValidationError as error:
        raise SettingsError(_explained(error.errors(), data, locate), HINT) from None


def _text(path: str, shown: str) -> str:
    try:
        raw = File(shown, path).read(LARGEST)
    except OSError as error:
        raise SettingsError([f"{shown}: {error.strerror or error}"], "Name another file with --config.") from None
    if len(raw) > LARGEST:
        raise SettingsError([f"{shown}:1: larger than {LARGEST:,} bytes, which is too large for a settings file"])
    try:
        return decode(raw)
    except NotText as error:
        line = raw.count(b"\n", 0, error.offset) + 1
        raise SettingsError([f"{shown}:{line}: {error}"]) from None


def _plain_data(shown: str, text: str) -> tuple[object, Locate]:
    return _toml(shown, text) if shown.endswith(".toml") else _yaml(shown, text)


def _yaml(shown: str, text: str) -> tuple[object, Locate]:
    loaded = load(text, shown)
    if loaded.faults:
        raise SettingsError([f"{f.spot.path}:{f.spot.span()[0]}: {f.message}" for f in loaded.faults], HINT)
    if len(loaded.documents) > 1:
        second = loaded.documents[1].span(())[0]
        raise SettingsError([f"{shown}:{second}: a second document; settings must be one document"], HINT)
    if not loaded.documents:
        return None, lambda _: shown
    document = loaded.documents[0]
    line, start, _, end = document.span(("version",))
    written = document.line(line)[start - 1 : end - 1] if document.has(("version",)) else ""
    if FLOAT.fullmatch(written) and follow(document.data, ("version",)) == 1:
        raise SettingsError([f"{shown}:{line}: version: should be 1, not {written}"], HINT)
    return document.data, lambda route: f"{shown}:{document.span(route, on_key=True)[0]}"


def _toml(shown: str, text: str) -> tuple[object, Locate]:
    import tomllib  # 4 ms

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = TOML_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise SettingsError([f"{shown}:{line}: {error}"]) from None
    except RecursionError:
        raise SettingsError([f"{shown}:1: nested too deep"]) from None
    tool = data.get("tool")
    table = tool.get("qcheck") if isinstance(tool, dict) else None
    return table, lambda route: f"{shown}:{_toml_line(text, route)}"


def _toml_line(text: str, route: Route) -> int:
    """Search for the line with most of the keys of `route` below `tool.qcheck`, because tomllib has no positions."""
    wanted = ["tool", "qcheck", *(key for step in route if isinstance(step, str) for key in _toml_keys(step))]
    table: list[str] = []
    found, longest = 1, 0
    for number, line in enumerate(text.splitlines(), 1):
        keys = _toml_keys(line.partition("=")[0])
        is_table = line.lstrip().startswith("[")
        path = keys if is_table else table + keys
        table = keys if is_table else table
        if len(path) > longest and path == wanted[: len(path)]:
            found, longest = number, len(path)
    return found


def _toml_keys(text: str) -> list[str]:
    """Return the parts of a key or of a table's name."""
    return text.translate(TOML_SEPARATORS).split()


def _explained(errors: list[ErrorDetails], data: object, locate: Locate) -> list[str]:
    """Return one line per place; if a value may have several types, their requirements are joined."""
    messages: dict[tuple[str, str], list[str]] = {}
    for error in errors[:MOST_FAULTS]:
        key, _, empty = error["msg"].removeprefix("Value error, ").partition(" must not be empty;")
        route = _written((*error["loc"], key) if empty else error["loc"], data)
        place = messages.setdefault((locate(route), _dotted(route)), [])
        text = f"must not be empty;{empty}" if empty else _message(error, route)
        if text not in place:
            place.append(text)
    faults = [f"{line}: {name}{' or '.join(texts)}" for (line, name), texts in messages.items()]
    return [*faults, *(f"{locate(_written(e['loc'], data))}: {left_out(errors)}" for e in errors[MOST_FAULTS:][:1])]


def left_out(errors: Sequence[object]) -> str:
    """Return a text about the faults of a file that are not listed, for the place of the first of them."""
    return f"{len(errors) - MOST_FAULTS:,} more faults in this file, from here on, are not listed"


def _written(location: Route, data: object) -> Route:
    """Return the part of a location that is in the file, without what pydantic adds (the type it tried)."""
    route: Route = ()
    for step in location:
        try:
            data = data[step]  # type: ignore[index]
        except (LookupError, TypeError):
            continue
        route = (*route, step)
    return route


def _dotted(route: Route) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step.strip() or repr(step)}" for step in route)
    text = text.lstrip(".")
    return f"{text}: " if text else ""


def _message(error: ErrorDetails, route: Route) -> str:
    match error["type"]:
        case "extra_forbidden":
            return f"unknown key{_nearest(route)}"
        case "missing":
            return f"{error['loc'][-1]!r} is required"
        case "value_error":
            return str(error["ctx"]["error"])
        case "string_type" if isinstance(error["input"], (int, float)) and route[-1:] in (("kueue",), ("version",)):
            return "write the release in quotes: YAML reads 0.20 as the number 0.2"
        case "string_pattern_mismatch" if route[-1:] == ("kueue",):
            return f'{error["input"]!r} is not a release of Kueue; write it as in "0.19"'
        case "string_pattern_mismatch" if route[-1:] == ("version",):
            return f'{error["input"]!r} is not a release; write it as in "0.17"'
        case "model_type" | "dict_type":
            return "must be a mapping" + _given(error["input"])
        case "list_type" | "tuple_type":
            return "must be a list" + _given(error["input"])
    return error["msg"].replace("Input should be", "should be") + _given(error["input"])


def _given(value: object) -> str:
    if value is None:
        return ", not null"
    if isinstance(value, bool):
        return f", not {str(value).lower()}"
    return f", not {value!r}" if isinstance(value, (str, int, float)) else ""


def _nearest(route: Route) -> str:
    from qcheck.settings.schema import SettingsPart  # with pydantic, 80 ms

    known = keys_at(SettingsPart, route[:-1])
    near = nearest(str(route[-1]), known)
    return f"; did you mean {near!r}?" if near else f"; known here: {', '.join(known)}"


@cache
def _json_schema(form: type[BaseModel]) -> dict[str, Any]:
    return form.model_json_schema()


def keys_at(form: type[BaseModel], route: Route) -> list[str]:
    """Return the keys that are allowed at `route` of a model, from its JSON Schema."""
    schema: Any = _json_schema(form)
    definitions = schema.get("$defs", {})
    part = schema
    for step in route:
        part = (
            part.get("items")
            if isinstance(step, int)
            else part.get("properties", {}).get(step, part.get("additionalProperties"))
        )
        part = next((p for p in part.get("anyOf", ()) if "items" in p or "$ref" in p), part)
        if "$ref" in part:
            part = definitions[part["$ref"].rsplit("/", 1)[-1]]
    return sorted(part.get("properties", {}))
