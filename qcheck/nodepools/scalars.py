"""Tolerant reading of the parts that many formats share: values of the wrong type count as absent."""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.place import Place
from qcheck.cluster.quantity import QuantityError, amount, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.documents.cursor import Cursor

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


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
