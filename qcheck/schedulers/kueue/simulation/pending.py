"""Waiting workloads: per queue, a heap of workloads to try and a set of inadmissible ones that wait for free quota.

Source: Kueue 0.20 `pkg/cache/queue/cluster_queue.go`, `manager.go`, `inadmissible_workloads.go`.
"""

from __future__ import annotations

import heapq

from qcheck.cluster.kueue import QueueingStrategy
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kueue.simulation.outcomes import Outcome, PendingPlace, WaitReason

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.simulation.rules import Rules
    from qcheck.schedulers.kueue.simulation.workload import Job, Order

_SET_ASIDE = (Outcome.NO_FIT, Outcome.NO_CANDIDATES)
_STICKY = (Outcome.PENDING_PREEMPTION, Outcome.DEFERRED_FIT)


class PendingWorkloads:
    """The waiting workloads of one queue. A StrictFIFO queue offers the same head until it is admitted."""

    def __init__(self, queue: ClusterQueue, rules: Rules) -> None:
        self._is_strict = queue.strategy is QueueingStrategy.STRICT_FIFO
        self._groups_shapes = rules.groups_shapes and not self._is_strict
        self._is_sticky = rules.has_sticky_heads and not self._is_strict
        self._reasons: dict[str, WaitReason] = {}
        self._heap: list[tuple[Order, str]] = []
        self._listed: set[str] = set()
        self._offered: dict[str, Job] = {}
        self._of_shape: dict[Hashable, dict[str, None]] = {}
        self._aside: dict[str, Job] = {}
        self._failed_shapes: dict[Hashable, WaitReason] = {}
        self._sticky: str | None = None

    def __iter__(self) -> Iterator[tuple[Job, PendingPlace]]:
        yield from ((job, PendingPlace.HEAP) for job in self._offered.values())
        yield from ((job, PendingPlace.INADMISSIBLE) for job in self._aside.values())

    @property
    def has_heads(self) -> bool:
        return bool(self._offered)

    def push(self, job: Job) -> None:
        """Add a workload; one whose shape failed before is inadmissible at once."""
        if self._groups_shapes and job.shape in self._failed_shapes:
            self._aside[job.name] = job
        else:
            self._offer(job)

    def take_back(self, job: Job) -> None:
        """Add an evicted workload again."""
        self._reasons[job.name] = WaitReason.PENDING_EVALUATION
        self.push(job)

    def _offer(self, job: Job) -> None:
        self._offered[job.name] = job
        self._of_shape.setdefault(job.shape, {})[job.name] = None
        if job.name not in self._listed:
            self._listed.add(job.name)
            heapq.heappush(self._heap, (job.order, job.name))

    def pop(self) -> Job | None:
        """Remove and return the head: the sticky workload, else the first in order."""
        if self._sticky in self._offered:
            return self._withdraw(self._sticky)
        while self._heap:
            _, name = heapq.heappop(self._heap)
            self._listed.discard(name)
            if name in self._offered:
                return self._withdraw(name)
        return None

    def _withdraw(self, name: str) -> Job:
        job = self._offered.pop(name)
        alike = self._of_shape[job.shape]
        del alike[name]
        if not alike:
            del self._of_shape[job.shape]
        return job

    def requeue(self, job: Job, outcome: Outcome, has_flavors_left: bool, reason: WaitReason) -> PendingPlace:
        """Put back a head that was not admitted, and return where it goes."""
        self._reasons[job.name] = reason
        if outcome in _STICKY and self._is_sticky:
            self._sticky = job.name
        if self._is_strict or has_flavors_left or outcome not in _SET_ASIDE:
            self._offer(job)
            return PendingPlace.HEAP
        self._aside[job.name] = job
        if self._groups_shapes:
            self._failed_shapes[job.shape] = reason
            for name in list(self._of_shape.get(job.shape, ())):
                self._aside[name] = self._withdraw(name)
        return PendingPlace.INADMISSIBLE

    def reason(self, job: Job) -> WaitReason | None:
        """Return why a workload waits: its own reason, or that of an equal one that was tried; None before any."""
        shared = self._failed_shapes.get(job.shape) if job.name in self._aside else None
        return self._reasons.get(job.name, shared)

    def forget(self, name: str) -> None:
        """Forget a workload that was admitted."""
        self._reasons.pop(name, None)
        if self._sticky == name:
            self._sticky = None

    def wake(self) -> None:
        """Put every inadmissible workload back into the heap."""
        self._failed_shapes.clear()
        for job in self._aside.values():
            self._offer(job)
        self._aside.clear()
