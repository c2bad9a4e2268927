"""The number of equal workloads that get quota at once: the pods of a Deployment, the groups of a LeaderWorkerSet."""

from __future__ import annotations

from qcheck.cluster.kueue import FungibilityPolicy
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.cohort_tree import cohort_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.assignment import Assignment, Used

_UNBOUND = 2**31


def how_many(cluster: Cluster, queue: ClusterQueue, assign: Callable[[Used], Assignment], copies: int) -> int:
    """Return how many of `copies` workloads fit one after the other. `assign` receives what is already held."""
    held: Used = {}
    done = 0
    while done < copies:
        assignment = assign(held)
        if not assignment.fits:
            break
        usage = assignment.usage()
        step = min(copies - done, _alike(cluster, queue, held, usage))
        for cell, taken in usage.items():
            held[cell] = held.get(cell, 0) + step * taken
        done += step
    return done


def _alike(cluster: Cluster, queue: ClusterQueue, held: Used, usage: Used) -> int:
    """Return how many workloads from this one on certainly get these same flavors; at least this one."""
    if queue.fungibility.when_can_borrow is FungibilityPolicy.TRY_NEXT_FLAVOR:
        return 1
    rooms = [
        (cohort_tree(cluster).queue_potential(queue.name, cell) - held.get(cell, 0)) // taken
        for cell, taken in usage.items()
        if taken
    ]
    return max(1, min(rooms, default=_UNBOUND))
