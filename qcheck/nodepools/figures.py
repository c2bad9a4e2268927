"""Readers for the parts that many formats share: values of the wrong type count as absent.

`Figures` also records values that are set but unknown. A missing value has the format's default; an expression or a
placeholder has none, and is a doubt.
"""

from __future__ import annotations

import re

from qcheck.cluster.labels import Taint
from qcheck.cluster.place import Place
from qcheck.cluster.quantity import QuantityError, amount, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.composed import Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.labels import Labels
    from qcheck.documents.cursor import Cursor

PLACEHOLDER = r"(?s)\$\{.*\}|\$[A-Z_]+|PLACEHOLDER.*|<[^<>]+>|\{\{.*\}\}"
"""Text to replace before use, by envsubst or by hand."""
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


class Doubt(Value):
    """An unknown figure: its field, its expression, and its place."""

    field: str
    written: str
    place: Place

    def __str__(self) -> str:
        return f"{self.field} is {self.written}"


class Count(Value):
    """The total number of nodes over all zones; `doubt` is set if it is unknown."""

    place: Place
    minimum: int
    desired: int | None
    maximum: int | None
    doubt: Doubt | None = None

    def times(self, zones: int) -> Count:
        """Return the same count in each of `zones` zones, as a total."""
        want = None if self.desired is None else self.desired * zones
        high = None if self.maximum is None else self.maximum * zones
        return Count(place=self.place, minimum=self.minimum * zones, desired=want, maximum=high, doubt=self.doubt)


def fixed(number: int, at: Cursor) -> Count:
    """Return the count of a pool that nothing scales."""
    return Count(place(at), number, number, number)


def written_count(at: Cursor, default: int = 0) -> Count:
    """Return a fixed number of nodes from one field; `default` if it is absent."""
    figures = Figures()
    number = figures.whole(at)
    if figures.doubt is not None:
        return Count(place=place(at), minimum=0, desired=None, maximum=None, doubt=figures.doubt)
    return fixed(default if number is None else number, at)


class Figures:
    """A reader of fields; `doubt` is the first one that could not be determined.

    `open` names collections that are incomplete, so that absence from them proves nothing: labels, taints.
    """

    def __init__(self) -> None:
        self.doubt: Doubt | None = None
        self.open: set[str] = set()

    def whole(self, at: Cursor) -> int | None:
        """Return a number of nodes or devices, which may be written as text; None if it is absent or in doubt."""
        written = at.meant()
        if written is not None and written.isdecimal() and len(written) < 10:
            return int(written)
        if at.exists:
            self._doubts(at, written)
        return None

    def text(self, at: Cursor) -> str | None:
        written = at.meant()
        if written is not None and not re.fullmatch(PLACEHOLDER, written):
            return written or None
        if at.exists:
            self._doubts(at, written)
        return None

    def flag(self, at: Cursor) -> bool:
        written = at.meant()
        if written in ("true", "false"):
            return written == "true"
        if at.exists:
            self._doubts(at, written)
        return False

    def texts(self, at: Cursor) -> tuple[str, ...]:
        """Return a list of texts; an entry or a whole list that cannot be determined is a doubt."""
        if at.exists and not isinstance(at.data, list):
            self._doubts(at, at.meant())
        return tuple(t for each in at.items() if (t := self.text(each)) is not None)

    def labels(self, at: Cursor) -> Labels:
        if at.exists and not isinstance(at.data, dict):
            self._doubts(at, at.meant())
            self.open.add("labels")
        return {k: t for k, each in at.mapping() if (t := self._label(each)) is not None}

    def _label(self, at: Cursor) -> str | None:
        """Return a label value, which may be empty."""
        return "" if at.data == "" else self.text(at)

    def taints(self, at: Cursor) -> tuple[Taint, ...]:
        """Return taints from a list (in modules, a map) of `{key, value, effect}`; effects may be a cloud API's."""
        if isinstance(at.data, dict) and "effect" in at.data:
            return self._taint(at)
        if at.exists and not isinstance(at.data, (list, dict)):
            self._doubts(at, at.meant())
            self.open.add("taints")
        entries = at.items() or [each for _, each in at.mapping()]
        return tuple(t for each in entries for t in self._taint(each))

    def _taint(self, at: Cursor) -> tuple[Taint, ...]:
        if isinstance(at.data, Unresolved):
            self._doubts(at, None)
        key, effect = self.text(at["key"]), self.text(at["effect"])
        if key is None or effect is None:
            self.open.add("taints")
            return ()
        return (Taint(key, self._label(at["value"]) or "", EFFECTS.get(effect, effect)),)

    def _doubts(self, at: Cursor, written: str | None) -> None:
        if self.doubt is None:
            how = at.data.expression if isinstance(at.data, Unresolved) else written
            self.doubt = Doubt(_field(at), how or "of an unexpected type", place(at))


def _field(at: Cursor) -> str:
    """Return the last named step of a route."""
    return next((step for step in reversed(at.route) if isinstance(step, str)), "it")


def first_doubt(*doubts: Doubt | None) -> Doubt | None:
    return next((d for d in doubts if d is not None), None)


def unresolved_keys(at: Cursor) -> Iterator[str]:
    """Yield the labels whose values are unresolved."""
    return (key for key, each in at.mapping() if isinstance(each.data, Unresolved))


def place(at: Cursor) -> Place:
    return Place(at.document, at.route)


def texts(at: Cursor) -> tuple[str, ...]:
    return tuple(t for c in at.items() if (t := c.meant()) is not None)


def taints(at: Cursor) -> tuple[Taint, ...]:
    """Return taints from a list of `{key, value, effect}`; effects may be spelled as in cloud APIs."""
    found = []
    for each in at.items():
        effect = each["effect"].text() or ""
        found.append(Taint(each["key"].text() or "", each["value"].meant() or "", EFFECTS.get(effect, effect)))
    return tuple(found)


def written_taint(written: str) -> Taint:
    """Parse `key=value:Effect` or `key:Effect`."""
    name, _, effect = written.rpartition(":")
    key, _, value = name.partition("=")
    return Taint(key, value, effect)


def amounts(at: Cursor) -> dict[str, int]:
    """Return quantities by resource in base units; invalid ones are omitted, and negative ones count as 0."""
    found = {}
    for resource, cursor in at.mapping():
        try:
            found[resource] = max(0, amount(resource, parse_quantity(cursor.data)))
        except QuantityError:
            continue
    return found
