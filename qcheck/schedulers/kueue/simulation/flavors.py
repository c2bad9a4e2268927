"""Flavors for a workload while others hold quota: Kueue's flavor assigner with usage, preemption and progress.

Source: Kueue 0.20 `pkg/scheduler/flavorassigner/flavorassigner.go`, `pkg/scheduler/preemption/preemption_oracle.go`.
"""

from __future__ import annotations

from qcheck.cluster.kueue import PreemptionPolicy
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.schedulers.kueue.assignment import BEST, IMPOSSIBLE, AssignmentMode, Grade
from qcheck.schedulers.kueue.simulation.outcomes import WaitReason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qcheck.cluster.kueue import ClusterQueue
    from qcheck.schedulers.kueue.simulation.ledger import LedgerCell
    from qcheck.schedulers.kueue.simulation.workload import FlavorChoice, FlavorPlacement, Holder, Job, Usage

    Spot = tuple[int, int]
    """A placement and a choice in it, by index."""
    Grades = dict[tuple[LedgerCell, int, int, int], Grade]
    """Cached answers for one state: by cell, amount, priority and, if it matters, age of the workload."""
    Victims = Callable[[Mapping[LedgerCell, int], frozenset[LedgerCell]], list[Holder]]
    """A function that finds victims for amounts in some cells; the second argument lists the cells in need."""

_SEVERITY = (WaitReason.WAITING_FOR_QUOTA, WaitReason.EXCEEDS_MAX_QUOTA, WaitReason.NO_MATCHING_FLAVOR)
"""From least to most severe: among flavors the least severe counts, among resource groups the most severe."""
LAST = -1
"""The progress of a search that reached the last flavor."""


class AssignedFlavor(Value):
    """The flavor that one resource group of a placement gets, with the grade of each cell and the overall grade.

    `seen` is the index of the last flavor considered, or LAST. `misfit`: why flavors were skipped, if any were.
    """

    flavor: str
    cells: tuple[LedgerCell, ...]
    amounts: tuple[int, ...]
    grades: tuple[Grade, ...]
    grade: Grade
    seen: int
    misfit: WaitReason | None


class SimulatedAssignment(Value, cached=True):
    """The flavors of a job. `got` is by placement and choice; `reason` is set if a placement finds none.

    `step` is the step of `SmallerSizes`; 0 is all pods.
    """

    got: dict[Spot, AssignedFlavor]
    usage: Usage
    reason: WaitReason | None
    step: int = 0

    @property
    def mode(self) -> AssignmentMode:
        """FIT, PREEMPT or NO_FIT, whatever the kind of preemption."""
        if self.reason is not None:
            return AssignmentMode.NO_FIT
        return (
            AssignmentMode.FIT
            if all(g.grade.mode is AssignmentMode.FIT for g in self.got.values())
            else AssignmentMode.PREEMPT
        )

    @property
    def level(self) -> int:
        """The highest level at which any cell borrows."""
        return max((grade.level for g in self.got.values() for grade in g.grades), default=0)

    @property
    def in_need(self) -> frozenset[LedgerCell]:
        """The cells in which something has to be preempted."""
        pairs = ((c, grade) for g in self.got.values() for c, grade in zip(g.cells, g.grades, strict=True))
        return frozenset(cell for cell, grade in pairs if grade.mode is not AssignmentMode.FIT)

    @property
    def progress(self) -> dict[Spot, int]:
        """The progress of each search."""
        return {spot: g.seen for spot, g in self.got.items()}


