"""A simulated run: what a scheduler does with the workloads of a scenario."""

from __future__ import annotations

from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from qcheck.answers.scenario import Scenario
    from qcheck.cluster.kueue import FlavorResource
    from qcheck.schedulers.kueue.simulation.timeline import Timeline
    from qcheck.schedulers.kueue.simulation.workload import Job


class RejectedWorkload(Value):
    """A workload that never reaches the scheduler, and the reason."""

    workload: str
    queue: str
    code: ReasonCode
    message: str


class ShareStep(Value):
    """The fair shares of the queues from second `at` on, in devices, until they change."""

    at: int
    shares: dict[str, float]


class Simulated(Value):
    """The simulated run on one cluster, its workloads, and those that are excluded.

    `title` names the scheduler and its mode. `quotas`: the own quota of each queue by cell, in base units.
    `not_simulated`: effects on a real cluster that are omitted. `names_reasons`: whether the release reports why
    each workload waits. `shares` are those of KAI.
    """

    title: str
    scenario: Scenario
    quotas: dict[str, dict[FlavorResource, int]]
    timeline: Timeline
    jobs: tuple[Job, ...]
    rejected: tuple[RejectedWorkload, ...]
    not_simulated: tuple[str, ...]
    names_reasons: bool = True
    shares: tuple[ShareStep, ...] = ()
