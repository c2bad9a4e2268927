"""The decision of a scheduler that starts pods itself: whether the queue of a workload lets it start, and why not.

Kueue's decision also contains flavors, so it is a separate value.
"""

from __future__ import annotations

from qcheck.cluster.pods import PodTemplate
from qcheck.cluster.reasons import Reason
from qcheck.cluster.value import Value
from qcheck.cluster.workloads import PodSet


class StartingPods(Value):
    """Pods that start together: the pod set, the template as the scheduler binds its pods, and how many there are."""

    pod_set: PodSet
    template: PodTemplate
    count: int


class StartDecision(Value):
    """The answer on an otherwise idle cluster. `admitted` None: cannot tell, and `reasons` say why.

    `starts` are the pods that must find nodes at once for the workload to start.
    """

    queue: str
    admitted: bool | None
    reasons: tuple[Reason, ...] = ()
    starts: tuple[StartingPods, ...] = ()
