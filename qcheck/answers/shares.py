"""Shares of busy queues, for every scheduler."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai import shares as kai
from qcheck.schedulers.kueue import shares as kueue
from qcheck.schedulers.table import trees_of
from qcheck.schedulers.volcano import shares as volcano

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.shares import Demand, PoolShares, Usage

    Divides = Callable[[Cluster, Demand, Usage], tuple[PoolShares, ...]]

SCHEDULERS: tuple[Divides, ...] = (kueue.shares, kai.shares, volcano.shares)
"""The functions that divide each scheduler's quota; each returns nothing for a cluster without its queues."""


def shares(cluster: Cluster, demand: Demand, usage: Usage) -> tuple[PoolShares, ...]:
    """Return the pools of all schedulers, in the order of `SCHEDULERS`."""
    return tuple(pool for divide in SCHEDULERS for pool in divide(cluster, demand, usage))


def nodes_above(cluster: Cluster) -> set[str]:
    """Return all queues of a cluster by name, including parents, which past usage may also name."""
    return {node.name for tree in trees_of(cluster) for node in tree.nodes}


def queue_names(pools: tuple[PoolShares, ...]) -> set[str]:
    """Return the queues that can hold workloads."""
    return {queue.queue for pool in pools for queue in pool.queues}
