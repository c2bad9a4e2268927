"""Suggestions: the smallest edits after which the rules find no more of what was asked about.

Each alternative is a sequence of proposals. A proposal is taken only if the rules, run again on what was read with it
applied, find less of what was asked about and no new error or warning: what is printed was judged like a file that says so.
"""

from __future__ import annotations

from qcheck.answers.proposals import Kind, Mode, Proposal, filling_proposals, overdraft_proposals
from qcheck.answers.suggest import Alternative, Rejected, Suggestions, ValueEdit
from qcheck.checks.capacity.arithmetic import cell_scale, promised, supplied
from qcheck.cluster.edits import How
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.documents.document import Document
from qcheck.documents.edits import edited
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.severity import Severity
from qcheck.pipeline.check import checked
from qcheck.pipeline.fix import Fixed
from qcheck.pipeline.fix import write as write_file
from qcheck.pipeline.gather import gather, modelled
from qcheck.pipeline.what_if import Impossible, Replacement, edit_of, with_values
from qcheck.schedulers.table import promises_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qcheck.answers.proposals import Wishes
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.documents.load import Loaded
    from qcheck.findings.finding import Datum, Finding
    from qcheck.findings.result import Result
    from qcheck.pipeline.gather import ReadInputs
    from qcheck.pipeline.read import Watch
    from qcheck.settings import Settings

MOST_STEPS = 12
"""Proposals in one alternative at most."""
FEWEST_TRIES = 16
OBJECTS_TRIED = 12_000
"""Objects that are judged again at most, over all tries: what bounds the time."""
TOO_LARGE = "qcheck stops here: more would take too long; name some of the rules with --rules, or one cluster"
OVERDRAFT = "QC101"
NAMES = ("QC103", "QC301", "QC401", "QC402", "QC403", "QC407", "QC501")
LABELS = ("QC201", "QC210", "QC513")
"""Rules whose fixes write another name, and those whose fixes write another label; others change an amount."""


class _State(Value):
    """What was read with some values replaced, and what the rules find in it."""

    values: tuple[Replacement, ...]
    clusters: tuple[Cluster, ...]
    result: Result


