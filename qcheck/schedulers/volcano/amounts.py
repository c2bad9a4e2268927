"""Volcano's arithmetic on lists of resources, exactly.

Amounts are in base units: milli-cpu, bytes, whole devices and pods. `UNLIMITED` stands for Volcano's largest number. A
list always has cpu and memory; any other resource may be missing, which differs from 0. Source: release 1.15 of
Volcano, `pkg/scheduler/api/resource_info.go` and `api/helpers`.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Amount = Fraction | int | float
    """Only `UNLIMITED` is a float."""
    Amounts = Mapping[str, Amount]

UNLIMITED = inf
BASIC = ("cpu", "memory")
"""The resources that every list has."""
UNCOUNTED = frozenset({"pods"})
"""Resources that no gate of Volcano considers."""


def amounts(given: Mapping[str, Amount] = {}) -> Amounts:
    """Return a list of resources in which cpu and memory are 0 unless given."""
    return {"cpu": 0, "memory": 0, **given}


def negligible(resource: str) -> Fraction:
    """Return the amount below which Volcano treats a resource as absent: a tenth of its counting unit."""
    return Fraction(1, 10 if resource in BASIC or resource == "pods" else 10_000)


def added(left: Amounts, right: Amounts) -> Amounts:
    """Return the sum, over the resources of both."""
    return {**left, **{r: left.get(r, 0) + more for r, more in right.items()}}


def scaled(given: Amounts, ratio: Fraction) -> Amounts:
    """Return each amount times `ratio`."""
    return {r: a * ratio for r, a in given.items()}


def exceeding(left: Amounts, right: Amounts) -> Amounts:
    """Return the part of `left` above `right`. A resource with nothing left is dropped; cpu and memory remain as 0."""
    rest: Amounts = {r: a - b if a > (b := right.get(r, 0)) else 0 for r, a in left.items()}
    return {r: a for r, a in rest.items() if a > 0 or r in BASIC}


def capped(given: Amounts, most: Amounts, missing: Amount = UNLIMITED) -> Amounts:
    """Return each amount of `given`, at most that of `most`, or `missing` for resources that `most` lacks."""
    return {r: min(a, most.get(r, missing)) for r, a in given.items()}


def larger(left: Amounts, right: Amounts) -> Amounts:
    """Return the larger amount of each resource of both."""
    return {**left, **{r: max(a, left.get(r, 0)) for r, a in right.items()}}


def fits(left: Amounts, right: Amounts) -> bool:
    """Return whether `left` is at most `right` in every resource, up to a negligible amount."""
    return all(a <= (b := right.get(r, 0)) or _gap(a, b) < negligible(r) for r, a in left.items())


def falls_short(left: Amounts, right: Amounts) -> bool:
    """Return whether some amount of `left` is below that of `right`, including resources that only `right` names."""
    return any(r not in left or left[r] < a for r, a in right.items())


def same(left: Amounts, right: Amounts) -> bool:
    """Return whether both name the same resources in amounts that are equal as Volcano's doubles."""
    return left.keys() == right.keys() and all(
        a == (b := right[r]) or _gap(a, b) * 2**53 <= a < UNLIMITED for r, a in left.items()
    )


def _gap(left: Amount, right: Amount) -> Amount:
    return left - right if left > right else right - left


def is_empty(given: Amounts) -> bool:
    """Return whether every amount is negligible; pods do not count."""
    return all(a < negligible(r) for r, a in given.items() if r not in UNCOUNTED)


def share(allocated: Amounts, deserved: Amounts) -> Fraction:
    """Return the largest fraction that a queue holds of what it deserves, over the resources that it deserves."""
    named = [r for r, a in deserved.items() if a >= negligible(r)]
    return max((Fraction(allocated.get(r, 0)) / Fraction(deserved[r]) for r in named), default=Fraction(0))
