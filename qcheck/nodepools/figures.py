"""Reads the figures of one pool, and records those that are written but unknown.

A value that is missing has the format's default; one that is an expression or a placeholder has none, and is a doubt.
"""

from __future__ import annotations

import re

from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.unresolved import Unresolved
from qcheck.nodepools.scalars import EFFECTS, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.labels import Labels
    from qcheck.documents.cursor import Cursor

from qcheck.cluster.labels import Taint

PLACEHOLDER = r"(?s)\$\{.*\}|\$[A-Z_]+|PLACEHOLDER.*|<[^<>]+>|\{\{.*\}\}"
"""Text to be replaced before use, by envsubst or by hand."""


class Doubt(Value):
    """An unknown figure: the field, its expression, and its place."""

    field: str
    written: str
    place: Place

    def __str__(self) -> str:
        return f"{self.field} is {self.written}"


class Count(Value):
    """The number of nodes in total over all zones; `doubt` if it is unknown."""

    place: Place
    minimum: int
    desired: int | None
    maximum: int | None
    doubt: Doubt | None = None

    def times(self, zones: int) -> Count:
        """The same number in each of some zones."""
        want = None if self.desired is None else self.desired * zones
        high = None if self.maximum is None else self.maximum * zones
        return Count(place=self.place, minimum=self.minimum * zones, desired=want, maximum=high, doubt=self.doubt)


def fixed(number: int, at: Cursor) -> Count:
    """A pool that nothing scales."""
    return Count(place(at), number, number, number)


def written_count(at: Cursor, default: int = 0) -> Count:
    """A fixed number of nodes in one field; `default` where it is not written."""
    figures = Figures()
    number = figures.whole(at)
    if figures.doubt is not None:
        return Count(place=place(at), minimum=0, desired=None, maximum=None, doubt=figures.doubt)
    return fixed(default if number is None else number, at)


class Figures:
    """Reads fields; `doubt` is the first one that could not be told.

    `open` names what is incomplete as a whole, so that nothing follows from its absence: labels, taints.
    """

    def __init__(self) -> None:
        self.doubt: Doubt | None = None
        self.open: set[str] = set()

    def whole(self, at: Cursor) -> int | None:
        """A number of nodes or devices, which may be written as text; None if it is absent or in doubt."""
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
        """A list of texts; one that cannot be told as a whole or in part is a doubt."""
        if at.exists and not isinstance(at.data, list):
            self._doubts(at, at.meant())
        return tuple(t for each in at.items() if (t := self.text(each)) is not None)

    def labels(self, at: Cursor) -> Labels:
        if at.exists and not isinstance(at.data, dict):
            self._doubts(at, at.meant())
            self.open.add("labels")
        return {k: t for k, each in at.mapping() if (t := self._label(each)) is not None}

    def _label(self, at: Cursor) -> str | None:
        """An empty label value is a value."""
        return "" if at.data == "" else self.text(at)

    def taints(self, at: Cursor) -> tuple[Taint, ...]:
        """A list (or, as modules have it, a map) of `{key, value, effect}`; effects also as cloud APIs spell them."""
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
            self.doubt = Doubt(_field(at), how or "of another type than expected", place(at))


def _field(at: Cursor) -> str:
    """The last named step of a route."""
    return next((step for step in reversed(at.route) if isinstance(step, str)), "it")


def first_doubt(*doubts: Doubt | None) -> Doubt | None:
    return next((d for d in doubts if d is not None), None)


def unresolved_keys(at: Cursor) -> Iterator[str]:
    """Labels that are set to something that cannot be told."""
    return (key for key, each in at.mapping() if isinstance(each.data, Unresolved))
