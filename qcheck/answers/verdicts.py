"""The verdicts on all workloads of a cluster."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view

if TYPE_CHECKING:
    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster


@view
def verdicts_of(cluster: Cluster) -> tuple[Verdict, ...]:
    """Return the verdict on each workload, in the order of the workloads."""
    if not cluster.workloads:
        return ()
    from qcheck.answers.judge import judged_alike  # 1 ms; 2 ms with the next
    from qcheck.schedulers.kueue.workload_classes import workload_classes

    verdict = {id(w): v for members in workload_classes(cluster) for w, v in judged_alike(cluster, members)}
    return tuple(verdict[id(w)] for w in cluster.workloads)
