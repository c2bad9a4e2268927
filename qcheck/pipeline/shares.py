"""Shares in each cluster, for a given demand and past usage."""

from __future__ import annotations

from qcheck.answers.question import QuestionError
from qcheck.answers.shares import nodes_above, queue_names, shares
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.pipeline.demand import read_demand, read_usage
from qcheck.quota.shares import NO_USAGE, Demand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.shares import PoolShares


def divide(
    clusters: Sequence[Cluster], demand_file: str | None, usage_file: str | None, busy: Sequence[str]
) -> tuple[tuple[str, tuple[PoolShares, ...]], ...]:
    """Return the pools of each cluster by its name. Raises `QuestionError` for unreadable files and unknown queues."""
    demand, usage, named, used = Demand(), NO_USAGE, [], []
    if demand_file is not None or usage_file is not None:
        if demand_file is not None:
            demand, names = read_demand(demand_file)
            named.append(names)
        if usage_file is not None:
            usage, names = read_usage(usage_file)
            used.append(names)
    demand = replace(demand, busy=frozenset(busy))
    divided = tuple((cluster.name, shares(cluster, demand, usage)) for cluster in clusters)
    known = {name for _, pools in divided for name in queue_names(pools)}
    for names in named:
        names.check(known)
    for names in used:
        names.check(known.union(*map(nodes_above, clusters)))
    unknown = [name for name in busy if name not in known]
    if unknown:
        there = ", ".join(sorted(known)) or "none"
        raise QuestionError([f"--busy: there is no queue {name!r}; there are: {there}" for name in unknown])
    return divided
