"""Queues too deep in their tree: they are omitted, and a problem names the first of each tree.

Code that traverses a tree may then use recursion.
"""

from __future__ import annotations

from qcheck.cluster.problems import Problem, ProblemCode, Unread
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qcheck.cluster.objects import Object

DEEPEST = 100
"""The maximum number of levels above a queue. Ten are unusual; Volcano rejects more than five."""
_ABOVE = {"Cohort": "Cohort", "ClusterQueue": "Cohort", "KaiQueue": "KaiQueue", "VolcanoQueue": "VolcanoQueue"}
"""The class of a queue's parent, by the class of the queue."""


class WithoutDeepQueues(Value):
    """Objects without those that are too deep, and problems about the latter."""

    objects: list[Object]
    problems: list[Problem]
    unread: list[Unread]


def without_deep_queues(objects: Sequence[Object]) -> WithoutDeepQueues:
    """Omit objects with more than `DEEPEST` ancestors, including every member of a cycle of that length."""
    parents: dict[str, dict[str, str]] = {}
    for each in objects:
        kind = type(each).__name__
        if _ABOVE.get(kind) == kind:
            parents.setdefault(kind, {})[each.name] = _parent(each)
    levels = {kind: _levels(found) for kind, found in parents.items()}
    if not any(max(found.values()) >= DEEPEST for found in levels.values()):
        return WithoutDeepQueues(list(objects), [], [])
    kept: list[Object] = []
    deep: dict[str, list[Object]] = {}
    for each in objects:
        above = _ABOVE.get(type(each).__name__)
        is_deep = above is not None and levels.get(above, {}).get(_parent(each), -1) >= DEEPEST
        (deep.setdefault(type(each).__name__, []) if is_deep else kept).append(each)
    unread = [Unread(q.place.origin.path, frozenset({q.id.kind})) for found in deep.values() for q in found]
    return WithoutDeepQueues(kept, [_problem(found) for found in deep.values()], list(dict.fromkeys(unread)))


def _parent(queue: Object) -> str:
    return getattr(queue, "parent", None) or ""


def _levels(parents: Mapping[str, str]) -> dict[str, int]:
    """Return the number of ancestors of each queue; for a member of a cycle, the length of the cycle."""
    levels: dict[str, int] = {}
    for start in parents:
        line: dict[str, int] = {}
        at = start
        while at in parents and at not in levels and at not in line:
            line[at] = len(line)
            at = parents[at]
        first_of_cycle = line.get(at, len(line))
        cycle = len(line) - first_of_cycle
        level = cycle if cycle else levels.get(at, -1)
        for name, position in reversed(line.items()):
            level = cycle if position >= first_of_cycle else level + 1
            levels[name] = level
    return levels


def _problem(deep: Sequence[Object]) -> Problem:
    first, *more = deep
    others = f", and so {'has' if len(more) == 1 else 'have'} {len(more)} other{'s' * (len(more) > 1)}" if more else ""
    skipped = "they are" if more else "it is"
    return Problem(
        code=ProblemCode.LIMIT,
        place=first.place,
        message=f"{first.id.kind} {first.name} has more than {DEEPEST} levels above it{others}; {skipped} skipped",
        help="Shorten the chain of parents.",
        object=first.id,
    )
