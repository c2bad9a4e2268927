"""What was worked out about a cluster so far: equal questions are answered once.

Where the identity of an object is a key, the object is kept beside the answer, so that its identity stays its own.
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.cluster.pods import Quantities
    from qcheck.cluster.workloads import Workload
    from qcheck.packing.answer import Answer
    from qcheck.packing.kube_scheduler import Schedule
    from qcheck.schedulers.kueue.admission import Decision
    from qcheck.schedulers.kueue.inactive_queues import Inactive
    from qcheck.schedulers.kueue.routing import Destination
    from qcheck.supply.pod_requests import Bounds


class Memory:
    """Answers by what was asked.

    * `bounds`: what the LimitRanges of a namespace come to.
    * `completed`: requests of completed pods, by what they ask, the bounds, and the order of completion.
    * `inactive`: why a queue is inactive; `destinations`: where a workload goes; `decided`: whether it is admitted, by the
      flavors that are left out.
    * `admitted`: what was admitted, by queue, what was asked and on which terms; `placed`: what found its nodes, by what was
      asked and admitted. Refusals are not among them: their reasons have places of their own.
    * `solved`: packing questions.
    """

    def __init__(self) -> None:
        self.bounds: dict[str, Bounds] = {}
        self.completed: dict[tuple[Hashable, int, bool], tuple[Bounds, Quantities]] = {}
        self.inactive: dict[int, tuple[ClusterQueue, tuple[Inactive, ...]]] = {}
        self.destinations: dict[int, tuple[Workload, Destination]] = {}
        self.decided: dict[tuple[int, frozenset[str]], tuple[Workload, Decision]] = {}
        self.admitted: dict[Hashable, Decision] = {}
        self.placed: dict[Hashable, Schedule] = {}
        self.solved: dict[Hashable, Answer] = {}
