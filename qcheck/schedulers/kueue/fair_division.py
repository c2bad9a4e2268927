"""The fluid division of fair sharing: the amounts that queues would get if workloads were arbitrarily divisible.

Every node first gets its demand up to its own quota. The rest at a cohort goes to the children that borrow, so that
what each borrows stays in proportion to its weight; children of weight 0 come last. The same applies within each child.
Source: Kueue 0.20 `pkg/cache/scheduler/fair_sharing.go`, `pkg/scheduler/fair_sharing_iterator.go`: siblings compare
what they borrow, divided by the same amount and by their weight.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.quota.shares import Amount


class Branch(Value, cached=True):
    """A queue or cohort for one cell, in base units.

    `own`: the quota at and below it. `kept`: the part of it that is never lent. `cap`: the most that it may hold, None
    without a limit of its own. `wanted`: for a queue, None for more than exists.
    """

    name: str
    own: int
    kept: int
    cap: int | None
    wanted: Fraction | int | None
    milli_weight: int
    is_queue: bool
    below: tuple[Branch, ...] = ()

    @cached_property
    def most(self) -> Fraction | None:
        """The amount that it would use without competition; None if unlimited."""
        bounds = [Fraction(b) for b in (self.cap, self._wanted) if b is not None]
        return min(bounds) if bounds else None

    @property
    def _wanted(self) -> Fraction | int | None:
        if self.is_queue:
            return self.wanted
        asked = [child.most for child in self.below]
        known = [max(Fraction(0), a - child.kept) for a, child in zip(asked, self.below, strict=True) if a is not None]
        return sum(known, Fraction(0)) if len(known) == len(asked) else None

    @property
    def first(self) -> Fraction:
        """Its usage of its own quota, which no other queue can withhold."""
        most = self.most
        return Fraction(self.own) if most is None else min(most, Fraction(self.own))

    def wants_beyond(self, given: Fraction) -> bool:
        """Return whether it would use more than the amount given."""
        return self.most is None or self.most > given


def divide(branch: Branch, budget: Amount) -> dict[str, Amount]:
    """Return what every queue at and below a branch gets if the branch may use `budget`."""
    if branch.is_queue:
        got = Fraction(budget) if branch.most is None else min(Fraction(budget), branch.most)
        return {branch.name: got.numerator if got.denominator == 1 else got}
    given = [child.first for child in branch.below]
    shared = sum((max(Fraction(0), g - c.kept) for g, c in zip(given, branch.below, strict=True)), Fraction(0))
    left = max(Fraction(0), Fraction(budget) - shared)
    for weights in ([c.milli_weight for c in branch.below], [int(c.milli_weight == 0) for c in branch.below]):
        left = _pour(branch.below, weights, given, left)
    found: dict[str, Amount] = {}
    for child, amount in zip(branch.below, given, strict=True):
        found.update(divide(child, amount))
    return found


def _pour(children: tuple[Branch, ...], weights: list[int], given: list[Fraction], left: Fraction) -> Fraction:
    """Raise what each child has beyond its own quota, in proportion to weights, until nothing is left or wanted.

    Changes `given`, and returns the rest.
    """
    thirsty = [i for i, c in enumerate(children) if weights[i] and c.wants_beyond(given[i])]
    while thirsty and left > 0:
        per_weight = left / sum(weights[i] for i in thirsty)
        for i in thirsty:
            most = children[i].most
            if most is not None:
                per_weight = min(per_weight, (most - given[i]) / weights[i])
        for i in thirsty:
            given[i] += per_weight * weights[i]
            left -= per_weight * weights[i]
        thirsty = [i for i in thirsty if children[i].wants_beyond(given[i])]
    return left
