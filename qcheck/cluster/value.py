"""Frozen values: the base of all model classes.

A subclass of `Value` declares its fields as annotations, like a dataclass with `frozen=True, slots=True`; type checkers
treat it as one (PEP 681). It is implemented here because importing `dataclasses` and generating about eighty classes
would double the start-up time of `qcheck check` on a small repository (see `make bench`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar, dataclass_transform

    V = TypeVar("V", bound="Value")
    Setter = Callable[[object, object], None]
else:

    def dataclass_transform(**_: object):
        return lambda cls: cls


WRITTEN_AFTER = 180
"""The number of instances from which generating methods for a class pays off."""
_instances: dict[type, int] = {}


def _init(self: Value, *given: object, **named: object) -> None:
    """The generic `__init__`, for classes with few instances: on a small repository, most classes."""
    cls = type(self)
    made = _instances[cls] = _instances.get(cls, 0) + 1
    if made == 1:
        cls.__setters__ = tuple([getattr(cls, field).__set__ for field in cls.__fields__])
    elif made == WRITTEN_AFTER:
        _write_methods(cls)
    setters, defaults = cls.__setters__, cls.__defaults__
    if len(given) > len(setters):
        raise TypeError(f"{cls.__name__} takes {len(setters)} fields, {len(given)} were given")
    rest = zip(cls.__fields__, setters, strict=True)
    for value, (_, put) in zip(given, rest, strict=False):  # `given` first: when it ends, no field is consumed
        put(self, value)
    for field, put in rest:
        if field in named:
            put(self, named.pop(field))
        elif field in defaults:
            put(self, defaults[field])
        else:
            raise TypeError(f"{cls.__name__} needs the field {field!r}")
    if named:
        raise TypeError(f"{cls.__name__} has no field {next(iter(named))!r}, or it was given twice")


def _eq(self: Value, other: object) -> bool:
    if type(self) is not type(other):
        return False
    return all(getattr(self, field) == getattr(other, field) for field in type(self).__fields__)


def _hash(self: Value) -> int:
    return hash((type(self).__name__, *(getattr(self, field) for field in type(self).__fields__)))


def _write_methods(cls: ValueType) -> None:
    """Generate methods that name each field instead of looping over them: several times faster."""
    fields = cls.__fields__
    parameters = [f"{f}=defaults[{f!r}]" if f in cls.__defaults__ else f for f in fields]
    same = " and ".join(["self.__class__ is other.__class__", *(f"self.{f} == other.{f}" for f in fields)])
    lines = [
        f"def __init__(self, {', '.join(parameters)}):",
        *(f"    put_{f}(self, {f})" for f in fields),
        "    pass",
        "def __eq__(self, other):",
        f"    return self is other or ({same})",
        "def __hash__(self):",
        f"    return hash(({', '.join([repr(cls.__name__), *(f'self.{f}' for f in fields)])},))",
    ]
    scope: dict[str, Any] = {"defaults": cls.__defaults__}
    scope.update((f"put_{f}", put) for f, put in zip(fields, cls.__setters__, strict=True))
    exec("\n".join(lines), scope)  # contains only the names of our own fields
    for name, general in LOOPING.items():
        if getattr(cls, name) is general:
            type.__setattr__(cls, name, scope[name])


LOOPING: dict[str, object] = {"__init__": _init, "__eq__": _eq, "__hash__": _hash}


@dataclass_transform(frozen_default=True)
class ValueType(type):
    """Turns the annotations of a class body into slots, in order; class attributes become defaults.

    `class Cluster(Value, cached=True)` additionally gets a `__dict__`, so that `functools.cached_property` works.
    """

    if TYPE_CHECKING:
        __fields__: tuple[str, ...]
        __defaults__: dict[str, Any]
        __setters__: tuple[Setter, ...]
        """Setters of the fields, which bypass the `__setattr__` that refuses changes."""

    def __new__(mcs, name: str, bases: tuple[ValueType, ...], body: dict[str, Any], cached: bool = False) -> ValueType:
        inherited = bases[0].__fields__ if bases else ()
        defaults = dict(bases[0].__defaults__) if bases else {}
        own = tuple([f for f in body.get("__annotations__", ()) if f not in inherited])
        fields = inherited + own
        for field in fields:
            if field in body:
                defaults[field] = body.pop(field)
        body["__slots__"] = (*own, "__dict__") if cached else own
        body["__fields__"] = fields
        body["__defaults__"] = defaults
        if inherited:  # not the methods generated for the parent class, which cover only its fields
            for method, general in LOOPING.items():
                body.setdefault(method, general)
        return super().__new__(mcs, name, bases, body)


class Value(metaclass=ValueType):
    """An immutable record compared by its fields.

    Raises `TypeError` for a missing, repeated or unknown field, `AttributeError` on assignment.
    """

    if not TYPE_CHECKING:
        __init__, __eq__, __hash__ = _init, _eq, _hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        shown = ", ".join(f"{f}={getattr(self, f)!r}" for f in type(self).__fields__)
        return f"{type(self).__name__}({shown})"


def replace(value: V, **changes: object) -> V:
    """Return a copy of `value` with some fields changed."""
    return type(value)(**{**{field: getattr(value, field) for field in type(value).__fields__}, **changes})
