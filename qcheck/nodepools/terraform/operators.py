"""Terraform's operators on evaluated values, and the members of collections."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.unresolved import Unresolved
from qcheck.nodepools.terraform.functions import Failed, number_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from qcheck.nodepools.terraform.effort import Effort
    from qcheck.nodepools.terraform.evaluated import Evaluated

    class EvaluationScope(Protocol):
        """The names in scope, with their values."""

        @property
        def effort(self) -> Effort: ...

        def root(self, path: list[str], written: str) -> tuple[Evaluated, int]:
            """Return the value of the longest known prefix of a dotted path, and the number of its parts."""
            ...


def pairs(value: Evaluated) -> list[tuple[Evaluated, Evaluated]]:
    """Return keys and values of a map in order of the keys, or indexes and values of a list."""
    if isinstance(value, dict):
        return [(key, value[key]) for key in sorted(value)]
    return list(enumerate(value)) if isinstance(value, list) else []


def _member(value: Evaluated, step: Evaluated, written: str) -> Evaluated:
    if isinstance(value, dict) and isinstance(step, str):
        return value[step] if step in value else Failed(written)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return Failed(written)


def _truth(value: Evaluated) -> bool:
    return value is True or value == "true"


def _logic(operator: str, left: Evaluated, right: Evaluated) -> Evaluated:
    """Evaluate `&&` or `||`; one known operand may decide alone."""
    decides = operator == "||"
    for each in (left, right):
        if not isinstance(each, Unresolved) and _truth(each) == decides:
            return decides
    unknown = next((e for e in (left, right) if isinstance(e, Unresolved)), None)
    return unknown if unknown is not None else not decides


def _divide(a: Evaluated, b: Evaluated) -> Evaluated:
    return whole(Fraction(number_of(a)) / Fraction(number_of(b)))


_OPERATORS: dict[str, Callable[[Evaluated, Evaluated], Evaluated]] = {
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
