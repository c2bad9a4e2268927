"""KAI's division of one resource between the queues of one level.

Modelled on release 0.17 (`pkg/scheduler/plugins/proportion/resource_division`). KAI computes in doubles, and a share at
a rounding tie depends on the order of its additions, so this module uses floats in the same order. Amounts are in the
unit in which KAI counts the resource: GPUs, millicores or bytes.
"""

from __future__ import annotations

import math

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

UNLIMITED = -1.0
"""The quota or limit that means "no bound"."""


class Claim(Value):
    """One queue's input to the division of one resource."""

    queue: str
    quota: float
    limit: float
    weight: float
    request: float
    """The amounts that the subtree holds and waits for."""
    usage: float = 0.0
    """The normalised use in the history window: a fraction of the cluster's capacity."""
    priority: int = 100
    created: float = 0.0

    @property
    def requestable(self) -> float:
        """The part of the request within the limit."""
        return self.request if self.limit == UNLIMITED else min(self.limit, self.request)

    def is_satisfied(self, share: float) -> bool:
        """Return whether the queue needs no further round."""
        return self.request <= share or (self.limit != UNLIMITED and self.limit <= share)

    def missing(self, share: float) -> float:
        """Return how much of the requestable amount the share does not cover."""
        return max(0.0, self.requestable - share)


def divide(total: float, claims: Sequence[Claim], k: float) -> dict[str, float]:
    """Return the fair share of each queue of one level.

    Quotas come first and are not scaled down if they exceed the total. The rest is divided by priority, from high to
    low, in whole units; units left over by rounding are handed out last, one per queue.
    """
    level = _Level(total, claims, max(0.0, k))
    if level.left <= 0:
        return level.shares
    priorities = sorted({claim.priority for claim in claims}, reverse=True)
    remainders = [level.give_by_weight([c for c in claims if c.priority == priority]) for priority in priorities]
    for remainder in remainders:
        if level.left <= 0:
            break
        level.give_units(remainder)
    return level.shares


def _added(amounts: Iterable[float]) -> float:
    """Return the sum, added one by one as in Go; since Python 3.12, `sum` corrects the rounding of each addition."""
    total = 0.0
    for amount in amounts:
        total += amount
    return total


class _Level:
    """The state of one division: the remaining amount, and the shares so far."""

    def __init__(self, total: float, claims: Iterable[Claim], k: float) -> None:
        self.k = k
        self.left = total
        self.shares: dict[str, float] = {}
        for claim in claims:
            deserved = min(total if claim.quota == UNLIMITED else claim.quota, claim.requestable)
            self.shares[claim.queue] = deserved
            self.left -= deserved

    def give_by_weight(self, claims: Sequence[Claim]) -> dict[Claim, float]:
        """Divide what is left between queues of one priority; return the fractions that rounding withheld."""
        withheld: dict[Claim, float] = {}
        while self.left != 0:
            parts = self._parts(claims)
            whole = _added(parts.values())
            if whole == 0:
                break
            available, again = self.left, False
            for claim, part in parts.items():
                if self.left == 0:
                    break
                if claim.weight != 0:
                    again |= self._give(claim, available * (part / whole), withheld)
            if not again:
                break
        return withheld

    def _parts(self, claims: Sequence[Claim]) -> dict[Claim, float]:
        """Return the part of each unsatisfied queue: its weight, adjusted by k times its difference from past usage."""
        weights = _added(claim.weight for claim in claims if claim.missing(self.shares[claim.queue]) > 0)
        if weights == 0:
            return {}
        parts = {}
        for claim in claims:
            if not claim.is_satisfied(self.shares[claim.queue]):
                weight = claim.weight / weights
                parts[claim] = max(0.0, weight + self.k * (weight - claim.usage))
        return parts

    def _give(self, claim: Claim, fair: float, withheld: dict[Claim, float]) -> bool:
        """Give a queue its part of a round in whole units; return whether it needed less than that."""
        needed = claim.missing(self.shares[claim.queue])
        if needed <= fair:
            given = needed
            withheld.pop(claim, None)
        else:
            given = max(0.0, float(math.floor(fair)))
            if fair > given:
                withheld[claim] = fair - given
        self.shares[claim.queue] += given
        self.left -= given
        return given != 0 and needed < fair

    def give_units(self, withheld: dict[Claim, float]) -> None:
        """Hand out the units left over by rounding: largest fraction first, then the older queue, then the name.

        KAI ignores requests and limits here, so a share may exceed them by less than one unit.
        """
        for claim in sorted(withheld, key=lambda claim: (-withheld[claim], claim.created, claim.queue)):
            if self.left == 0:
                break
            given = min(1.0, self.left)
            self.shares[claim.queue] += given
            self.left -= given
