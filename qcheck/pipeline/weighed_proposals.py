"""Proposals for a finding with the objections to them: those of the proposal itself and those of the user."""

from __future__ import annotations

from qcheck.answers.proposals import Proposal, Way
from qcheck.answers.quota_proposals import written_cells
from qcheck.answers.suggest import proposals
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import ByIdentity
from qcheck.findings.suggestions import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.constraints import Constraints
    from qcheck.findings.finding import Finding
    from qcheck.pipeline.trial import TrialState

ON_THEIR_OWN = (Kind.SHAPE, Kind.DAEMON_SET)
"""Kinds of changes that are not combined with a second kind."""


class WeighedProposals:
    """Proposals within the constraints of the user, requested once for each finding of a state."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        self._proposed: dict[tuple[ByIdentity, str], tuple[Proposal, ...]] = {}

    def of(self, state: TrialState, found: Finding, way: Way | None) -> Iterator[tuple[Proposal, str]]:
        """Yield proposals with the objections to them.

        Workloads and DaemonSets are changed only by proposals of that kind.
        """
        ways = list(Way)
        every = (
            p
            for p in self._known(state, found)
            if way is None or p.way.kind is way.kind or p.way.kind not in ON_THEIR_OWN
        )
        for proposal in sorted(every, key=lambda p: (p.way is not way, ways.index(p.way))):
            yield proposal, proposal.objection or self._objection(state, proposal)

    def _known(self, state: TrialState, found: Finding) -> tuple[Proposal, ...]:
        """Return all proposals that may resolve a finding, requested once."""
        key = ByIdentity(state), found.fingerprint
        if key not in self._proposed:
            cluster = next(c for c in state.clusters if c.name == found.cluster)
            self._proposed[key] = tuple(proposals(cluster, found, self._constraints))
        return self._proposed[key]

    def _objection(self, state: TrialState, proposal: Proposal) -> str:
        """Return the constraint of the user that a proposal would violate."""
        if not self._constraints.binds:
            return ""
        for place, text in proposal.values:
            spot = (id(place.origin), place.route)
            cell = next((held[spot] for k in state.clusters if spot in (held := written_cells(k))), None)
            if cell is not None and (why := self._constraints.objection(cell, text)):
                return why
            if self._constraints.keeps_place(place):
                return f"{place.line} is kept by a comment"
        return ""
