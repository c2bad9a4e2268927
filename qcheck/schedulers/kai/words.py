"""KAI's amounts in words: GPUs, cores and bytes, and unlimited amounts."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.kai import UNLIMITED, Dimension
from qcheck.cluster.units import scale_of, show_amount
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FIELDS = {Dimension.GPU: "GPUs", Dimension.CPU: "cpu", Dimension.MEMORY: "memory"}
"""The name of each dimension in text."""


def shown(dimension: Dimension, amount: Fraction | float) -> str:
    """Format an amount in base units: `8 GPUs`, `80 cores`, `1.5 TB`, `unlimited`."""
    if amount == UNLIMITED:
        return "unlimited"
    if dimension is Dimension.GPU:
        gpus = number(Fraction(amount))
        return f"{gpus} GPU{'' if gpus == '1' else 's'}"
    return show_amount(dimension.value, amount)


def named_amount(dimension: Dimension, amount: Fraction | float) -> str:
    """Format an amount with its resource if the unit does not imply it: `1.5 TB of memory`, `unlimited cpu`."""
    if amount == UNLIMITED:
        return f"unlimited {FIELDS[dimension]}"
    return shown(dimension, amount) + (" of memory" if dimension is Dimension.MEMORY else "")


def number(amount: Fraction) -> str:
    """Format a number with up to three decimals and no trailing zeros."""
    if amount.denominator == 1:
        return str(amount.numerator)
    return f"{float(round(amount, 3)):.3f}".rstrip("0").rstrip(".")


def decimal(amount: Fraction) -> str | None:
    """Return an amount exactly, as a decimal number; None if it needs more than nine decimal places."""
    scaled = abs(amount) * 10**9
    if scaled.denominator != 1:
        return None
    whole, rest = divmod(scaled.numerator, 10**9)
    digits = f"{whole}.{rest:09}".rstrip("0").rstrip(".") if rest else str(whole)
    return f"-{digits}" if amount < 0 else digits


def added(dimension: Dimension, parts: Iterable[tuple[str, Fraction]]) -> str:
    """Return `24 GPUs (a) + 24 GPUs (b) = 48 GPUs`; a single part has no sum."""
    listed = list(parts)
    if len(listed) == 1:
        return f"{named_amount(dimension, listed[0][1])} ({listed[0][0]})"
    total = sum((a for _, a in listed), Fraction(0))
    if dimension is Dimension.GPU:
        return (
            f"{' + '.join(f'{shown(dimension, a)} ({name})' for name, a in listed)} = {named_amount(dimension, total)}"
        )
    scale = scale_of(dimension.value, [total, *(a for _, a in listed)])
    return f"{' + '.join(f'{scale.bare(a)} ({name})' for name, a in listed)} = {scale.name(total)}"
