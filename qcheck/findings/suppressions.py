"""Suppressions: `# qcheck: ignore[QC205] reason` in a file, `qcheck.dev/ignore.QC205: reason` on an object.

A comment applies on any line of a finding's places, or alone on the line above one. A reason is required and there is
no blanket form. A malformed, expired or unused suppression is itself a finding (QC012).
"""

from __future__ import annotations

import re

from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place, follow
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Origin, Span
    from qcheck.findings.catalogue import Rule

    Marker = tuple[int, str, bool, Origin]
    """A comment addressed to qcheck: line, text from `qcheck:` on, whether it is alone on its line, and document."""

ANNOTATION = "qcheck.dev/ignore."
WORDS = ("ignore", "disable", "skip", "noqa", "suppress", "silence", "ignore-file")
MEANT = "write `# qcheck: ignore[QC205] reason`, optionally with `until=2027-01-31` before the reason"


class Suppression(Value):
    """A request to suppress `rules` (ids) for a reason, from a comment (`lines` of `place`'s file) or on an object.

    `until` is an ISO date or ""; `wrong` says why it is invalid, "" if it is valid.
    """

    place: Place
    rules: tuple[str, ...]
    until: str = ""
    wrong: str = ""
    lines: tuple[int, ...] = ()
    owner: ObjectId | None = None
    inside: Place | None = None

    def covers(self, found: Finding) -> bool:
        """Return whether it suppresses a finding."""
        if self.wrong or found.rule is None or found.rule.id not in self.rules:
            return False
        if self.owner is not None and found.object == self.owner:
            return True
        return any(self._touches(place) for place in (found.primary, *found.related))

    def _touches(self, place: Place) -> bool:
        if self.inside is not None:
            own = self.inside
            return place.origin is own.origin and place.route[: len(own.route)] == own.route
        if place.origin.path != self.place.origin.path:
            return False
        first, _, last, end_column = place.span
        last -= last > first and end_column == 1
        return any(first <= line <= last for line in self.lines)


class SuppressionIndex:
    """Suppressions by what they apply to: thousands of findings meet thousands of comments."""

    def __init__(self, suppressions: Sequence[Suppression]) -> None:
        self._all = suppressions
        self._lines: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._objects: dict[tuple[str, object], list[int]] = {}
        for position, each in enumerate(suppressions):
            for rule in each.rules:
                owners = [key for key in (each.owner, each.inside and id(each.inside.origin)) if key is not None]
                for key in owners:
                    self._objects.setdefault((rule, key), []).append(position)
                written = self._lines.setdefault((rule, each.place.origin.path), [])
                written += [(line, position) for line in each.lines]
        for listed in self._lines.values():
            listed.sort()

    def covering(self, found: Finding) -> list[int]:
        """Return the positions of the suppressions that cover a finding."""
        from bisect import bisect_left  # 0.1 ms

        rule = found.rule.id if found.rule else ""
        near = set(self._objects.get((rule, found.object), ()))
        for place in (found.primary, *found.related):
            near.update(self._objects.get((rule, id(place.origin)), ()))
            listed = self._lines.get((rule, place.origin.path))
            if listed:
                first, _, last, _ = place.span
                near.update(p for _, p in listed[bisect_left(listed, (first,)) : bisect_left(listed, (last + 1,))])
        return [position for position in sorted(near) if self._all[position].covers(found)]


def read_suppressions(
    markers: Iterable[Marker], clusters: Iterable[Cluster], catalogue: Mapping[str, Rule], today: str | None = None
) -> list[Suppression]:
    """Return all suppressions, including invalid ones. `today` is an ISO date; None uses the current date if needed."""
    names = {word: r.id for r in catalogue.values() for word in (r.id, r.name)}
    found = [_of_comment(marker, names, today) for marker in markers if _is_meant(marker[1])]
    for cluster in clusters:
        found += _of_annotations(cluster, names, today)
    return found


def _is_meant(text: str) -> bool:
    """Return whether a comment is intended as a suppression, valid or not; others may also begin with `qcheck:`."""
    word = re.split(r"[^a-z-]", text.removeprefix("qcheck:").strip().lower(), maxsplit=1)[0]
    return "[" in text or word in WORDS or nearest(word, WORDS) is not None


