"""Bounds on the effort of evaluating a configuration: a few lines can require more than any machine can compute.

Names let values hold one another, so that sizes double from line to line, and modules multiply each other's instances.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.nodepools.terraform.evaluated import Evaluated

MOST_STEPS = 300_000
"""Expressions and instances: some hundred times those of a large configuration."""
LARGEST = 100_000
"""The largest number of items or characters of a value; larger ones are not computed."""
DEEPEST = 100
MOST_BITS = 4_000
"""Longer than any number that can be written; Terraform itself keeps 512."""
ITEMS_PER_STEP = 50
"""Items of a list that are looked at in the time of a step."""


class TooMuch(Exception):
    """A configuration takes more steps than it may."""


class Effort:
    """The effort spent on one configuration so far, and the sizes of its values."""

    def __init__(self) -> None:
        self.left = MOST_STEPS
        self._sizes: dict[int, tuple[Evaluated, int, int]] = {}
        """By identity: the value itself, its item count, and its depth."""

    def spend(self, steps: int = 1) -> None:
        """Raises `TooMuch` if nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch

    def spend_on(self, *values: Evaluated) -> None:
        """For going through all that is in some values."""
        self.spend(sum(self._size(value)[0] for value in values) // ITEMS_PER_STEP)

    def is_too_large(self, value: Evaluated) -> bool:
        """Return whether a value has grown out of all proportion."""
        if isinstance(value, str):
            return len(value) > LARGEST
        if isinstance(value, (int, Fraction)):
            return max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS
        items, depth = self._size(value)
        return items > LARGEST or depth > DEEPEST

    def _size(self, value: Evaluated) -> tuple[int, int]:
        """Return how many values it holds, counted as often as they are reached, and how deep they are."""
        if not isinstance(value, (list, dict)):
            return 1, 0
        if id(value) not in self._sizes:
            inner = [self._size(v) for v in (value.values() if isinstance(value, dict) else value)]
            items, depth = 1 + sum(i for i, _ in inner), 1 + max((d for _, d in inner), default=0)
            self._sizes[id(value)] = (value, items, depth)
        return self._sizes[id(value)][1:]
