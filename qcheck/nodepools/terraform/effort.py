"""Limits on the effort of evaluating a configuration: a few lines can require more than any machine can compute.

Values can contain one another by name, so that sizes double from line to line, and modules multiply each other's
instances.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.nodepools.terraform.evaluated import Evaluated

MOST_STEPS = 300_000
"""The maximum number of expressions and instances: several hundred times that of a large configuration."""
LARGEST = 100_000
"""The largest number of items or characters of a value; larger values are not computed."""
DEEPEST = 100
MOST_BITS = 4_000
"""The maximum size of a number; Terraform itself uses 512 bits."""
ITEMS_PER_STEP = 50
"""The number of list items whose processing counts as one step."""


class TooMuch(Exception):
    """A configuration takes more steps than allowed."""


class Effort:
    """The effort spent on one configuration so far, and the sizes of its values."""

    def __init__(self) -> None:
        self.left = MOST_STEPS
        self._sizes: dict[int, tuple[Evaluated, int, int]] = {}
        """By identity: the value itself, its item count, and its depth."""

    def spend(self, steps: int = 1) -> None:
        """Spend steps. Raises `TooMuch` if none are left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch

    def spend_on(self, *values: Evaluated) -> None:
        """Spend the steps of processing everything in some values."""
        self.spend(sum(self._size(value)[0] for value in values) // ITEMS_PER_STEP)

    def is_too_large(self, value: Evaluated) -> bool:
        """Return whether a value exceeds the size limits."""
        if isinstance(value, str):
            return len(value) > LARGEST
        if isinstance(value, (int, Fraction)):
            return max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS
        items, depth = self._size(value)
        return items > LARGEST or depth > DEEPEST

    def _size(self, value: Evaluated) -> tuple[int, int]:
        """Return how many values it contains, counted as often as they are reached, and its depth."""
        if not isinstance(value, (list, dict)):
            return 1, 0
        if id(value) not in self._sizes:
            inner = [self._size(v) for v in (value.values() if isinstance(value, dict) else value)]
            items, depth = 1 + sum(i for i, _ in inner), 1 + max((d for _, d in inner), default=0)
            self._sizes[id(value)] = (value, items, depth)
        return self._sizes[id(value)][1:]
