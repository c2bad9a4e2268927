"""The meaning of plain scalars to the API server.

It reads manifests with sigs.k8s.io/yaml, that is go-yaml v2: YAML 1.1 without base 60 and without dates, with Go's
number syntax. PyYAML's and ruamel's own resolvers differ (`y`, `0o12`, `089`, `1:30`, `1e3`, `2001-01-01`), so this
follows go-yaml's `resolve.go`; the tests compare it with a table of that library's results.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    Scalar = str | int | float | bool | None

WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
NOT_JSON = frozenset(f"{sign}.{word}" for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")) | {
    ".nan",
    ".NaN",
    ".NAN",
}
MAYBE = frozenset("0123456789+-.yYnNtTfFoO~")
"""First characters of every scalar that may be something other than a string."""

IN_NUMBERS = frozenset("0123456789abcdefABCDEFxXoO+-._")
"""All characters that numbers can contain."""
INTEGER = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|0[bB]([01]+)|(0|[1-9][0-9]*))\Z"
FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"
POINT_FLOAT = r"\.[0-9][0-9_]*(?:[eE][-+]?[0-9_]+)?\Z"
SAFE_DIGITS = 19
"""The number of digits of 2**63; numbers with fewer digits fit in 64 bits."""
LONGEST = 400
"""The longest text, in characters, that is tried as a number; longer ones overflow, apart from absurd cases."""


class Unreadable(ValueError):
    """A scalar that the API server's reader rejects; the text gives the reason."""


def resolve(text: str) -> Scalar:
    """Return the value of an untagged plain scalar.

    Raises `Unreadable` for infinities and NaN, which JSON cannot express.
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] not in MAYBE:
        return text
    if text in NOT_JSON:
        raise Unreadable(f"{text} is not a number that JSON allows")
    if len(text) > LONGEST:
        return text
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    if not IN_NUMBERS.issuperset(text):
        return None
    if text.isdecimal() and text[0] != "0" and len(text) < SAFE_DIGITS:
        return int(text)
    if text[0] == ".":
        return _float(text.replace("_", "")) if re.match(POINT_FLOAT, text) else None
    digits = text.replace("_", "")
    if match := re.match(INTEGER, digits):
        value = _integer(*match.groups())
        if -(2**63) <= value < 2**64:
            return value
    return _float(digits) if re.match(FLOAT, digits) else None


def _integer(sign: str, hexadecimal: str | None, octal: str | None, binary: str | None, decimal: str | None) -> int:
    for digits, base in ((decimal, 10), (hexadecimal, 16), (octal, 8), (binary, 2)):
        if digits:
            return -int(digits, base) if sign == "-" else int(digits, base)
    return 0


def _float(text: str) -> int | float | None:
    """Return a float, or the integer of its JSON spelling if it has no fraction (Go writes 1e3 as 1000)."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        return None
    return int(show_number(value)) if value.is_integer() and abs(value) < 1e21 else value


def tagged(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with an explicit tag. Raises `Unreadable` if text and tag disagree."""
    kind = tag.removeprefix("tag:yaml.org,2002:")
    if kind == "binary":
        return _binary(text)
    if kind not in ("bool", "int", "float", "null"):
        return text
    value = resolve(text)
    wanted = {"bool": (bool,), "int": (int,), "float": (int, float), "null": (type(None),)}[kind]
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "bool"):
        raise Unreadable(f"{text!r} cannot be read as !!{kind}")
    return value


def _binary(text: str) -> str:
    import base64  # 0.6 ms
    import binascii  # part of it

    try:
        return base64.b64decode("".join(text.splitlines()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise Unreadable("!!binary holds no base64") from None


def key(value: Scalar) -> str:
    """Return a scalar as the key of a JSON object. Raises `Unreadable` for null."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        raise Unreadable("null cannot be a key")
    return show_number(value)


def show_number(value: float) -> str:
    """Return a number as Go spells it in JSON: 0.1, 1e+21, 1e-7."""
    if isinstance(value, int):
        return str(value)
    if 1e-6 <= abs(value) < 1e21:
        from decimal import Decimal  # 1.0 ms

        return format(Decimal(repr(value)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent):+d}" if exponent else "0"