class Workshop:
    """Tries proposals on what was read."""

    def __init__(
        self, read: ReadInputs, settings: Settings, rules: Sequence[str], wishes: Wishes, watch: Watch
    ) -> None:
        self._read = read
        self._settings = settings
        self._wishes = wishes
        self._watch = watch
        self._tried = 0
        chosen, _ = choose(load_catalogue().values(), rules)
        self._rules = frozenset(chosen) if rules else None
        self.start = self._state(())
        self.rejected: dict[str, str] = {}
        self._most = max(FEWEST_TRIES, OBJECTS_TRIED // max(1, self.start.result.inputs.objects))

    def suggestions(self) -> Suggestions:
        """Return an alternative for each kind of edit that helps."""
        asked = self.asked(self.start)
        found: dict[tuple[ValueEdit, ...], Alternative] = {}
        if self._wishes.mode is Mode.FILL:
            made = self._filled()
            found = {} if made is None else {made.edits: made}
        else:
            for kind in Kind if asked else ():
                made = self._alternative(kind, asked)
                if made is not None:
                    found.setdefault(made.edits, made)
        order = sorted(found.values(), key=lambda a: (len(a.leaves), len(a.edits), list(Kind).index(a.kind)))
        in_order = sorted(self.rejected.items(), key=lambda r: r[1] != TOO_LARGE)
        rejected = tuple(Rejected(words, why) for words, why in in_order)
        return Suggestions(tuple(asked), tuple(order), rejected, self.start.result)

    def queues(self) -> set[str]:
        """Return the names by which quotas can be kept."""
        cells = (c for k in self.start.clusters for held in promises_of(k).cells.values() for c in held)
        return {c.holder for c in cells}

    def write(self, alternative: Alternative) -> list[str]:
        """Write an alternative to its files, and return their paths. Raises `OSError`."""
        files = rewritten(alternative.edits)
        for file in files:
            write_file(file)
        return [file.path for file in files]

    def still_fails(self, paths: Sequence[str]) -> bool:
        """Return whether the files, read again, still have what was asked about, or could not be judged."""
        result = checked(gather(paths, self._settings), self._settings)
        return bool(result.inputs.unjudged) or bool(self.asked(replace(self.start, result=result)))

    def asked(self, state: _State) -> list[Finding]:
        """Return the findings that something is to be done about: the errors, or those of the rules that were named."""
        found = state.result.findings
        if self._rules is None:
            return [f for f in found if f.severity == "error"]
        return [f for f in found if f.rule is not None and f.rule.id in self._rules]

    def _alternative(self, kind: Kind, asked: Sequence[Finding]) -> Alternative | None:
        """The proposals of one kind where they help, and others where they do not."""
        state, taken = self.start, list[Proposal]()
        while len(taken) < MOST_STEPS:
            step = next(self._steps(state, kind), None)
            if step is None:
                break
            proposal, state = step
            taken.append(proposal)
        if not any(p.kind is kind for p in taken):
            return None
        return self._told(kind, taken, state, asked)

    def _steps(self, state: _State, kind: Kind) -> Iterator[tuple[Proposal, _State]]:
        """The proposals that resolve some of what is left, first those that bring nothing new, then those that bring
        warnings, which a graver finding may have hidden."""
        left = self.asked(state)
        for finding in left:
            proposals = sorted(self._proposals(state, finding), key=lambda p: p.kind is not kind)
            milder = []
            for proposal in proposals:
                if self._tried > self._most:
                    self.rejected.setdefault(f"after {self._most} tries", TOO_LARGE)
                    return
                after = self._tried_out(state, proposal)
                if after is None or len(self.asked(after)) >= len(left):
                    continue
                brought = _new(state.result, after.result)
                if brought:
                    milder.append((proposal, after, brought[0]))
                    continue
                for other, _, new in milder:
                    self._reject(other, new)
                yield proposal, after
            yield from ((proposal, after) for proposal, after, _ in milder)

    def _reject(self, proposal: Proposal, new: Finding) -> None:
        self.rejected.setdefault(proposal.words, f"{_name(new)}: {new.message}")

    def _proposals(self, state: _State, finding: Finding) -> Iterator[Proposal]:
        identifier = finding.rule.id if finding.rule else ""
        if identifier == OVERDRAFT:
            cluster = next(c for c in state.clusters if c.name == finding.cluster)
            yield from overdraft_proposals(cluster, str(finding.data["resource"]), self._wishes)
        yield from self._fixes(finding, identifier)

    def _fixes(self, finding: Finding, identifier: str) -> Iterator[Proposal]:
        """The edits that the finding itself offers."""
        for fix in finding.fixes:
            if all(e.how is How.REPLACE for e in fix.edits):
                kind = Kind.NAME if identifier in NAMES else Kind.LABEL if identifier in LABELS else Kind.QUOTA
                values = tuple((e.place, e.text) for e in fix.edits)
                yield Proposal(kind, values, f"{identifier}: {fix.description.rstrip('.')}")

    def _tried_out(self, state: _State, proposal: Proposal) -> _State | None:
        """The state after a proposal; None where a value cannot be replaced, or a new error would be found."""
        new_values = [Replacement(self._first(place), text) for place, text in proposal.values]
        by_place = {(id(v.place.origin), v.place.route): v for v in (*state.values, *new_values)}
        values = tuple(by_place.values())
        try:
            for each in values:
                self._source(each)
            after = self._state(values)
        except Impossible as error:
            self.rejected.setdefault(proposal.words, str(error))
            return None
        errors = [f for f in _new(state.result, after.result) if f.severity == "error"]
        if errors:
            self._reject(proposal, errors[0])
            return None
        if after.result.inputs.unjudged != self.start.result.inputs.unjudged:
            self.rejected.setdefault(proposal.words, "the changed files cannot be judged")
            return None
        return after

    def _first(self, place: Place) -> Place:
        """The place as it was read, whatever was replaced since: documents keep their path and number."""
        origin = place.origin
        assert isinstance(origin, Document)
        for document in self._documents():
            if (document.path, document.index) == (origin.path, origin.index):
                return type(place)(document, place.route, place.caption, place.on_key)
        return place

    def _documents(self) -> Iterator[Document]:
        for file in self._read.loaded:
            yield from file.documents
        for made in self._read.renders:
            for file in made.loaded if made else ():
                yield from file.documents

    def _state(self, values: tuple[Replacement, ...]) -> _State:
        self._tried += 1
        self._watch("try", self._tried, 0)
        read = with_values(self._read, values, self._settings.limits) if values else self._read
        gathered = modelled(read, self._settings)
        return _State(values, gathered.clusters, checked(gathered, self._settings))

    def _source(self, value: Replacement) -> ValueEdit:
        """The edit of the file that a person edits. Raises `Impossible` where that is not known."""
        written = value.place.written()
        origin = written.origin
        if not isinstance(origin, Document) or origin.source is not None:
            raise Impossible(f"{value.place.line}: the value was rendered, and its source is not known")
        start, end, new = edit_of(Replacement(written, value.text))
        return ValueEdit(written, origin.text.text[start:end], new)

    def _told(self, kind: Kind, taken: Sequence[Proposal], state: _State, asked: Sequence[Finding]) -> Alternative:
        left = {f.fingerprint for f in self.asked(state)}
        edits = tuple(sorted((self._source(v) for v in state.values), key=lambda e: (e.file, e.place.span)))
        return Alternative(
            kind=kind,
            edits=edits,
            words=tuple(p.words for p in taken),
            resolves=tuple(f.fingerprint for f in asked if f.fingerprint not in left),
            leaves=tuple(f.fingerprint for f in asked if f.fingerprint in left),
            brings=tuple(_name(f) for f in _new(self.start.result, state.result)),
            proof=_proof(state.clusters, asked),
            proved=all(p.proved for p in taken),
            patch="".join(f.diff() for f in rewritten(edits)),
        )

    def _filled(self) -> Alternative | None:
        """One alternative with every quota that `fill` sets; it may bring no error."""
        proposals = [p for c in self.start.clusters for p in filling_proposals(c, self._wishes)]
        values = tuple(Replacement(place, text) for p in proposals for place, text in p.values)
        if not values:
            return None
        words = "; ".join(p.words for p in proposals)
        after = self._tried_out(self.start, Proposal(Kind.QUOTA, tuple((v.place, v.text) for v in values), words))
        if after is None:
            return None
        return self._told(Kind.QUOTA, proposals, after, self.asked(self.start))


def _name(finding: Finding) -> str:
    return f"{finding.rule.id} {finding.rule.name}" if finding.rule else finding.message


def _new(before: Result, after: Result) -> list[Finding]:
    """The errors and warnings that were not there before, or were less grave."""
    known = {(f.fingerprint, f.severity) for f in before.findings}
    known |= {(fingerprint, Severity.WARNING) for fingerprint, severity in known if severity is Severity.ERROR}
    return [f for f in after.findings if f.severity != "note" and (f.fingerprint, f.severity) not in known]


def rewritten(edits: Iterable[ValueEdit]) -> list[Fixed]:
    """Return the files with some values replaced, in order of path."""
    by_file: dict[str, list[ValueEdit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    found = []
    for path, mine in sorted(by_file.items()):
        origin = mine[0].place.origin
        assert isinstance(origin, Document)
        changes = {edit_of(Replacement(e.place, e.new.strip("\"'"))) for e in mine}
        before = origin.text.text
        found.append(Fixed(path=path, before=before, after=edited(before, sorted(changes)), objects=len(mine)))
    return found


def kept_places(files: Iterable[Loaded]) -> frozenset[tuple[str, int]]:
    """Return the lines that `# qcheck: keep` speaks of: its own, or the one below where it stands alone."""
    found = set()
    for file in files:
        for comment in file.comments("qcheck:"):
            if comment.text.removeprefix("qcheck:").split()[:1] == ["keep"]:
                found.add((file.text.path, comment.line + comment.stands_alone))
    return frozenset(found)


def _proof(clusters: Iterable[Cluster], asked: Iterable[Finding]) -> str:
    """The sums after the edits: what the pools in question promise of a resource, and what their nodes can supply."""
    by_name = {c.name: c for c in clusters}
    overdrafts = [f for f in asked if f.rule is not None and f.rule.id == OVERDRAFT]
    sums = [_sum(by_name[f.cluster], str(f.data["resource"]), f.data["flavors"]) for f in overdrafts]
    return "; ".join(s for s in sums if s) or "the rules report nothing more"


def _sum(cluster: Cluster, resource: str, pools: Datum) -> str:
    names = pools if isinstance(pools, list) else ()
    held = [(key, c) for (key, name), cells in promises_of(cluster).cells.items() if name == resource for c in cells]
    cells = [c for key, c in held if pool_name(key) in names]
    keys = {key for key, _ in held if pool_name(key) in names}
    groups = {m.group.name: m.group for key in keys for m in supply_of(cluster).matches(key)}
    if not cells or not groups:
        return ""
    behind = [g for g in groups.values() if g.advertises(resource)]
    scale = cell_scale(resource, cells, behind)
    have = supplied(scale, behind, at_best=True)
    return f"promised {promised(scale, cells)}; the nodes can supply {have}"
