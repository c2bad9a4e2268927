"""Packings proposed by an integer-programming solver, for questions on which qcheck's own search ended early.

HiGHS (`pip install kueue-qcheck[solver]`) uses floating point, so its results are not trusted: they are rounded to
whole nodes, and the caller verifies them in integers. A failure to find one proves nothing.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.packing.question import Placement

if TYPE_CHECKING:
    from qcheck.packing.remaining import Posed
    from qcheck.packing.room import Filling

    Column = tuple[int, Filling]

MOST_FILLINGS = 2000
SECONDS = 2.0


def propose(posed: Posed) -> tuple[Placement, ...] | None:
    """Return placements to verify; None without the solver, without a proposal, or with too many fillings to offer."""
    try:
        import highspy  # an extra
    except ImportError:
        return None
    columns = _columns(posed)
    if columns is None:
        return None
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", SECONDS)
    used = [model.addIntegral(lb=0, ub=posed.counts[node]) for node, _ in columns]
    for node, count in enumerate(posed.counts):
        mine = [x for x, (of, _) in zip(used, columns, strict=True) if of == node]
        if mine:
            model.addConstr(sum(mine) <= count)
    for shape, wanted in enumerate(posed.wanted):
        placed = [filling[shape] * x for x, (_, filling) in zip(used, columns, strict=True) if filling[shape]]
        if wanted and not placed:
            return None
        if wanted:
            model.addConstr(sum(placed) >= wanted)
    model.run()
    values = list(model.getSolution().col_value)
    if len(values) != len(columns):
        return None
    times = [max(0, round(value)) for value in values]
    return tuple(Placement(node, filling, n) for (node, filling), n in zip(columns, times, strict=True) if n)


def _columns(posed: Posed) -> list[Column] | None:
    """Return every full filling of every class of nodes; None if there are too many."""
    found: list[Column] = []
    for node, (room, count) in enumerate(zip(posed.rooms, posed.counts, strict=True)):
        fillings = room.fillings(MOST_FILLINGS) if count else []
        if fillings is None or len(found) + len(fillings) > MOST_FILLINGS:
            return None
        found += [(node, f) for f in fillings]
    return found
