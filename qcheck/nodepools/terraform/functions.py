"""Terraform's pure functions. Source: the function reference of the Terraform language."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from math import ceil, floor

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.nodepools.terraform.effort import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from qcheck.nodepools.terraform.evaluated import Evaluated

MOST = 1024
"""The maximum length of a list that a function generates."""
NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
LONGEST_NUMBER = 1000


class Failed(Unresolved):
    """An expression that Terraform would reject, such as a missing key, and that `try` skips."""

    __slots__ = ()


class Fails(Exception):
    """The arguments do not fit the function or template."""


def call(name: str, given: list[Evaluated], written: str) -> Evaluated:
    """Return the value of a call; `Unresolved` for unknown functions and unknown arguments."""
    if name in LENIENT:
        return LENIENT[name](given, written)
    if name not in STRICT:
        return Unresolved(written)
    unknown = next((u for g in given if (u := _unknown(g)) is not None), None)
    if unknown is not None:
        return unknown
    try:
        return STRICT[name](*given)
    except (Fails, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, StopIteration):
        return Failed(written)


def _unknown(value: Evaluated) -> Unresolved | None:
    """Return the value if it is unknown as a whole, else None; parts of lists and maps may be unknown."""
    return value if isinstance(value, Unresolved) else None


def text_of(value: Evaluated) -> str:
    """Return a value as text. Raises `Fails` for lists and maps."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, dict, Unresolved)) or value is None:
        raise Fails
    return str(value)


def joined(texts: Iterable[str], between: str = "") -> str:
    """Return the joined parts. Raises `Fails` before the text grows too long."""
    parts: list[str] = []
    left = LARGEST
    for text in texts:
        left -= len(text) + len(between)
        if left < 0:
            raise Fails
        parts.append(text)
    return between.join(parts)


