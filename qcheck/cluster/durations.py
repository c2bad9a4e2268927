"""Go's notation of a length of time, exactly."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6), "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600),
}  # fmt: skip
_PART = r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_WHOLE = re.compile(rf"([+-]?)((?:{_PART})+|0)", re.ASCII)


def go_seconds(text: str) -> Fraction | None:
    """Return the seconds that Go's `time.ParseDuration` reads; None for what it refuses, such as a bare number."""
    found = _WHOLE.fullmatch(text)
    if found is None:
        return None
    total = sum((Fraction(amount) * _UNITS[unit] for amount, unit in re.findall(_PART, found[2])), Fraction(0))
    return -total if found[1] == "-" else total
