"""Frozen values: what the model is made of.

A subclass of `Value` declares its fields as annotations, like a dataclass with `frozen=True, slots=True`; type checkers
see it as one (PEP 681). It is written out here because importing `dataclasses` and generating some eighty classes would
double the start-up of `qcheck check` on a small repository (see `make bench`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar, dataclass_transform

    V = TypeVar("V", bound="Value")
else:

    def dataclass_transform(**_: object):
        return lambda cls: cls


def _write_init(self: Value, *given: object, **named: object) -> None:
    """Stands in for `__init__` until a class is first used: writes the real one and calls it.

    Written out field by field it is several times faster than a loop, and classes that a run does not use cost nothing.
    """
    cls = type(self)
    parameters = [f"{f}=defaults[{f!r}]" if f in cls.__defaults__ else f for f in cls.__fields__]
    lines = [
        f"def __init__(self, {', '.join(parameters)}):",
        *(f"    put(self, {f!r}, {f})" for f in cls.__fields__),
        "    pass",
    ]
    scope: dict[str, Any] = {"put": object.__setattr__, "defaults": cls.__defaults__}
    exec("\n".join(lines), scope)  # names of fields only, which are ours
    type.__setattr__(cls, "__init__", scope["__init__"])
    scope["__init__"](self, *given, **named)


@dataclass_transform(frozen_default=True)
class ValueType(type):
    """Turns the annotations of a class body into slots, in order; class attributes become defaults.

    `class Cluster(Value, cached=True)` additionally gets a `__dict__`, so that `functools.cached_property` works.
    """

    if TYPE_CHECKING:
        __fields__: tuple[str, ...]
        __defaults__: dict[str, Any]

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], cached: bool = False) -> ValueType:
        inherited: tuple[str, ...] = ()
        defaults: dict[str, Any] = {}
        for base in bases:
            inherited += tuple(f for f in getattr(base, "__fields__", ()) if f not in inherited)
            defaults.update(getattr(base, "__defaults__", {}))
        own = tuple(f for f in body.get("__annotations__", {}) if not f.startswith("__") and f not in inherited)
        for field in (*inherited, *own):
            if field in body:
                defaults[field] = body.pop(field)
        body["__slots__"] = (*own, "__dict__") if cached else own
        if not TYPE_CHECKING:
            body["__init__"] = _write_init
        body["__fields__"] = inherited + own
        body["__defaults__"] = defaults
        return super().__new__(mcs, name, bases, body)


class Value(metaclass=ValueType):
    """An immutable record compared by its fields.

    Raises `TypeError` for a missing, repeated or unknown field, `AttributeError` on assignment.
    """

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(a == b for a, b in zip(_values(self), _values(other), strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *_values(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{f}={v!r}" for f, v in zip(type(self).__fields__, _values(self), strict=True))
        return f"{type(self).__name__}({shown})"


def _values(value: Value) -> Iterator[Any]:
    return (getattr(value, field) for field in type(value).__fields__)


def replace(value: V, **changes: object) -> V:
    """A copy of `value` with some fields changed."""
    fields = {field: getattr(value, field) for field in type(value).__fields__}
    return type(value)(**{**fields, **changes})
