"""The decision of a scheduler that starts pods itself: whether a workload's queue lets it start, and why not.

Kueue's decision also contains flavors, so it is a separate value.
"""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.pods import PodTemplate
from qcheck.cluster.reasons import Reason
from qcheck.cluster.value import Value
from qcheck.cluster.workloads import PodSet


class StartingPods(Value):
    """Pods that start together: their pod set, the template from which the scheduler binds them, and their number."""

    pod_set: PodSet
    template: PodTemplate
    count: int


class RequiredDomain(Value):
    """A topology domain that all pods must share: of the last of `levels` (node labels from wide to narrow), in a pool."""

    pool: str
    levels: tuple[str, ...]
    place: Place


class StartDecision(Value):
    """The decision on an otherwise idle cluster. `admitted` None: unknown; `reasons` explain why.

    `starts` are the pods that must find nodes at once for the workload to start, all in one `domain` if it is given.
    """

    queue: str
    admitted: bool | None
    reasons: tuple[Reason, ...] = ()
    starts: tuple[StartingPods, ...] = ()
    domain: RequiredDomain | None = None
