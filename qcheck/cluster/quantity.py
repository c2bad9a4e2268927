"""Exact Kubernetes quantities.

A quantity is stored as a whole number of nano-units, the precision of the API server (finer values are rounded away
from zero). Source: k8s.io/apimachinery `pkg/api/resource`; a table of values in the tests checks it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from typing import Literal

    Family = Literal["decimal", "binary", "exponent"]

NANO = 10**9
MILLI = 1000
MIB = 2**20
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_GRAMMAR = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([eE])([+-]?\d+)|([A-Za-z]{0,2}))", re.ASCII)
_LONGEST = 64
_INT64_DIGITS = 19
_MOST_DIGITS = 400
BINARY_CAP = 2**63 - 1


class QuantityError(ValueError):
    """The text is not a quantity; the message states the fault and, if possible, the intended value."""


class Quantity(Value):
    """An exact amount in nano-units, with the `family` of its suffix and its original text."""

    nanos: int
    family: Family
    text: str

    @property
    def milli(self) -> int:
        """The amount in thousandths, rounded up, as Kueue and kube-scheduler count cpu."""
        return -(-self.nanos // 10**6)

    @property
    def units(self) -> int:
        """The amount in whole units, rounded up, as they count everything else (bytes, devices, pods)."""
        return -(-self.nanos // NANO)

    @property
    def is_whole(self) -> bool:
        return self.nanos % NANO == 0

    @property
    def canonical(self) -> str:
        """Return the canonical text to which the API server rewrites the quantity."""
        if self.family == "binary":
            return self._binary()
        sign, left = ("-", -self.nanos) if self.nanos < 0 else ("", self.nanos)
        if left == 0:
            return "0"
        power = -9
        while left % 1000 == 0 and power < 18:
            left, power = left // 1000, power + 3
        if self.family == "exponent":
            return f"{sign}{left}" + (f"e{power}" if power else "")
        suffix = next(s for s, p in _DECIMAL.items() if p == power)
        return f"{sign}{left}{suffix}"

    def _binary(self) -> str:
        if not self.is_whole:
            return Quantity(self.nanos, "decimal", self.text).canonical
        sign, left = ("-", -self.nanos // NANO) if self.nanos < 0 else ("", self.nanos // NANO)
        if left < 1024:
            return f"{sign}{left}"
        suffix = ""
        for name in _BINARY:
            if left % 1024:
                break
            left, suffix = left // 1024, name
        return f"{sign}{left}{suffix}"


def parse_quantity(value: object) -> Quantity:
    """Parse a scalar of a manifest as a quantity.

    Raises `QuantityError` for anything the API server rejects.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise QuantityError(f"{value!r} is not a quantity")
    return _parse(value if isinstance(value, str) else format_number(value))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    match = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(f"{text[:_LONGEST]!r} is not a quantity{_hint(text)}")
    sign, digits, exponent_mark, exponent, suffix = match.groups()
    whole, _, fraction = digits.partition(".")
    number = int(whole + fraction or "0")
    ten = 9 - len(fraction)
    two = 0
    family: Family
    if exponent_mark:
        family = "exponent"
        ten += int(exponent)
    elif suffix in _BINARY:
        family, two = "binary", _BINARY[suffix]
    elif suffix in _DECIMAL:
        family, ten = "decimal", ten + _DECIMAL[suffix]
    else:
        raise QuantityError(f"{text!r} is not a quantity{_hint(text)}")
    nanos = _scaled(number, ten, two)
    if family == "binary":
        nanos = min(nanos, BINARY_CAP * NANO)
    return Quantity(-nanos if sign == "-" else nanos, family, text)


def _scaled(number: int, ten: int, two: int) -> int:
    """Return `number x 10^ten x 2^two`, rounded up to an integer."""
    if number == 0:
        return 0
    if ten > _MOST_DIGITS:
        raise QuantityError("the exponent is out of range")
    if ten < -_MOST_DIGITS:
        return 1
    number <<= two
    return number * int(10**ten) if ten >= 0 else -(-number // int(10**-ten))


def format_number(value: int | float) -> str:
    """Return a YAML number as the text that the API server's JSON decoder passes to the quantity parser."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return str(value)


def _hint(text: str) -> str:
    suffix = text.lstrip("+-.0123456789 _,")
    meant = {
        "K": "k (1000) or Ki (1024)", "ki": "Ki", "mi": "Mi", "gi": "Gi", "ti": "Ti", "KB": "k or Ki", "MB": "M or Mi",
        "GB": "G or Gi", "TB": "T or Ti", "KiB": "Ki", "MiB": "Mi", "GiB": "Gi", "TiB": "Ti", "g": "G or Gi",
    }.get(suffix)  # fmt: skip
    if meant:
        return f"; write {meant} instead of {suffix}"
    return "; a quantity is a number with one of n u m k M G T P E Ki Mi Gi Ti Pi Ei, or an exponent such as 1e3"


def whole(text: str) -> int | None:
    """Return the number that the digits of a label, annotation or name denote; None otherwise and beyond int64."""
    return integer(text) if text[:1].isdigit() else None


def integer(text: str | None) -> int | None:
    """Parse like Go's `strconv.ParseInt(text, 10, 64)`: no spaces, no underscores, 64 bits. Return None on failure."""
    if text is None:
        return None
    digits = text[1:] if text.startswith(("+", "-")) else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    if len(digits) > _INT64_DIGITS:
        return None
    number = -int(digits) if text.startswith("-") else int(digits)
    return number if -(2**63) <= number < 2**63 else None


def amount(resource: str, quantity: Quantity) -> int:
    """Return a quantity in the base units of `resource`: milli-cpu for cpu, whole units rounded up for all others."""
    return quantity.milli if resource == "cpu" else quantity.units


def written_amount(resource: str, units: int, up: bool = False) -> str:
    """Return an amount in base units in manifest notation, in the largest unit that is exact.

    Memory of 1 MiB or more is given in whole MiB, rounded down, or up with `up`.
    """
    if resource == "cpu":
        return str(units // MILLI) if units % MILLI == 0 else f"{units}m"
    if resource not in ("memory", "ephemeral-storage", "storage") or units < MIB:
        return str(units)
    mebibytes = -(-units // MIB) if up else units // MIB
    for unit, size in (("Ti", 2**20), ("Gi", 2**10)):
        if mebibytes % size == 0:
            return f"{mebibytes // size}{unit}"
    return f"{mebibytes}Mi"
