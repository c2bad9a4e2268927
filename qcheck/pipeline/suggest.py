"""Suggestions: the smallest edits that resolve the findings in question.

Each alternative is a sequence of proposals. They are accepted only if the rules, run again with them applied, report
fewer of the findings in question and no new error, except errors that the edits uncover. qcheck also tries to resolve
these. Each printed alternative was therefore judged exactly like a file with its edits.
"""

from __future__ import annotations

from itertools import islice

from qcheck.answers.constraints import Mode
from qcheck.answers.proposals import Proposal, Way
from qcheck.answers.quota_division import fill_quotas
from qcheck.answers.suggest import OVERDRAFT
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.severity import Severity
from qcheck.findings.suggestions import Alternative, Kind, Rejected, Step, Suggestions
from qcheck.pipeline.attempt import JudgedProposal, contradicts, disjoint, key_of, ranked
from qcheck.pipeline.new_findings import broken_workloads, gone, name, new_findings, shown
from qcheck.pipeline.sums import shown_sums
from qcheck.pipeline.trial import OBJECTS_JUDGED, Trials
from qcheck.pipeline.uncovered import CORRECTED, uncovered
from qcheck.pipeline.value_files import rewritten
from qcheck.pipeline.weighed_proposals import WeighedProposals
from qcheck.pipeline.what_if import Impossible, Replacement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qcheck.answers.constraints import Constraints
    from qcheck.cluster.place import Route
    from qcheck.findings.finding import Finding
    from qcheck.findings.result import Result
    from qcheck.findings.suggestions import ValueEdit
    from qcheck.pipeline.gather import ReadInputs
    from qcheck.pipeline.read import Watch
    from qcheck.pipeline.trial import TrialState
    from qcheck.settings import Settings

    Key = tuple[tuple[str, Route, str], ...]
    Asked = Callable[[Result], list[Finding]]

MOST_ROUNDS = 12
MOST_RANKS = 4
MOST_REPAIRS = 2
MOST_PRUNED = 5
"""The number of steps up to which an alternative is retried without each of them."""
TOO_LARGE = (
    "the search ended early: more trials would take too long; name some of the rules with --rules, or one cluster"
)


def suggestions(
    read: ReadInputs,
    settings: Settings,
    asked: Asked,
    constraints: Constraints,
    watch: Watch,
    objects_judged: int = OBJECTS_JUDGED,
) -> Result:
    """Return a check's result with suggestions for the findings that `asked` picks from a result.

    `objects_judged` limits the work.
    """
    trials = Trials(read, settings, watch, objects_judged)
    return replace(trials.start.result, suggestions=Search(trials, asked, constraints).suggestions())


