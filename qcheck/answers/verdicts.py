"""The verdicts on all workloads of a cluster."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import view

if TYPE_CHECKING:
    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster


@view
def verdicts_of(cluster: Cluster) -> tuple[Verdict, ...]:
    """Return what becomes of each workload, in the order of the workloads."""
    if not cluster.workloads:
        return ()
    from qcheck.answers.judge import judge  # 25 ms, with packing and the admission of Kueue

    return tuple(judge(cluster, w) for w in cluster.workloads)
