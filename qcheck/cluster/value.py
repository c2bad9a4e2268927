"""Frozen values: the base of all model classes.

A subclass of `Value` declares its fields as annotations, like a dataclass with `frozen=True`; type checkers treat it as
one (PEP 681). It is implemented here because importing `dataclasses` and generating about eighty classes would double
the start-up time of `qcheck check` on a small repository (see `make bench`). Values have a `__dict__` instead of slots,
which makes their classes and first instances cheaper: a small check takes 3 % less.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    V = TypeVar("V", bound="Value")
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
    if made == WRITTEN_AFTER:
        _write_methods(cls)
    fields, values = cls.__fields__, self.__dict__
    values.update(zip(fields, given))  # noqa: B905  (the numbers differ if fields are omitted)
    values.update(named)
    if len(values) != len(given) + len(named):
        raise TypeError(f"{cls.__name__} was given too many values, or a field twice")
    if len(values) < len(fields):
        values.update({**cls.__defaults__, **values})
    if len(values) != len(fields) or (named and not named.keys() <= {*fields}):
        unknown, missing = values.keys() - {*fields}, {*fields} - values.keys()
        raise TypeError(
            f"{cls.__name__} has no field {min(unknown)!r}" if unknown else f"{cls.__name__} needs {missing}"
        )


def _eq(self: Value, other: object) -> bool:
    if type(self) is not type(other):
        return False
    return all(getattr(self, field) == getattr(other, field) for field in type(self).__fields__)


def _hash(self: Value) -> int:
    return hash((type(self).__name__, *(getattr(self, field) for field in type(self).__fields__)))


def _with(self: V, changes: dict[str, object]) -> V:
    cls = type(self)
    for field in cls.__fields__:
        if field not in changes:
            changes[field] = getattr(self, field)
    return cls(**changes)


def _write_methods(cls: ValueType) -> None:
    """Generate methods that name each field instead of looping over them: several times faster."""
    fields = cls.__fields__
    parameters = [f"{f}=defaults[{f!r}]" if f in cls.__defaults__ else f for f in fields]
    same = " and ".join(["self.__class__ is other.__class__", *(f"self.{f} == other.{f}" for f in fields)])
    lines = [
        f"def __init__(self, {', '.join(parameters)}):",
        f"    self.__dict__.update({', '.join(f'{f}={f}' for f in fields)})",
        "def __eq__(self, other):",
        f"    return self is other or ({same})",
        "def __hash__(self):",
        f"    return hash(({', '.join([repr(cls.__name__), *(f'self.{f}' for f in fields)])},))",
        "def _with(self, changes):",
        "    made = new(self.__class__)",
        f"    made.__dict__.update({', '.join(f'{f}=changes.pop({f!r}) if {f!r} in changes else self.{f}' for f in fields)})",
        "    return looping(self, changes) if changes else made  # for its error: no field has such a name",
    ]
    scope: dict[str, Any] = {"defaults": cls.__defaults__, "new": object.__new__, "looping": _with}
    exec("\n".join(lines), scope)  # contains only the names of our own fields
    for name, general in LOOPING.items():
        if getattr(cls, name) is general:
            type.__setattr__(cls, name, scope[name])


LOOPING: dict[str, object] = {"__init__": _init, "__eq__": _eq, "__hash__": _hash, "_with": _with}


@dataclass_transform(frozen_default=True)
class ValueType(type):
    """Turns the annotations of a class body into fields, in order; class attributes become defaults."""

    if TYPE_CHECKING:
        __fields__: tuple[str, ...]
        __defaults__: dict[str, Any]

    def __new__(mcs, name: str, bases: tuple[ValueType, ...], body: dict[str, Any]) -> ValueType:
        inherited = bases[0].__fields__ if bases else ()
        defaults = dict(bases[0].__defaults__) if bases else {}
        fields = inherited + tuple([f for f in body.get("__annotations__", ()) if f not in inherited])
        for field in fields:
            if field in body:
                defaults[field] = body.pop(field)
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

    if TYPE_CHECKING:

        def _with(self: V, changes: dict[str, object]) -> V: ...
    else:
        __init__, __eq__, __hash__, _with = _init, _eq, _hash, _with

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __repr__(self) -> str:
        shown = ", ".join(f"{f}={getattr(self, f)!r}" for f in type(self).__fields__)
        return f"{type(self).__name__}({shown})"


def replace(value: V, **changes: object) -> V:
    """Return a copy of `value` with some fields changed."""
    return value._with(changes)
