"""Exact parsing of Go and Prometheus durations."""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6), "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600),
}  # fmt: skip
_MOST_NANOSECONDS = 2**63
_LONGEST = 400
"""The maximum length in characters. Longer durations count as invalid, because almost all of them exceed 64 bits."""
_PART = r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_WHOLE = re.compile(rf"([+-]?)((?:{_PART})+|0)", re.ASCII)


def go_seconds(text: str) -> Fraction | None:
    """Return the seconds of a duration as Go's `time.ParseDuration` reads it; None if invalid, like a bare number."""
    found = _WHOLE.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    total = sum((Fraction(amount) * _UNITS[unit] for amount, unit in re.findall(_PART, found[2])), Fraction(0))
    signed = -total if found[1] == "-" else total
    return signed if _fits(signed) else None


_WITH_DAYS = re.compile(r"[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|[smhdw]))+)", re.ASCII)


def is_long_duration(text: str) -> bool:
    """Return whether a text is a Go duration, possibly with days and weeks, which some arguments of KAI accept."""
    return _WITH_DAYS.fullmatch(text) is not None


_DAYS = {"d": 86_400, "w": 604_800, "y": 31_536_000}
_LONG = re.compile(r"(\d+)(ms|[smhdwy])", re.ASCII)


def prometheus_seconds(text: str) -> Fraction | None:
    """Return the seconds of a Prometheus duration, such as `1w` or `1d12h`; None if it is invalid."""
    parts = _LONG.findall(text) if len(text) <= _LONGEST else []
    if not parts or "".join(amount + unit for amount, unit in parts) != text:
        return None
    total = sum((int(amount) * (_UNITS.get(unit) or Fraction(_DAYS[unit])) for amount, unit in parts), Fraction(0))
    return total if _fits(total) else None


def _fits(seconds: Fraction) -> bool:
    """Return whether an amount fits in a Go duration: whole nanoseconds in 64 bits."""
    return -_MOST_NANOSECONDS <= seconds * 10**9 < _MOST_NANOSECONDS
