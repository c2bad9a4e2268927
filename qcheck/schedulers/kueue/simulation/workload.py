"""A workload as the scheduler sees it: its requests for its queue's flavors, its rank, and its usage once admitted."""

from __future__ import annotations

from functools import cached_property

from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from qcheck.schedulers.kueue.simulation.ledger import LedgerCell
    from qcheck.schedulers.kueue.simulation.outcomes import Cause

    Usage = dict[LedgerCell, int]
    """The usage of one queue's cells, in base units."""
    Order = tuple[int, int, str]
    PodCounts = dict[str, int]
    """The number of pods by pod set."""
    Flavors = dict[str, dict[str, str]]
    """Flavors by pod set and resource."""


class FlavorOption(Value):
    """A flavor that a queue offers for some resources; `cells` is None if the pods do not match the flavor."""

    flavor: str
    cells: tuple[LedgerCell, ...] | None


class FlavorChoice(Value):
    """The flavors of one resource group, in the queue's order, and the amounts requested from the chosen one.

    `resources`, `amounts` and the cells of each option correspond to each other.
    """

    resources: tuple[str, ...]
    amounts: tuple[int, ...]
    options: tuple[FlavorOption, ...]


class WorkloadShare(Value):
    """One pod set's part of a placement: the resources that it requests itself."""

    pod_set: str
    resources: frozenset[str]


class FlavorPlacement(Value):
    """Pod sets that get their flavors together. `is_misfit`: the queue does not cover something that they request."""

    shares: tuple[WorkloadShare, ...]
    choices: tuple[FlavorChoice, ...]
    is_misfit: bool = False


class SmallerSizes:
    """The placements of a workload that partial admission may reduce, by step: 1 to `most`, which is the minimum."""

    __slots__ = ("_at", "_known", "counts", "most")

    def __init__(
        self, most: int, at: Callable[[int], tuple[FlavorPlacement, ...]], counts: Callable[[int], PodCounts]
    ) -> None:
        self.most = most
        self.counts = counts
        self._at = at
        self._known: dict[int, tuple[FlavorPlacement, ...]] = {}

    def at(self, step: int) -> tuple[FlavorPlacement, ...]:
        if step not in self._known:
            self._known[step] = self._at(step)
        return self._known[step]


class Job(Value, cached=True):
    """A workload in a queue. `since` is its queue-order time; its name breaks ties, as the UID does in Kueue.

    Jobs with equal `shape` have equal requests and priority. `runs_for`: seconds from admission to its end. `smaller`
    is set if partial admission may reduce it.
    """

    name: str
    queue: str
    priority: int
    since: int
    placements: tuple[FlavorPlacement, ...]
    shape: Hashable
    runs_for: int | None = None
    smaller: SmallerSizes | None = None

    @property
    def asks(self) -> dict[str, int]:
        """Return its total request by resource, in base units; nothing if its queue does not cover it."""
        total: dict[str, int] = {}
        for placement in self.placements:
            for choice in placement.choices:
                for resource, amount in zip(choice.resources, choice.amounts, strict=True):
                    total[resource] = total.get(resource, 0) + amount
        return total

    @cached_property
    def order(self) -> Order:
        """The sort key in its queue: higher priority first, then the earlier one."""
        return (-self.priority, self.since, self.name)


class Holder:
    """An admitted workload: what it holds and since when.

    `counts` is set if partial admission reduced it; `evicted_by`, the preemptor and the cause, if it must leave.
    """

    __slots__ = ("counts", "evicted_by", "flavors", "job", "since", "usage")

    def __init__(self, job: Job, usage: Usage, flavors: Flavors, since: int, counts: PodCounts | None = None) -> None:
        self.job = job
        self.usage = usage
        self.flavors = flavors
        self.since = since
        self.counts = counts or {}
        self.evicted_by: tuple[str, Cause] | None = None
