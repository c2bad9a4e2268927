"""Terraform's operators on evaluated values, and the members of collections."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.composed import Unresolved
from qcheck.nodepools.terraform.functions import Failed, number_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.nodepools.terraform.evaluated import Evaluated


def pairs(value: Evaluated) -> list[tuple[Evaluated, Evaluated]]:
    """Return keys and values of a map in order of the keys, or indexes and values of a list."""
    if isinstance(value, dict):
        return [(key, value[key]) for key in sorted(value)]
    return list(enumerate(value)) if isinstance(value, list) else []


def member(value: Evaluated, step: Evaluated, written: str) -> Evaluated:
    """Return the value of a map at a key, or of a list at an index."""
    if isinstance(value, dict) and isinstance(step, str):
        return value[step] if step in value else Failed(written)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return Failed(written)


def is_true(value: Evaluated) -> bool:
    """Return whether a condition holds; Terraform converts texts."""
    return value is True or value == "true"


def logic(operator: str, left: Evaluated, right: Evaluated) -> Evaluated:
    """Evaluate `&&` or `||`; one known operand may decide alone."""
    decides = operator == "||"
    for each in (left, right):
        if not isinstance(each, Unresolved) and is_true(each) == decides:
            return decides
    unknown = next((e for e in (left, right) if isinstance(e, Unresolved)), None)
    return unknown if unknown is not None else not decides


def _divide(a: Evaluated, b: Evaluated) -> Evaluated:
    return whole(Fraction(number_of(a)) / Fraction(number_of(b)))


OPERATORS: dict[str, Callable[[Evaluated, Evaluated], Evaluated]] = {
    "+": lambda a, b: number_of(a) + number_of(b),
    "-": lambda a, b: number_of(a) - number_of(b),
    "*": lambda a, b: number_of(a) * number_of(b),
    "/": _divide,
    "%": lambda a, b: number_of(a) % number_of(b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: number_of(a) < number_of(b),
    ">": lambda a, b: number_of(a) > number_of(b),
    "<=": lambda a, b: number_of(a) <= number_of(b),
    ">=": lambda a, b: number_of(a) >= number_of(b),
}