def number_of(value: Evaluated) -> int | Fraction:
    """Return a number, or the number in a text. Raises `Fails` for anything else and for excessive numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction, str)):
        raise Fails
    if isinstance(value, str) and (len(value) > LONGEST_NUMBER or not NUMBER.fullmatch(value)):
        raise Fails
    return whole(Fraction(value))


def whole(value: Fraction) -> int | Fraction:
    return int(value) if value.denominator == 1 else value


def _merge(given: list[Evaluated], written: str) -> Evaluated:
    merged: dict[str, Evaluated] = {}
    for each in given:
        if isinstance(each, Unresolved):
            return each
        if isinstance(each, dict):
            merged |= each
        elif each is not None:
            return Failed(written)
    return merged


def _try(given: list[Evaluated], written: str) -> Evaluated:
    return next((g for g in given if not isinstance(g, Failed)), Failed(written))


def _coalesce(given: list[Evaluated], written: str) -> Evaluated:
    return next((g for g in given if g not in (None, "")), Failed(written))


def _lookup(given: list[Evaluated], written: str) -> Evaluated:
    match given:
        case [Unresolved() as unknown, *_] | [_, Unresolved() as unknown, *_]:
            return unknown
        case [dict() as table, str() as key, *rest]:
            return table[key] if key in table else rest[0] if rest else Failed(written)
    return Failed(written)


def _length(given: list[Evaluated], written: str) -> Evaluated:
    match given:
        case [(list() | dict() | str()) as value]:
            return len(value)
        case [Unresolved() as unknown]:
            return unknown
    return Failed(written)


def _list(value: Evaluated) -> list[Evaluated]:
    if not isinstance(value, list):
        raise Fails
    return value


def _map(value: Evaluated) -> dict[str, Evaluated]:
    if not isinstance(value, dict):
        raise Fails
    return value


def distinct(values: list[Evaluated]) -> list[Evaluated]:
    kept: dict[Hashable, Evaluated] = {}
    for each in values:
        kept.setdefault(_key(each), each)
    return list(kept.values())


def _key(value: Evaluated) -> Hashable:
    """Return a key that is the same for equal values only."""
    if isinstance(value, list):
        return ("list", *map(_key, value))
    if isinstance(value, dict):
        return ("map", *sorted((key, _key(inner)) for key, inner in value.items()))
    return type(value).__name__, value


def _to_set(value: Evaluated) -> Evaluated:
    values = distinct(_list(value))
    return sorted(values, key=text_of) if all(isinstance(v, str) for v in values) else values


def _flatten(value: Evaluated) -> Evaluated:
    flat: list[Evaluated] = []
    ahead = _list(value)[::-1]
    for _ in range(LARGEST):
        if not ahead:
            return flat
        each = ahead.pop()
        if isinstance(each, list):
            ahead += each[::-1]
        else:
            flat.append(each)
    raise Fails


def _format(pattern: Evaluated, *given: Evaluated) -> Evaluated:
    values = iter(given)

    def put(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = next(values, None)
        return f"{number_of(value):{match[1]}d}" if match[2] == "d" and match[1] else text_of(value)

    text, at, pieces = text_of(pattern), 0, []
    for match in re.finditer(r"%(0?\d{0,2})([sdv%])", text):
        pieces += [text[at : match.start()], put(match)]
        at = match.end()
    return joined([*pieces, text[at:]])


def _range(*bounds: Evaluated) -> Evaluated:
    numbers = range(*(int(number_of(b)) for b in bounds))
    if len(numbers) > MOST:
        raise Fails
    return list(numbers)


def _element(value: Evaluated, at: Evaluated) -> Evaluated:
    values = _list(value)
    return values[int(number_of(at)) % len(values)]


def _to_bool(value: Evaluated) -> Evaluated:
    return {"true": True, "false": False}[text_of(value)]


def _replace(value: Evaluated, old: Evaluated, new: Evaluated) -> Evaluated:
    if text_of(old).startswith("/"):
        raise Fails
    return joined(text_of(value).split(text_of(old)), text_of(new))


def _contains(values: Evaluated, wanted: Evaluated) -> Evaluated:
    return wanted in _list(values)


def _substr(value: Evaluated, start: Evaluated, length: Evaluated) -> Evaluated:
    begin, size = int(number_of(start)), int(number_of(length))
    return text_of(value)[begin:] if size < 0 else text_of(value)[begin : begin + size]


def _encoded(given: list[Evaluated], written: str) -> Evaluated:
    """Return the text of `jsonencode` or `yamlencode`; an unknown part makes it unknown."""
    if len(given) != 1:
        return Failed(written)
    gap = _gap(given[0])
    return joined([json.dumps(given[0], default=float)]) if gap is None else gap


def _gap(value: Evaluated) -> Unresolved | None:
    """Return the first unknown part of a value."""
    if isinstance(value, Unresolved):
        return value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((gap for part in parts if (gap := _gap(part)) is not None), None)


LENIENT: dict[str, Callable[[list[Evaluated], str], Evaluated]] = {
    "merge": _merge,
    "try": _try,
    "coalesce": _coalesce,
    "lookup": _lookup,
    "length": _length,
    "jsonencode": _encoded,
    "yamlencode": _encoded,
}
"""Functions that accept partly unknown arguments."""

STRICT: dict[str, Callable[..., Evaluated]] = {
    "abs": lambda v: abs(number_of(v)),
    "alltrue": lambda v: all(_list(v)),
    "anytrue": lambda v: any(_list(v)),
    "ceil": lambda v: ceil(number_of(v)),
    "coalescelist": lambda *v: next(x for x in v if x),
    "compact": lambda v: [x for x in _list(v) if x not in (None, "")],
    "concat": lambda *v: [x for each in v for x in _list(each)],
    "contains": _contains,
    "distinct": lambda v: distinct(_list(v)),
    "element": _element,
    "flatten": _flatten,
    "floor": lambda v: floor(number_of(v)),
    "format": _format,
    "join": lambda s, v: joined(map(text_of, _list(v)), text_of(s)),
    "keys": lambda v: [*sorted(_map(v))],
    "lower": lambda v: text_of(v).lower(),
    "max": lambda *v: max(number_of(x) for x in v),
    "min": lambda *v: min(number_of(x) for x in v),
    "nonsensitive": lambda v: v,
    "one": lambda v: (_list(v) or [None])[0],
    "range": _range,
    "replace": _replace,
    "reverse": lambda v: _list(v)[::-1],
    "sensitive": lambda v: v,
    "slice": lambda v, a, b: _list(v)[int(number_of(a)) : int(number_of(b))],
    "sort": lambda v: sorted(_list(v), key=text_of),
    "split": lambda s, v: [*text_of(v).split(text_of(s))],
    "substr": _substr,
    "sum": lambda v: sum(number_of(x) for x in _list(v)),
    "tobool": _to_bool,
    "tolist": _list,
    "tomap": _map,
    "tonumber": number_of,
    "toset": _to_set,
    "tostring": text_of,
    "trimprefix": lambda v, p: text_of(v).removeprefix(text_of(p)),
    "trimspace": lambda v: text_of(v).strip(),
    "trimsuffix": lambda v, p: text_of(v).removesuffix(text_of(p)),
    "upper": lambda v: text_of(v).upper(),
    "values": lambda v: [_map(v)[k] for k in sorted(_map(v))],
    "zipmap": lambda k, v: dict(zip((text_of(x) for x in _list(k)), _list(v), strict=True)),
}
