"""The fewest cells as an integer program, for HiGHS (`pip install kueue-qcheck[solver]`).

HiGHS uses floating point, so its answer is a proposal that the caller verifies in integers.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 5.0


def proposed_counts(
    wanted: Mapping[str, int],
    rooms: Mapping[str, Sequence[int]],
    reach: Mapping[str, Mapping[str, int | None]],
    capacity: Mapping[str, int | None],
) -> tuple[int, ...] | None:
    """Return how many of the largest cells of each pool to lower; None without the solver or an answer from it.

    Variables: whether a cell gives, how much it gives, and what each pool draws from each group of nodes.
    """
    try:
        import highspy
    except ImportError:
        return None
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", SECONDS)
    gives = {p: [model.addBinary(obj=1) for _ in rooms[p]] for p in rooms}
    drawn: dict[str, list[object]] = {}
    for pool, amount in wanted.items():
        flows = []
        for group, cap in reach[pool].items():
            most = min(n for n in (cap, capacity[group], amount) if n is not None)
            flows.append(flow := model.addVariable(lb=0, ub=most))
            drawn.setdefault(group, []).append(flow)
        given = [room * chosen for room, chosen in zip(rooms.get(pool, ()), gives.get(pool, ()), strict=True)]
        model.addConstr(sum(flows) + sum(given) >= amount)
    for group, all_flows in drawn.items():
        if (total := capacity[group]) is not None:
            model.addConstr(sum(all_flows) <= total)  # type: ignore[arg-type]
    model.run()
    if model.modelStatusToString(model.getModelStatus()) not in ("Optimal", "Time limit reached"):
        return None
    values = list(model.getSolution().col_value)
    return tuple(sum(round(values[chosen.index]) for chosen in gives[p]) for p in rooms) if values else None
