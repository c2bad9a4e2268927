"""The capacity plugin's division of the surplus among busy queues: each resource separately, level by level.

The plugin serves the queue with the highest priority first, then the one that holds the smallest fraction of what it
deserves. A queue that deserves nothing counts as holding all of it: it comes after queues below what they deserve, and
before those above. With reclaim a queue gets back what it deserves, whatever the priorities. Source: Volcano 1.15,
`pkg/scheduler/plugins/capacity`.
"""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Claimant(Value):
    """A queue in the division of one resource: what it deserves, and the most that it takes (wants, and may hold)."""

    name: str
    deserved: Fraction
    most: Fraction
    priority: int = 0
    below: tuple[Claimant, ...] = ()


def divide(total: Fraction, claimants: Iterable[Claimant]) -> dict[str, Fraction]:
    """Return what each queue gets, including descendants."""
    known = tuple(claimants)
    found = _level(total, known)
    for claimant in known:
        if claimant.below:
            found |= divide(found[claimant.name], claimant.below)
    return found


def _level(total: Fraction, claimants: tuple[Claimant, ...]) -> dict[str, Fraction]:
    """Divide one level: first the deserved amounts, then the rest by priority.

    Queues that deserve nothing come before the others.
    """
    bounds = {c.name: min(c.deserved, c.most) for c in claimants}
    given = filled(total, bounds, {c.name: c.deserved for c in claimants})
    for priority in sorted({c.priority for c in claimants}, reverse=True):
        here = [c for c in claimants if c.priority == priority]
        for group in ([c for c in here if not c.deserved], [c for c in here if c.deserved]):
            left = total - sum(given.values())
            room = {c.name: c.most - given[c.name] for c in group}
            more = filled(left, room, {c.name: c.deserved or Fraction(1) for c in group})
            given |= {name: given[name] + amount for name, amount in more.items()}
    return given


def filled(total: Fraction, bounds: Mapping[str, Fraction], weights: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return `total` divided by weight, each share within its own bound; the excess goes to the others."""
    given = dict.fromkeys(bounds, Fraction(0))
    open_to = [name for name, bound in bounds.items() if bound > 0 and weights[name] > 0]
    left = total
    while open_to and left > 0:
        weight = sum((weights[name] for name in open_to), Fraction(0))
        full = [name for name in open_to if bounds[name] <= left * weights[name] / weight]
        if not full:
            return given | {name: left * weights[name] / weight for name in open_to}
        for name in full:
            given[name] = bounds[name]
        left -= sum((bounds[name] for name in full), Fraction(0))
        open_to = [name for name in open_to if name not in full]
    return given