def _of_comment(marker: Marker, names: Mapping[str, str], today: str | None) -> Suppression:
    line, text, stands_alone, spot = marker
    place = Place(spot)
    head, bracket, rest = text.removeprefix("qcheck:").strip().partition("[")
    inside, closing, reason = rest.partition("]")
    words = [w.strip() for w in inside.split(",") if w.strip()]
    if head.strip() != "ignore" or not bracket or not closing or not words:
        return Suppression(place, (), wrong=f"`{text}` is not a suppression: {MEANT}")
    lines = (line, _line_below(spot, line)) if stands_alone else (line,)
    return _judged(Suppression(place, (), lines=lines), words, reason, names, today)


def _line_below(spot: Origin, line: int) -> int:
    """Return the line to which a comment on its own line applies: the next one that is not a comment."""
    while spot.line(line + 1).lstrip().startswith("#"):
        line += 1
    return line + 1


def _of_annotations(cluster: Cluster, names: Mapping[str, str], today: str | None) -> Iterator[Suppression]:
    objects = [(o.place, o.id, o.annotations) for o in cluster.all_objects()]
    pools = [(p.place, None, _annotations(p.place)) for p in cluster.pools]
    for place, owner, notes in (*objects, *pools):
        for key, reason in notes.items():
            if key.startswith(ANNOTATION):
                written = place.at("metadata", "annotations", key).key()
                whole = Suppression(written, (), owner=owner, inside=place)
                yield _judged(whole, [key.removeprefix(ANNOTATION)], reason, names, today)


def _annotations(place: Place) -> dict[str, str]:
    """Return the annotations of a node pool that is written as an object."""
    found = follow(place.origin.data, (*place.route, "metadata", "annotations"))
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _judged(
    base: Suppression, words: list[str], reason: str, names: Mapping[str, str], today: str | None
) -> Suppression:
    unknown = [w for w in words if w not in names]
    dates = [w for w in reason.split() if w.startswith("until=")]
    until = dates[0].removeprefix("until=") if dates else ""
    explanation = " ".join(w for w in reason.split() if w not in dates).strip(" -:#")
    wrong = ""
    if unknown:
        wrong = f"no rule is called {unknown[0]}{_near(unknown[0], names)}"
    elif not explanation:
        wrong = f"the suppression of {', '.join(words)} has no reason, so it has no effect"
    elif until:
        wrong = _expired(until, today)
    rules = tuple(names[w] for w in words if w in names)
    return Suppression(
        place=base.place, rules=rules, until=until, wrong=wrong, lines=base.lines, owner=base.owner, inside=base.inside
    )


def _near(word: str, names: Mapping[str, str]) -> str:
    close = nearest(word, names)
    return f"; did you mean {close}?" if close else ""


def _expired(until: str, today: str | None) -> str:
    from datetime import date  # 1.0 ms

    try:
        last = date.fromisoformat(until)
    except ValueError:
        return f"until={until} is not a date; write until=2027-01-31"
    now = date.fromisoformat(today) if today else date.today()
    return f"the suppression ended on {until}" if last < now else ""


def problems(suppressions: Iterable[Suppression], used: set[int], judged: set[str]) -> Iterator[Finding]:
    """Yield QC012. `used` are positions of suppressions that had an effect; `judged` the rules that ran everywhere.

    A suppression that several clusters read is used if it suppresses something in one of them.
    """
    listed = list(suppressions)
    useful = {_spot(listed[position]) for position in used}
    for spot, each in {_spot(each): each for each in listed}.items():
        if each.wrong:
            yield finding(each.place, each.wrong)
        elif spot not in useful and judged.issuperset(each.rules):
            text = f"nothing to suppress: {', '.join(each.rules)} finds nothing here"
            yield finding(each.place, text).fixed_by("Remove the suppression.")


def _spot(each: Suppression) -> tuple[str, Span, tuple[str, ...]]:
    return each.place.origin.path, each.place.span, each.rules
