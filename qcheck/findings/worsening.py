"""Comparison of a known finding with a new one: it is worse if it is more severe or has a larger amount."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.severity import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qcheck.findings.finding import Finding

AMOUNTS = ("excess", "short", "missing", "uses", "seconds", "stranded", "rest")
"""Entries of `data` whose growth makes a finding worse: integers, or integers by resource."""

OF_RULE = {
    "QC104": ("perNode",),
    "QC106": ("idle",),
    "QC109": ("reserved",),
    "QC308": ("lent",),
    "QC411": ("nominal",),
    "QC415": ("own",),
    "QC609": ("maximum",),
    "QC963": ("task",),
}
"""Further entries that measure a finding, by rule."""

GAPS = (
    ("reserved", "static"),
    ("reserved", "supply"),
    ("requested", "limit"),
    ("found", "bound"),
    ("reserved", "physical"),
    ("wanted", "slots"),
    ("manager", "workers"),
    ("limit", "lent"),
    ("admitted", "hard"),
    ("needed", "quota"),
    ("wholeNode", "free"),
    ("pods", "largest"),
    ("quota", "limit"),
    ("limit", "ceiling"),
    ("pod", "quota"),
)
"""Pairs of entries whose difference measures a finding: if it grows, the finding is worse."""


def amounts(found: Finding) -> dict[str, int]:
    """Return the amounts that state how bad a finding is, by name, in base units."""
    numbers = {key: value for key, value in found.data.items() if type(value) is int}
    own = OF_RULE.get(found.rule.id, ()) if found.rule else ()
    single = {key: numbers[key] for key in (*AMOUNTS, *own) if key in numbers}
    for key in AMOUNTS:
        parts = found.data.get(key)
        if isinstance(parts, dict):
            single |= {f"{key}.{part}": value for part, value in parts.items() if type(value) is int}
    gaps = {f"{more}-{less}": numbers[more] - numbers[less] for more, less in GAPS if {more, less} <= set(numbers)}
    return single | {pair: excess for pair, excess in gaps.items() if excess > 0}


def is_worse(severity: str, before: Mapping[str, int], now: Finding) -> bool:
    """Return whether a finding is worse than before. `severity` is empty if it is unknown."""
    if severity and SEVERITIES.index(now.severity) > SEVERITIES.index(severity):
        return True
    after = amounts(now)
    return any(after.get(key, amount) > amount for key, amount in before.items())
