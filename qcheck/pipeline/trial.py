"""Trials: the inputs with some values replaced, judged as if the files contained them.

A rendered value is edited in its source, a known base or patch, and in everything else that is rendered from there.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.document import Document
from qcheck.documents.embedded import EmbeddedDocument
from qcheck.documents.hcl import HclDocument
from qcheck.documents.traced import Traced
from qcheck.findings.suggestions import ValueEdit
from qcheck.pipeline.check import checked
from qcheck.pipeline.gather import modelled
from qcheck.pipeline.what_if import Impossible, Replacement, edit_of, with_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place, Route
    from qcheck.findings.result import Result
    from qcheck.pipeline.gather import ReadInputs
    from qcheck.pipeline.read import Watch
    from qcheck.settings import Settings

    Spot = tuple[str, int, Route]
    """Path, number of the document in its file, and route."""

FEWEST_TRIALS = 12
OBJECTS_JUDGED = 16_000
"""The maximum number of objects to judge again over all trials, which bounds the time: large inputs get few trials."""


class TrialState(Value):
    """The inputs with some values replaced, and the resulting findings."""

    values: tuple[Replacement, ...]
    clusters: tuple[Cluster, ...]
    result: Result


class Trials:
    """Applies values to what was read. No trial is made twice."""

    def __init__(
        self, read: ReadInputs, settings: Settings, watch: Watch, objects_judged: int = OBJECTS_JUDGED
    ) -> None:
        self._read = read
        self._settings = settings
        self._watch = watch
        self._known: dict[frozenset[tuple[Spot, str]], TrialState] = {}
        self._edits: dict[Replacement, ValueEdit] = {}
        self._documents = {(d.path, d.index): d for d in _documents(read)}
        self._traced = [d for d in self._documents.values() if isinstance(d, Traced)]
        self.start = self._judged((), read)
        least = FEWEST_TRIALS * objects_judged // OBJECTS_JUDGED
        self.most = max(least, objects_judged // max(1, self.start.result.inputs.objects))

    @property
    def is_spent(self) -> bool:
        """Return whether no more trials are allowed."""
        return len(self._known) > self.most

    def after(self, state: TrialState, values: Iterable[tuple[Place, str]]) -> TrialState:
        """Return a state with further values applied. Raises `Impossible` if one cannot be written."""
        by_spot = {spot_of(v.place): v for v in state.values}
        for place, text in values:
            first = self._first(place)
            self.edit(Replacement(first, text))
            by_spot.update((spot_of(p), Replacement(p, text)) for p in self._copies(first))
        key = frozenset((spot, v.text) for spot, v in by_spot.items())
        if key not in self._known:
            made = tuple(by_spot.values())
            self._known[key] = self._judged(made, with_values(self._read, made, self._settings.limits))
        return self._known[key]

    def edits(self, state: TrialState) -> tuple[ValueEdit, ...]:
        """Return the edits of the files that people write, in order."""
        found = {(e.file, e.place.span): e for e in map(self.edit, state.values)}
        return tuple(found[key] for key in sorted(found))

    def edit(self, value: Replacement) -> ValueEdit:
        """Return the edit of the file that a person writes. Raises `Impossible` if that is unknown."""
        if value not in self._edits:
            self._edits[value] = self._edit(value)
        return self._edits[value]

    def _edit(self, value: Replacement) -> ValueEdit:
        written = self._first(value.place).written()
        origin = written.origin
        if not isinstance(origin, Document) or isinstance(origin, EmbeddedDocument) or origin.source is not None:
            raise Impossible(f"{value.place.line}: the value was rendered, and its source is not known")
        start, end, new = edit_of(Replacement(written, value.text))
        old = origin.text.text[start:end]
        if isinstance(origin, HclDocument) and not origin.is_literal(written.route):
            raise Impossible(f"{value.place.line}: the value is the expression {old}")
        return ValueEdit(written, old, new, value.text)

    def _judged(self, values: tuple[Replacement, ...], read: ReadInputs) -> TrialState:
        self._watch("try", len(self._known), 0)
        gathered = modelled(read, self._settings)
        return TrialState(values, gathered.clusters, checked(gathered, self._settings))

    def _first(self, place: Place) -> Place:
        """Return the place as first read, whatever was replaced since: documents keep their path and number."""
        path, index, route = spot_of(place)
        document = self._documents.get((path, index))
        return place if document is None else type(place)(document, route, place.caption, place.on_key)

    def _copies(self, place: Place) -> Iterator[Place]:
        """Yield the place, the place where a person writes it, and those that are rendered from there."""
        yield place
        written = place.written()
        spot = spot_of(written)
        if spot[:2] in self._documents and not isinstance(written.origin, Traced):
            yield self._first(written)
        for document in self._traced:
            for route in {place.route, document.rendered_route(spot[:2], spot[2])}:
                if document.has(route) and spot_of(type(place)(document, route).written()) == spot:
                    yield type(place)(document, route)


def spot_of(place: Place) -> Spot:
    """Return the key of a value, valid in every state. Raises `Impossible` if no document contains it."""
    origin = place.origin
    if not isinstance(origin, Document):
        raise Impossible(f"{place.line}: the value is written in no document")
    return origin.path, origin.index, place.route


def _documents(read: ReadInputs) -> Iterator[Document]:
    for file in read.loaded:
        yield from file.documents
    for made in read.renders:
        for file in made.loaded if made else ():
            yield from file.documents
