"""KAI's amounts in words: GPUs, cores and decimal units of memory."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.kai import UNLIMITED, Dimension
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNITS = ((10**18, "EB"), (10**15, "PB"), (10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "B"))
FIELDS = {Dimension.GPU: "GPUs", Dimension.CPU: "cpu", Dimension.MEMORY: "memory"}
"""What people call each dimension."""


def shown(dimension: Dimension, amount: Fraction | float) -> str:
    """An amount in base units as people write it: `8 GPUs`, `80 cores`, `1.5 TB`, `unlimited`."""
    if amount == UNLIMITED:
        return "unlimited"
    exact = Fraction(amount)
    match dimension:
        case Dimension.GPU:
            return f"{number(exact)} GPU{'' if exact == 1 else 's'}"
        case Dimension.CPU:
            return f"{number(exact / 1000)} core{'' if exact == 1000 else 's'}"
        case Dimension.MEMORY:
            size, unit = next((u for u in _UNITS if abs(exact) >= u[0]), _UNITS[-1])
            return f"{number(exact / size)} {unit}"


def told(dimension: Dimension, amount: Fraction | float) -> str:
    """The same with what it is an amount of, where the unit does not say: `1.5 TB of memory`, `unlimited cpu`."""
    if amount == UNLIMITED:
        return f"unlimited {FIELDS[dimension]}"
    return shown(dimension, amount) + (" of memory" if dimension is Dimension.MEMORY else "")


def number(amount: Fraction) -> str:
    """Up to three decimals, without zeros at the end."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{float(round(amount, 3)):.3f}".rstrip("0").rstrip(".")


def added(dimension: Dimension, parts: Iterable[tuple[str, Fraction]]) -> str:
    """`24 GPUs (a) + 24 GPUs (b) = 48 GPUs`; a single part has no sum."""
    listed = list(parts)
    words = [f"{shown(dimension, amount)} ({name})" for name, amount in listed]
    if len(words) == 1:
        return words[0] + (" of memory" if dimension is Dimension.MEMORY else "")
    return f"{' + '.join(words)} = {told(dimension, sum((a for _, a in listed), Fraction(0)))}"