class Search:
    """Search for alternatives by trying proposals."""

    def __init__(self, trials: Trials, asked: Asked, constraints: Constraints) -> None:
        self._trials = trials
        self._asked = asked
        self._constraints = constraints
        self._weighed = WeighedProposals(constraints)
        self._rejected: dict[Key, Rejected] = {}
        self.start = trials.start
        self._at_start = frozenset(f.fingerprint for f in asked(trials.start.result))

    def suggestions(self) -> Suggestions:
        """Return an alternative for each way of editing that helps."""
        asked = self._asked(self.start.result)
        found: dict[tuple[ValueEdit, ...], Alternative] = {}
        for made in self._filled() if self._constraints.mode is Mode.FILL else self._alternatives(asked):
            found.setdefault(made.edits, made)
        order = sorted(found.values(), key=self._rank)
        taken = {step.words for each in order for step in each.steps}
        rejected = {r.words: r for r in self._rejected.values() if r.words not in taken}
        stopped = TOO_LARGE if self._trials.is_spent else ""
        return Suggestions(tuple(asked), tuple(order), tuple(rejected.values()), stopped)

    def _rank(self, found: Alternative) -> tuple[int, ...]:
        """Return the sort key: fewest remaining findings, then fewest edits.

        If quotas are divided, edits of quotas without new warnings come first.
        """
        divides = self._constraints.mode is not Mode.MINIMAL
        mild = (found.kind is not Kind.QUOTA, len(found.brings)) if divides else ()
        return (*mild, len(found.leaves), len(found.uncovers), len(found.edits), list(Kind).index(found.kind))

    def _left(self, state: TrialState) -> list[Finding]:
        """Return the findings in question that remain in a state."""
        return [f for f in self._asked(state.result) if f.fingerprint in self._at_start]

    def _uncovered(self, state: TrialState) -> list[Finding]:
        """Return the new errors of a state: a trial accepts only those that its edits uncover."""
        return [f for f in new_findings(self.start.result, state.result) if f.severity is Severity.ERROR]

    def _open(self, state: TrialState) -> tuple[int, int]:
        """Return the numbers of remaining findings in question and of uncovered errors, to compare states."""
        return len(self._left(state)), len(self._uncovered(state))

    def _alternatives(self, asked: Sequence[Finding]) -> Iterator[Alternative]:
        """Yield one alternative per way that helps; if each leaves some findings, also one that combines all ways."""
        least = self._open(self.start)
        for way in Way if asked else ():
            attempt = self._attempt(way)
            if any(p.way is way for p in attempt.taken):
                least = min(least, self._open(attempt.state))
                yield self._alternative(way.kind, attempt, asked)
        mixed = self._attempt(None) if any(least) else JudgedProposal(self.start, (), 0)
        if mixed.taken and self._open(mixed.state) < least:
            yield self._alternative(mixed.taken[0].way.kind, mixed, asked)

    def _attempt(self, way: Way | None) -> JudgedProposal:
        """Return an attempt with proposals of one way if they help, else others, without those that are not needed."""
        attempt = JudgedProposal(self.start, (), 0)
        for _ in range(MOST_ROUNDS):
            further = self._further(attempt, way)
            if further is None:
                break
            attempt = further
        return self._pruned(attempt)

    def _further(self, attempt: JudgedProposal, way: Way | None) -> JudgedProposal | None:
        """Add one more proposal that helps, for many findings at once if possible; None if none helps.

        Names and labels come first, because sums depend on them. Previously rejected proposals are retried only at the
        end, because those accepted since may have changed the result.
        """
        findings = [*self._left(attempt.state), *self._uncovered(attempt.state)]
        every = [list(self._proposals(attempt.state, f, way)) for f in findings]
        fresh = [[p for p in mine if key_of(p) not in self._rejected] for mine in every]
        fresh = sorted((mine for mine in fresh if mine), key=lambda mine: mine[0].way not in CORRECTED)
        together = self._together(attempt, [mine for mine in fresh if mine[0].way in CORRECTED] or fresh)
        if together is not None:
            return together
        again = [[p for p in mine if key_of(p) in self._rejected] for mine in every]
        attempts = (self._one(attempt, mine) for mine in (*fresh, *again) if mine)
        return next((one for one in attempts if one is not None), None)

    def _together(self, attempt: JudgedProposal, several: Sequence[Sequence[Proposal]]) -> JudgedProposal | None:
        """Apply one proposal for each of many findings: the first of each, or later ones if those bring warnings."""
        made: list[JudgedProposal] = []
        tried: list[list[Key]] = []
        for rank in range(MOST_RANKS):
            batch = disjoint([ranked(mine, rank) for mine in several])
            keys = list(map(key_of, batch))
            found = self._halved(attempt, batch) if keys not in tried else None
            if found is not None and found.brought <= attempt.brought:
                return found
            made += [found] if found is not None else []
            tried.append(keys)
        return min(made, key=lambda m: m.brought, default=None)

    def _halved(self, attempt: JudgedProposal, several: Sequence[Proposal]) -> JudgedProposal | None:
        """Apply many proposals at once, or half of them if not all can be applied."""
        if len(several) < 2:
            return None
        made = self._tried(attempt, several)
        if made is not None and self._open(made.state) < self._open(attempt.state):
            return made
        return self._halved(attempt, several[: len(several) // 2])

    def _one(self, attempt: JudgedProposal, several: Sequence[Proposal]) -> JudgedProposal | None:
        """Apply the first proposal that helps without a new warning, else the first that helps.

        Its warnings may have been hidden by a more severe finding. Other ways are left to their own alternatives.
        """
        before = self._open(attempt.state)
        milder: list[JudgedProposal] = []
        for proposal in several:
            if milder and proposal.way is not several[0].way:
                break
            made = self._tried(attempt, [proposal], repairs=MOST_REPAIRS)
            if made is None:
                continue
            if self._open(made.state) >= before:
                self._reject(proposal, "it resolves none of the findings")
            elif made.brought <= attempt.brought:
                for other in milder:
                    self._reject(other.taken[-1], shown(new_findings(attempt.state.result, other.state.result)[0]))
                return made
            else:
                milder.append(made)
        return milder[0] if milder else None

    def _proposals(self, state: TrialState, found: Finding, way: Way | None) -> Iterator[Proposal]:
        """Yield proposals that may resolve a finding, the given way first; those with an objection are rejected."""
        for proposal, objection in self._weighed.of(state, found, way):
            if objection:
                self._reject(proposal, objection)
            else:
                yield proposal

    def _tried(self, attempt: JudgedProposal, several: Sequence[Proposal], repairs: int = 0) -> JudgedProposal | None:
        """Return the state after some proposals; None if a value cannot be replaced or a new error would appear.

        Also None if they change a value that the attempt has set in another way: a quota is not lowered and raised
        again.

        With `repairs`, up to that many further proposals may resolve new errors that the old ones have hidden.
        """
        if self._trials.is_spent:
            return None
        try:
            if contradicts(several, attempt.taken):
                return None
            state = self._trials.after(attempt.state, [v for p in several for v in p.values])
        except Impossible as error:
            self._failed(several, str(error))
            return None
        if state.result.inputs.unjudged != attempt.state.result.inputs.unjudged:
            self._failed(several, "the changed files cannot be judged")
            return None
        new = new_findings(attempt.state.result, state.result)
        hidden = uncovered(attempt.state, new, {p.way for p in several}) if new else []
        new = [f for f in new if f not in hidden]
        broken = broken_workloads(attempt.state.result, new)
        worst = [f for f in new if f.severity is Severity.ERROR or f in broken]
        if not worst:
            return JudgedProposal(state, (*attempt.taken, *several), len(new_findings(self.start.result, state.result)))
        weighed = () if broken or len(worst) > repairs else self._weighed.of(state, worst[0], Way.LOWER_QUOTA)
        more = islice((p for p, objection in weighed if not objection), MOST_REPAIRS)
        made = [m for further in more if (m := self._tried(attempt, [*several, further], repairs - 1)) is not None]
        self._failed(several, shown(worst[0]), " alone" if made else "")
        return min(made, key=lambda m: m.brought, default=None)

    def _failed(self, several: Sequence[Proposal], why: str, how: str = "") -> None:
        if len(several) == 1:
            self._rejected.setdefault(key_of(several[0]), Rejected(f"{several[0].words}{how}", why))

    def _reject(self, proposal: Proposal, why: str) -> None:
        self._rejected.setdefault(key_of(proposal), Rejected(proposal.words, why))

    def _pruned(self, attempt: JudgedProposal) -> JudgedProposal:
        """Return the same without the proposals that others make superfluous."""
        if not 1 < len(attempt.taken) <= MOST_PRUNED:
            return attempt
        left = self._open(attempt.state)
        for proposal in attempt.taken:
            rest = [p for p in attempt.taken if p is not proposal]
            made = self._tried(JudgedProposal(self.start, (), 0), rest) if rest else None
            if made is not None and self._open(made.state) <= left and made.brought <= attempt.brought:
                return self._pruned(made)
        return attempt

    def _alternative(self, kind: Kind, attempt: JudgedProposal, asked: Sequence[Finding]) -> Alternative:
        left = {f.fingerprint for f in self._left(attempt.state)}
        edits = self._trials.edits(attempt.state)
        new = new_findings(self.start.result, attempt.state.result)
        brings = dict.fromkeys(name(f) for f in new if f.severity is not Severity.ERROR)
        return Alternative(
            kind=kind,
            steps=tuple(self._step(p, is_tried=len(attempt.taken) <= MOST_PRUNED) for p in attempt.taken),
            edits=edits,
            resolves=tuple(f.fingerprint for f in asked if f.fingerprint not in left),
            leaves=tuple(f.fingerprint for f in asked if f.fingerprint in left),
            brings=tuple(brings),
            uncovers=tuple(map(shown, self._uncovered(attempt.state))),
            proof=shown_sums(attempt.state.clusters, [f for f in asked if f.rule and f.rule.id == OVERDRAFT])
            or gone([f for f in asked if f.fingerprint not in left]),
            proved=all(p.proved for p in attempt.taken),
            patch="".join(f.diff() for f in rewritten(edits)),
        )

    def _step(self, proposal: Proposal, is_tried: bool) -> Step:
        """Return a proposal with its edits and, if it `is_tried`, the findings that it resolves alone."""
        edits = tuple(self._trials.edit(Replacement(place, text)) for place, text in proposal.values)
        alone = self._tried(JudgedProposal(self.start, (), 0), [proposal]) if is_tried else None
        left = {f.fingerprint for f in self._left(alone.state)} if alone is not None else None
        asked = self._asked(self.start.result) if left is not None else []
        return Step(proposal.words, edits, tuple(f.fingerprint for f in asked if f.fingerprint not in (left or ())))

    def _filled(self) -> Iterator[Alternative]:
        """Yield an alternative with the quotas of `fill` in whole nodes, and one with exact shares; no new errors."""
        every = [several for c in self.start.clusters for several in fill_quotas(c, self._constraints)]
        for at in (0, -1):
            made = self._tried(JudgedProposal(self.start, (), 0), [several[at] for several in every]) if every else None
            if made is not None:
                yield self._alternative(Kind.QUOTA, made, self._asked(self.start.result))
