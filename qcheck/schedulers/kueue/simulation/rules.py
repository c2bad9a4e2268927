"""Rules of a simulation that depend on the Configuration and the release."""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.gates import is_on
from qcheck.schedulers.kueue.simulation.fair import DEFAULT_STRATEGIES, Strategy

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster

OVERLAP_GATE = "RecomputeAssignmentUponPreemptionTargetsOverlap"
SHAPES_GATE = "SchedulingEquivalenceHashing"
OWN_QUOTA_GATE = "FairSharingPreemptWithinNominal"
NON_BORROWING_GATE = "FairSharingPrioritizeNonBorrowing"
_REASONS_GATE, _REASONS_SINCE = "UnadmittedWorkloadsObservability", 20
_STICKY_SINCE = 15


class Rules(Value):
    """The switches of a simulation.

    * `strategies`: those of fair sharing; empty for classical preemption.
    * `recomputes_overlaps`: a head whose victims another one took is assigned again in the same cycle.
    * `groups_shapes`: equal workloads are set aside together.
    * `takes_own_quota`: with fair sharing, a queue within its quota takes from borrowers regardless of shares.
    * `prefers_non_borrowing`: with fair sharing, entries that borrow come after others.
    * `has_sticky_heads`: a BestEffortFIFO queue offers the workload that preempted before any other.
    * `names_reasons`: waiting workloads have a reason of their own instead of Pending.
    """

    strategies: tuple[Strategy, ...] = ()
    recomputes_overlaps: bool = True
    groups_shapes: bool = True
    takes_own_quota: bool = True
    prefers_non_borrowing: bool = True
    has_sticky_heads: bool = True
    names_reasons: bool = True

    @property
    def is_fair(self) -> bool:
        return bool(self.strategies)


def rules_of(cluster: Cluster, is_fair: bool | None = None) -> Rules:
    """Return the rules of a cluster's release and Configuration. `is_fair` None: the Configuration decides."""
    manager, release = cluster.configuration, cluster.policy.kueue
    if is_fair is None:
        is_fair = manager is not None and manager.fair_sharing
    written = manager.preemption_strategies if manager else ()
    given = tuple(s for s in Strategy for word in written if word == s)
    chosen = cluster.feature_gates.get(_REASONS_GATE)
    return Rules(
        strategies=(given or DEFAULT_STRATEGIES) if is_fair else (),
        recomputes_overlaps=is_on(cluster, OVERLAP_GATE),
        groups_shapes=is_on(cluster, SHAPES_GATE),
        takes_own_quota=is_on(cluster, OWN_QUOTA_GATE),
        prefers_non_borrowing=is_on(cluster, NON_BORROWING_GATE),
        has_sticky_heads=release.at_least(_STICKY_SINCE),
        names_reasons=release.at_least(_REASONS_SINCE) if chosen is None else chosen,
    )
