"""The share by which fair sharing compares queues and cohorts: the dominant resource's borrowed part over the weight.

Source: Kueue 0.20 `pkg/cache/scheduler/fair_sharing.go`. In double precision, as upstream.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.schedulers.kueue.simulation.ledger import LedgerNode

    DominantShare = tuple[bool, float]
    """The share: whether it is infinite (weight 0 and borrowing), and its value, or else the ratio without the weight.
    """


def dominant_share(node: LedgerNode) -> DominantShare:
    """Return the current share of a node, as a value that compares as Kueue compares shares."""
    ratio = node.borrowed_ratio()
    if node.weight == 0:
        return ratio > 0, ratio
    return False, ratio / node.weight
