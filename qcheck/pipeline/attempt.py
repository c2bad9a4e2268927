"""Proposals that were applied together, and sets of proposals that may be."""

from __future__ import annotations

from qcheck.answers.proposals import Proposal
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.pipeline.trial import TrialState, spot_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.place import Route

    Key = tuple[tuple[str, Route, str], ...]


class JudgedProposal(Value):
    """A state with some proposals applied, and the number of warnings that are new in it."""

    state: TrialState
    taken: tuple[Proposal, ...]
    brought: int


def disjoint(several: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals without those that write a value that an earlier one writes."""
    seen: set[tuple[str, object]] = set()
    found = []
    for proposal in several:
        spots = {(place.origin.path, place.span) for place, _ in proposal.values}
        if not spots & seen:
            found.append(proposal)
        seen |= spots
    return found


def contradicts(several: Sequence[Proposal], taken: Sequence[Proposal]) -> bool:
    """Return whether a proposal sets a value that one of another way has set. Raises `Impossible` for other values."""
    ways = {spot_of(place): p.way for p in taken for place, _ in p.values}
    return any(ways.get(spot_of(place), p.way) is not p.way for p in several for place, _ in p.values)


def ranked(several: Sequence[Proposal], rank: int) -> Proposal:
    """Return the proposal of a rank among those of the same way as the first; the last one for higher ranks."""
    same = [p for p in several if p.way is several[0].way]
    return same[min(rank, len(same) - 1)]


def key_of(proposal: Proposal) -> Key:
    """Return the places and texts that identify a proposal."""
    return tuple((place.origin.path, place.route, text) for place, text in proposal.values)
