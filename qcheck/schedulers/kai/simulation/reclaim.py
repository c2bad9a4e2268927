"""Reclaim: a queue below its fair share takes from queues above theirs, or above their quota."""

from __future__ import annotations

from math import inf

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.division import UNLIMITED
from qcheck.schedulers.kai.simulation.accounts import within
from qcheck.schedulers.kai.simulation.gang import Vector, minus, plus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.schedulers.kai.simulation.accounts import Accounts, QueueBounds
    from qcheck.schedulers.kai.simulation.gang import SimulatedGang


def may_ask(accounts: Accounts, gang: SimulatedGang) -> bool:
    """Return whether a gang may reclaim: its queue stays within its fair share, or within quota if not preemptible."""
    bounds = accounts.bounds[gang.queue]
    if not within(plus(accounts.held[gang.queue], gang.total), bounds.fair):
        return False
    return gang.is_preemptible or within(plus(accounts.kept[gang.queue], gang.total), bounds.quota)


def may_lose(accounts: Accounts, gang: SimulatedGang, victim: str) -> bool:
    """Return whether gangs of another queue are worth trying as victims."""
    ours, theirs = rivals(accounts, gang.queue, victim)
    if not _stays_in_quota(accounts, gang, ours):
        return not within(accounts.held[theirs.name], theirs.allocatable)
    has_room = False
    for asked, held, quota in zip(gang.total, accounts.held[theirs.name], theirs.quota, strict=True):
        if asked > 0 and quota != UNLIMITED:
            if held > quota:
                return True
            has_room |= held < quota
    return not has_room


def is_allowed(accounts: Accounts, gang: SimulatedGang, losing: Sequence[SimulatedGang], multiplier: float) -> bool:
    """Return whether a gang may replace others, given what their queues hold before the exchange."""
    left: dict[str, Vector] = {}
    involved: dict[str, set[int]] = {}
    for victim in losing:
        ours, theirs = rivals(accounts, gang.queue, victim.queue)
        over = left.get(theirs.name, accounts.held[theirs.name])
        is_over_share = not within(over, theirs.allocatable)
        is_over_quota = _stays_in_quota(accounts, gang, ours) and not within(over, theirs.quota)
        if not is_over_share and not is_over_quota:
            return False
        for name in accounts.paths[victim.queue]:
            left[name] = minus(left.get(name, accounts.held[name]), victim.total)
            involved.setdefault(name, set()).update(_asked(victim))
    for name in accounts.paths[gang.queue]:
        bounds = accounts.bounds[name]
        with_gang = plus(left.get(name, accounts.held[name]), gang.total)
        for other, remaining in left.items():
            sibling = accounts.bounds[other]
            if sibling.parent == bounds.parent and other != name:
                resources = involved[other] | _asked(gang)
                if not _stays_behind(with_gang, bounds, remaining, sibling, resources, multiplier):
                    return False
        if not gang.is_preemptible and not within(plus(accounts.kept[name], gang.total), bounds.quota):
            return False
    return True


def rivals(accounts: Accounts, ours: str, theirs: str) -> tuple[QueueBounds, QueueBounds]:
    """Return the ancestors of two queues at the level where their paths diverge."""
    pair = (ours, theirs)
    for pair in zip(reversed(accounts.paths[ours]), reversed(accounts.paths[theirs]), strict=False):
        if pair[0] != pair[1]:
            break
    return accounts.bounds[pair[0]], accounts.bounds[pair[1]]


def _asked(gang: SimulatedGang) -> set[int]:
    return {at for at, amount in enumerate(gang.total) if amount > 0}


def _stays_in_quota(accounts: Accounts, gang: SimulatedGang, bounds: QueueBounds) -> bool:
    return within(plus(accounts.held[bounds.name], gang.total), bounds.quota)


def _stays_behind(
    held: Vector, bounds: QueueBounds, rest: Vector, sibling: QueueBounds, resources: set[int], multiplier: float
) -> bool:
    """Return whether a queue above its fair share exceeds it by less than the sibling that it takes from."""
    for at in resources:
        ours, theirs = bounds.fair[at], sibling.fair[at]
        ratio = _ratio(held[at], ours)
        if ratio > 1 and theirs > 0 and ratio * multiplier >= _ratio(rest[at], theirs):
            return False
    return True


def _ratio(held: float, share: float) -> float:
    if share == 0:
        return inf if held > 0 else 0.0
    return 0.0 if share == UNLIMITED else held / share
