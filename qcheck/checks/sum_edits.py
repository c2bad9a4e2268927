"""Edits of amounts whose sum exceeds a bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def cut(amounts: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    """Return amounts that add up to a smaller total.

    Only the largest amount is lowered, if it stays above 0; otherwise the largest amounts are lowered to one level. The
    results are whole numbers if the amounts and the total are.
    """
    excess = sum(amounts, Fraction(0)) - total
    largest = max(range(len(amounts)), key=lambda at: amounts[at])
    if amounts[largest] > excess:
        return [a - excess if at == largest else a for at, a in enumerate(amounts)]
    level = _level(sorted(amounts), total)
    if any(a.denominator != 1 for a in (*amounts, total)):
        return [min(a, level) for a in amounts]
    parts = [Fraction(min(a, level) // 1) for a in amounts]
    spare = total - sum(parts, Fraction(0))
    for at, amount in enumerate(amounts):
        if spare > 0 and parts[at] < amount:
            parts[at] += 1
            spare -= 1
    return parts


def _level(rising: Sequence[Fraction], total: Fraction) -> Fraction:
    """Return the level to which the amounts must be capped so that they add up to a total."""
    for at, below in enumerate(accumulate(rising, initial=Fraction(0))):
        if at < len(rising) and below + rising[at] * (len(rising) - at) >= total:
            return (total - below) / (len(rising) - at)
    return max(rising)
