"""The linear relaxation, solved exactly: how many pods remain unplaced if nodes could be filled in fractions.

It minimises the shortage over all fillings (Gilmore and Gomory) and generates fillings as the prices require them. The
basis inverse is stored as integers over a common denominator (integer pivoting of Edmonds and Bareiss), so nothing is
rounded. Prices that leave a shortage are weights for a certificate.
"""

from __future__ import annotations

from math import gcd

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.packing.question import Weights

if TYPE_CHECKING:
    from qcheck.packing.remaining import Posed
    from qcheck.packing.room import Filling

_PIVOTS = 400


class FractionalFilling(Value):
    """`above / below` nodes of class `node` filled with `filling`."""

    node: int
    filling: Filling
    above: int
    below: int


class Relaxed(Value):
    """The outcome: a certificate, fractional fillings that place everything, or neither (work limit reached)."""

    certificate: Weights | None
    parts: tuple[FractionalFilling, ...] | None


def relax(posed: Posed) -> Relaxed:
    """Solve the relaxation of `posed`."""
    return _Simplex(posed).solve()


class _Column(Value):
    """A variable: its coefficient in each row, and its cost, which is 1 for an unplaced pod and 0 otherwise."""

    entries: tuple[int, ...]
    cost: int
    node: int | None = None
    filling: Filling = ()


class _Simplex:
    """The simplex method.

    Rows: one per shape (placed + unplaced - surplus pods = wanted), one per class (used + idle nodes).
    """

    def __init__(self, posed: Posed) -> None:
        self._posed = posed
        self._shapes = len(posed.wanted)
        size = self._shapes + len(posed.counts)
        self._inverse = [[int(i == j) for j in range(size)] for i in range(size)]
        self._values = [*posed.wanted, *posed.counts]
        self._below = 1
        self._basis = [self._unit(i, int(i < self._shapes)) for i in range(size)]

    def _unit(self, row: int, cost: int, sign: int = 1) -> _Column:
        return _Column(tuple(sign * (i == row) for i in range(self._shapes + len(self._posed.counts))), cost)

    def solve(self) -> Relaxed:
        for _ in range(_PIVOTS):
            if self._shortage() == 0:
                return Relaxed(None, self._parts())
            prices = self._prices()
            entering, certificate = self._price(prices)
            if certificate is not None:
                return Relaxed(certificate, None)
            if entering is None or not self._pivot(entering):
                break
        return Relaxed(None, None)

    def _shortage(self) -> int:
        return sum(v for v, column in zip(self._values, self._basis, strict=True) if column.cost)

    def _parts(self) -> tuple[FractionalFilling, ...]:
        return tuple(
            FractionalFilling(column.node, column.filling, value, self._below)
            for value, column in zip(self._values, self._basis, strict=True)
            if column.node is not None and value
        )

    def _prices(self) -> list[int]:
        """Return the price of one more unit of each row's right side, times the common denominator."""
        rows = [row for row, column in zip(self._inverse, self._basis, strict=True) if column.cost]
        return [sum(row[i] for row in rows) for i in range(len(self._values))]

    def _price(self, prices: list[int]) -> tuple[_Column | None, Weights | None]:
        """Return the most profitable variable, or the certificate that these prices give."""
        weights = tuple(max(0, p) for p in prices[: self._shapes])
        rooms, counts = self._posed.rooms, self._posed.counts
        best = [room.best(weights) if n else None for room, n in zip(rooms, counts, strict=True)]
        most = tuple(b.bound if b else 0 for b in best)
        if _gap(weights, most, self._posed) > 0:
            return None, _reduced(weights, most, tuple(b.filling if b else (0,) * self._shapes for b in best))
        gains = [((b.value + prices[self._shapes + c]) if b else 0, c) for c, b in enumerate(best)]
        gain, node = max(gains, key=lambda g: (g[0], -g[1]), default=(0, 0))
        chosen = best[node] if gains else None
        if gain > 0 and chosen is not None:
            entries = (*chosen.filling, *(int(c == node) for c in range(len(counts))))
            return _Column(entries, 0, node, chosen.filling), None
        return self._surplus(prices), None

    def _surplus(self, prices: list[int]) -> _Column | None:
        """Return a surplus pod or an idle node as the entering variable if its price calls for it."""
        for row, price in enumerate(prices):
            if row < self._shapes and price < 0:
                return self._unit(row, 0, -1)
            if row >= self._shapes and price > 0:
                return self._unit(row, 0)
        return None

    def _pivot(self, entering: _Column) -> bool:
        change = [sum(a * b for a, b in zip(row, entering.entries, strict=True) if b) for row in self._inverse]
        leaving = self._leaving(change)
        if leaving is None:
            return False
        pivot, below = change[leaving], self._below
        row, value = self._inverse[leaving], self._values[leaving]
        for i, factor in enumerate(change):
            if i != leaving:
                self._inverse[i] = [
                    (a * pivot - factor * b) // below for a, b in zip(self._inverse[i], row, strict=True)
                ]
                self._values[i] = (self._values[i] * pivot - factor * value) // below
        self._below = pivot
        self._basis[leaving] = entering
        return True

    def _leaving(self, change: list[int]) -> int | None:
        """Return the row that first reaches zero; on ties, rows of unplaced pods come first, then the lowest row."""
        chosen = None
        for i, factor in enumerate(change):
            if factor <= 0:
                continue
            if chosen is None:
                chosen = i
                continue
            here, there = self._values[i] * change[chosen], self._values[chosen] * factor
            if here < there or (here == there and self._basis[i].cost > self._basis[chosen].cost):
                chosen = i
        return chosen


def _gap(weights: tuple[int, ...], most: tuple[int, ...], posed: Posed) -> int:
    wanted = sum(w * n for w, n in zip(weights, posed.wanted, strict=True))
    return wanted - sum(m * n for m, n in zip(most, posed.counts, strict=True))


def _reduced(weights: tuple[int, ...], most: tuple[int, ...], example: tuple[Filling, ...]) -> Weights:
    """Divide all weights by their common factor."""
    common = gcd(*weights) or 1
    return Weights(tuple(w // common for w in weights), tuple(m // common for m in most), example)
