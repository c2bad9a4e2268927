"""A workload as the scheduler sees it: what it asks of its queue's flavors, its rank, and what it holds once admitted."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Hashable

    from qcheck.schedulers.kueue.simulation.ledger import LedgerCell
    from qcheck.schedulers.kueue.simulation.outcomes import Cause

    Usage = dict[LedgerCell, int]
    """The usage of one queue's cells, in base units."""
    Order = tuple[int, int, str]
    Flavors = dict[str, dict[str, str]]
    """Pod set to resource to flavor."""


class FlavorOption(Value):
    """A flavor that a queue offers for some resources; `cells` are None if the pods do not match the flavor."""

    flavor: str
    cells: tuple[LedgerCell, ...] | None


class FlavorChoice(Value):
    """The flavors of one resource group, in the queue's order, and what is asked of the chosen one.

    `resources` and `amounts` go together with the cells of each option.
    """

    resources: tuple[str, ...]
    amounts: tuple[int, ...]
    options: tuple[FlavorOption, ...]


class WorkloadShare(Value):
    """The part of a placement of one pod set: the resources that it requests itself."""

    pod_set: str
    resources: frozenset[str]


class FlavorPlacement(Value):
    """Pod sets that get their flavors together. `is_misfit`: the queue does not cover something they ask for."""

    shares: tuple[WorkloadShare, ...]
    choices: tuple[FlavorChoice, ...]
    is_misfit: bool = False


class Job(Value, cached=True):
    """A workload in a queue. `since` is its queue-order time; its name breaks the last ties, as the UID does in Kueue.

    Jobs with equal `shape` ask the same with the same priority. `runs_for`: seconds from admission to its end.
    """

    name: str
    queue: str
    priority: int
    since: int
    placements: tuple[FlavorPlacement, ...]
    shape: Hashable
    runs_for: int | None = None

    @property
    def asks(self) -> dict[str, int]:
        """Return what it asks for in total, by resource, in base units; nothing if its queue does not cover it."""
        total: dict[str, int] = {}
        for placement in self.placements:
            for choice in placement.choices:
                for resource, amount in zip(choice.resources, choice.amounts, strict=True):
                    total[resource] = total.get(resource, 0) + amount
        return total

    @cached_property
    def order(self) -> Order:
        """The place among others of its queue: higher priority first, then the earlier one."""
        return (-self.priority, self.since, self.name)


class Holder:
    """An admitted workload: what it holds since when. `evicted_by`: the preemptor and the cause, once it must leave."""

    __slots__ = ("evicted_by", "flavors", "job", "since", "usage")

    def __init__(self, job: Job, usage: Usage, flavors: Flavors, since: int) -> None:
        self.job = job
        self.usage = usage
        self.flavors = flavors
        self.since = since
        self.evicted_by: tuple[str, Cause] | None = None
