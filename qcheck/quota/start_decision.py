"""The decision of a scheduler that starts pods itself: whether a workload's queue lets it start, and why not.

Kueue's decision also contains flavors, so it is a separate value.
"""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.pods import PodTemplate
from qcheck.cluster.reasons import Reason
from qcheck.cluster.value import Value
from qcheck.cluster.workloads import PodSet
from qcheck.supply.groups import NodeGroup


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


class NodeSet(Value):
    """Nodes that are near each other, as groups; of the nodes of a dump only those in the set."""

    name: str
    groups: tuple[NodeGroup, ...]


class RequiredNodeSet(Value):
    """Sets of nodes of which one must hold all pods. `words` names a set; `is_known`: the nodes of all sets are known."""

    sets: tuple[NodeSet, ...]
    words: str
    place: Place
    is_known: bool


class StartDecision(Value):
    """The decision on an otherwise idle cluster. `admitted` None: unknown; `reasons` explain why.

    `starts` are the pods that must find nodes at once for the workload to start, all in one `domain` if it is given.
    """

    queue: str
    admitted: bool | None
    reasons: tuple[Reason, ...] = ()
    starts: tuple[StartingPods, ...] = ()
    domain: RequiredDomain | RequiredNodeSet | None = None
