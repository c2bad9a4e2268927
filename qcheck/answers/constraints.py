"""Constraints on edits, and the mode in which quotas change."""

from __future__ import annotations

from enum import StrEnum

from qcheck.cluster.quantity import QuantityError, amount, parse_quantity
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.cluster.place import Place
    from qcheck.quota.tree import Cell


class Mode(StrEnum):
    """The mode of lowering quotas: as few as possible, all in proportion, or set from what the nodes have."""

    MINIMAL = "minimal"
    PROPORTIONAL = "proportional"
    FILL = "fill"


class Headroom(Value):
    """The capacity that `fill` leaves free: a number of devices, of nodes, or a percentage of the total."""

    devices: int = 0
    nodes: int = 0
    percent: int = 0


class Constraints(Value):
    """The user's constraints on suggestions.

    `kept` queues and the values at `kept_places` (path, line) do not change; `floors` are minimum accelerators per
    queue.
    """

    mode: Mode = Mode.MINIMAL
    kept: frozenset[str] = frozenset()
    kept_places: frozenset[tuple[str, int]] = frozenset()
    floors: dict[str, int] = {}
    headroom: Headroom = Headroom()

    @property
    def binds(self) -> bool:
        """Return whether there is any constraint."""
        return bool(self.kept or self.kept_places or self.floors)

    def keeps(self, cell: Cell) -> bool:
        """Return whether a cell's amount must not change."""
        return cell.holder in self.kept or self.keeps_place(cell.place)

    def keeps_place(self, place: Place) -> bool:
        """Return whether a comment keeps the value at a place."""
        return bool(self.kept_places) and (place.origin.path, place.span[0]) in self.kept_places

    def floor(self, cell: Cell) -> int | None:
        """Return the minimum to which a cell may be lowered; None if it is kept."""
        if self.keeps(cell):
            return None
        return self.floors.get(cell.holder, 0) if is_compute(cell.resource) else 0

    def objection(self, cell: Cell, text: str) -> str:
        """Return why a cell may not be written as `text`; empty if it may."""
        floor = self.floor(cell)
        if floor is None:
            return f"the quota of {cell.holder} is kept"
        try:
            return "" if not floor or amount(cell.resource, parse_quantity(text)) >= floor else self._below(cell, floor)
        except QuantityError:
            return ""

    def _below(self, cell: Cell, floor: int) -> str:
        return f"--floor leaves {cell.holder} at least {floor} {cell.resource}"
