"""The models of `schema.py` as plain data, for reading settings without pydantic; `make docs` writes `keys.json`."""

from __future__ import annotations

import json
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from qcheck.settings.schema import SettingsModel, SettingsPart

NAMES = {str: "str", int: "int", float: "float", bool: "bool", NoneType: "null"}


def described() -> str:
    """Return the text of `keys.json`: for each model, its checks, its keys and their allowed values."""
    parts: dict[str, Any] = {}
    _describe(SettingsPart, parts)
    return "{" + ",\n".join(f"{json.dumps(name)}: {_written(part)}" for name, part in parts.items()) + "}\n"


def _written(part: dict[str, Any]) -> str:
    keys = ",\n".join(f"  {json.dumps(key)}: {json.dumps(kind)}" for key, kind in part["keys"].items())
    return f'{{"checks": {json.dumps(part["checks"])}, "keys": {{\n{keys}}}}}'


def _describe(model: type[SettingsModel], parts: dict[str, Any]) -> None:
    if model.__name__ in parts:
        return
    part = parts[model.__name__] = {"keys": {}, "checks": [check.__name__ for check in model.together]}
    part["keys"] = {field.alias: _key(name, field, parts) for name, field in model.model_fields.items()}


def _key(name: str, field: FieldInfo, parts: dict[str, Any]) -> dict[str, Any]:
    kind = {"name": name, **_bounded(_kind(field.annotation, parts), field.metadata)}
    if not field.is_required():
        default = field.default
        kind["default"] = {} if isinstance(default, BaseModel) else default
    return kind


def _kind(annotation: Any, parts: dict[str, Any]) -> dict[str, Any]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(_kind(inner[0], parts), inner[1:])
    if origin in (Union, UnionType):
        return {"any": [_kind(each, parts) for each in inner]}
    if origin is Literal:
        return {"in": list(inner)}
    if origin is list:
        return {"list": _kind(inner[0], parts)}
    if origin is dict:
        return {"key": _kind(inner[0], parts), "map": _kind(inner[1], parts)}
    if isinstance(annotation, type) and issubclass(annotation, SettingsModel):
        _describe(annotation, parts)
        return {"part": annotation.__name__}
    return {"is": NAMES[annotation]}


def _bounded(kind: dict[str, Any], metadata: Any) -> dict[str, Any]:
    """Add the bounds and checks of annotations to a kind; they apply to each of several kinds."""
    for each in metadata:
        if isinstance(each, FieldInfo):
            kind = _bounded(kind, each.metadata)
        elif isinstance(each, AfterValidator):
            kind = _with_check(kind, each.func.__name__)
        else:
            kind |= {name: getattr(each, name) for name in ("ge", "le", "pattern") if hasattr(each, name)}
    return kind


def _with_check(kind: dict[str, Any], name: str) -> dict[str, Any]:
    if "any" in kind:
        return {"any": [_with_check(each, name) for each in kind["any"]]}
    return kind | {"checks": [*kind.get("checks", ()), name]}
