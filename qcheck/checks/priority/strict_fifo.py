"""QC317: strict queues that their first workload blocks."""

from __future__ import annotations

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.kueue import QueueingStrategy
from qcheck.cluster.problems import QUOTA_KINDS
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.cluster.reasons import ReasonCause

_LETS_PASS: tuple[ReasonCause, ...] = (
    "namespace-not-selected",
    "queue-stopped",
    "queue-inactive",
    "priority-class-missing",
)
"""Causes that keep a workload out of the queue, or for which Kueue lets others pass."""


@rule("QC317")
def strict_fifo_blocked(cluster: Cluster) -> Iterator[Finding]:
    """Report strict queues with a workload that can never be admitted, or with several flavors to wait for."""
    stuck: dict[str, list[Verdict]] = {}
    for verdict in verdicts_of(cluster):
        decision = verdict.decision
        if decision.admitted is False and decision.cluster_queue and decision.reasons[0].cause not in _LETS_PASS:
            stuck.setdefault(decision.cluster_queue, []).append(verdict)
    for queue in cluster.queues:
        if queue.strategy is not QueueingStrategy.STRICT_FIFO:
            continue
        if queue.name in stuck:
            yield _blocked(cluster, queue, stuck[queue.name])
        elif any(len(g.flavors) > 1 for g in queue.groups):
            yield _several(queue)


def _blocked(cluster: Cluster, queue: ClusterQueue, verdicts: list[Verdict]) -> Finding:
    workloads = names(str(v.workload.id) for v in verdicts)
    message = (
        f"{queue.name} is StrictFIFO and {workloads} can never be admitted: once first in the queue, "
        "it blocks all others permanently"
    )
    found = (
        finding(queue.place.at("spec", "queueingStrategy"), message)
        .about(queue.id)
        .likely(not cluster.has_all(*QUOTA_KINDS))
    )
    for verdict in verdicts[:3]:
        reason = verdict.decision.reasons[0]
        found = found.near(reason.place, reason.message)
    return found.with_data(queue=queue.name, workloads=[str(v.workload.id) for v in verdicts])


def _several(queue: ClusterQueue) -> Finding:
    group = next(g for g in queue.groups if len(g.flavors) > 1)
    flavors = names(f.name for f in group.flavors)
    message = (
        f"{queue.name} is StrictFIFO over several flavors ({flavors}): a workload that waits for one of them blocks "
        "others that would fit into another"
    )
    return (
        finding(queue.place.at("spec", "queueingStrategy"), message)
        .about(queue.id)
        .near(group.place.at("flavors").key(), "the flavors")
        .at_most(Severity.WARNING)
        .with_data(queue=queue.name)
    )