class SimulatedAssigner:
    """Assigns flavors to one job of a queue in the current state of the ledger."""

    def __init__(self, job: Job, queue: ClusterQueue, is_fair: bool, find_victims: Victims, known: Grades) -> None:
        self._job = job
        self._queue = queue
        self._find_victims = find_victims
        self._known = known
        policy = queue.preemption
        self._looks_at_age = PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY in (policy.within_queue, policy.reclaim)
        self._preempts_to_borrow = policy.borrow is not PreemptionPolicy.NEVER or (
            is_fair and policy.reclaim is not PreemptionPolicy.NEVER
        )

    def assign(
        self, progress: Mapping[Spot, int], only: Mapping[Spot, str] | None = None, step: int = 0
    ) -> SimulatedAssignment:
        """Return flavors for every placement, in order.

        `progress` is how far an earlier search went; with `only` each choice is restricted to the flavor that it names.
        """
        got: dict[Spot, AssignedFlavor] = {}
        usage: Usage = {}
        smaller = self._job.smaller
        placements = self._job.placements if smaller is None or not step else smaller.at(step)
        for index, placement in enumerate(placements):
            mine, reason = self._place(index, placement, progress, only, usage)
            if reason is not None:
                return SimulatedAssignment(got, usage, reason, step)
            for spot, each in mine.items():
                got[spot] = each
                for cell, amount in zip(each.cells, each.amounts, strict=True):
                    usage[cell] = usage.get(cell, 0) + amount
        return SimulatedAssignment(got, usage, None, step)

    def _place(
        self,
        index: int,
        placement: FlavorPlacement,
        progress: Mapping[Spot, int],
        only: Mapping[Spot, str] | None,
        assumed: Usage,
    ) -> tuple[dict[Spot, AssignedFlavor], WaitReason | None]:
        if placement.is_misfit:
            return {}, WaitReason.NO_MATCHING_FLAVOR
        mine: dict[Spot, AssignedFlavor] = {}
        for number, choice in enumerate(placement.choices):
            spot = (index, number)
            start = progress.get(spot, LAST) + 1
            found = self._choose(choice, start, only.get(spot) if only is not None else None, assumed)
            if isinstance(found, WaitReason):
                missed = [
                    g.misfit for g in mine.values() if g.misfit is not None and g.grade.mode is not AssignmentMode.FIT
                ]
                return {}, max((found, *missed), key=_SEVERITY.index)
            mine[spot] = found
        return mine, None

    def _choose(
        self, choice: FlavorChoice, start: int, only: str | None, assumed: Usage
    ) -> AssignedFlavor | WaitReason:
        """Return the flavor of one resource group: the first that stops the search, else the best of those tried."""
        fungibility, seen = self._queue.fungibility, LAST
        best: tuple[str, tuple[LedgerCell, ...], tuple[Grade, ...], Grade] | None = None
        reasons = []
        for seen in range(start, len(choice.options)):
            option = choice.options[seen]
            if option.cells is None or (only is not None and option.flavor != only):
                reasons.append(WaitReason.NO_MATCHING_FLAVOR)
                continue
            wanted = [n + assumed.get(cell, 0) for cell, n in zip(option.cells, choice.amounts, strict=True)]
            grades = self._grades(option.cells, wanted)
            worst = min((BEST, *grades), key=lambda g: g.rank(fungibility))
            if worst.mode is AssignmentMode.NO_FIT:
                reasons.append(_misfit(option.cells, wanted))
                continue
            attempt = (option.flavor, option.cells, tuple(grades), worst)
            if worst.stops_search(fungibility):
                best = attempt
                break
            if best is None or worst.rank(fungibility) > best[3].rank(fungibility):
                best = attempt
        misfit = min(reasons, key=_SEVERITY.index, default=None)
        if best is None:
            return misfit or WaitReason.NO_MATCHING_FLAVOR
        flavor, cells, tried, grade = best
        return AssignedFlavor(
            flavor=flavor,
            cells=cells,
            amounts=choice.amounts,
            grades=tried,
            grade=grade,
            seen=LAST if seen == len(choice.options) - 1 else seen,
            misfit=misfit,
        )

    def _grades(self, cells: tuple[LedgerCell, ...], wanted: list[int]) -> list[Grade]:
        grades = []
        for cell, amount in zip(cells, wanted, strict=True):
            key = (cell, amount, self._job.priority, self._job.since if self._looks_at_age else 0)
            if key not in self._known:
                self._known[key] = self._grade(cell, amount)
            grades.append(self._known[key])
            if grades[-1].mode is AssignmentMode.NO_FIT:
                break
        return grades

    def _grade(self, cell: LedgerCell, amount: int) -> Grade:
        if amount > cell.potential:
            return IMPOSSIBLE
        level, is_higher_up = cell.level(amount)
        if cell.takes(amount):
            return Grade(AssignmentMode.FIT, level)
        if amount > cell.nominal and not is_higher_up and not self._preempts_to_borrow:
            return IMPOSSIBLE
        victims = self._find_victims({cell: amount}, frozenset((cell,)))
        if not victims:
            return Grade(AssignmentMode.NO_CANDIDATES, level)
        is_own = any(v.job.queue == self._job.queue for v in victims)
        return Grade(
            AssignmentMode.PREEMPT if is_own else AssignmentMode.RECLAIM, _level_without(victims, cell, amount)
        )


def _level_without(victims: list[Holder], cell: LedgerCell, amount: int) -> int:
    for victim in victims:
        for held, n in victim.usage.items():
            held.remove(n)
    level, _ = cell.level(amount)
    for victim in victims:
        for held, n in victim.usage.items():
            held.add(n)
    return level


def _misfit(cells: tuple[LedgerCell, ...], wanted: list[int]) -> WaitReason:
    exceeds = any(n > cell.potential for cell, n in zip(cells, wanted, strict=True))
    return WaitReason.EXCEEDS_MAX_QUOTA if exceeds else WaitReason.WAITING_FOR_QUOTA
