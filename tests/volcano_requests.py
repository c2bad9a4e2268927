"""Whole requests to Volcano's queue webhook, composed of the conditions that the rules check and of those they leave out.

A recording says of a request as a whole whether Volcano's webhook rejects it, so this is what it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from qcheck.cluster.volcano import DEFAULT, ROOT
from qcheck.kinds.validation.volcano import is_weight
from qcheck.schedulers.volcano.amounts import negligible
from qcheck.schedulers.volcano.stored_queue import Check, StoredQueue, Violation
from qcheck.schedulers.volcano.webhook import (
    PATH,
    above_ancestor,
    amounts_out_of_order,
    children,
    children_above,
    counted,
    misplaced,
)

WEIGHTS = "volcano.sh/hierarchy-weights"


class Operation(Enum):
    """The operation on a queue."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


def refusals(
    operation: Operation, queue: StoredQueue, existing: Mapping[str, StoredQueue], old: StoredQueue | None = None
) -> Iterator[Violation]:
    """Yield why the webhook rejects a request. `existing` are the stored queues; `old` is what an update replaces."""
    if operation is Operation.DELETE:
        yield from _deletion(queue, existing)
        return
    yield from invalid_quantities(queue)
    yield from amounts_out_of_order(queue)
    yield from _state_and_annotations(queue, existing)
    is_moved = old is None or old.parent != queue.parent
    is_resized = old is None or _resources(old) != _resources(queue)
    if is_moved:
        yield from misplaced(queue, existing)
    if queue.name != ROOT and (is_moved or is_resized):
        yield from _clashes(queue, existing)
    elif old is not None and is_resized:
        yield Violation(Check.ROOT_CHANGED, queue.name)


def invalid_quantities(queue: StoredQueue) -> Iterator[Violation]:
    """Yield negative amounts, and fractions of devices."""
    for field in ("capability", "deserved", "guarantee"):
        for resource, quantity in getattr(queue, field).items():
            if quantity.nanos < 0 or (_is_counted_whole(resource) and not quantity.is_whole):
                yield Violation(Check.QUANTITY, queue.name, field, resource)


def _is_counted_whole(resource: str) -> bool:
    has_own_domain = "/" in resource and "kubernetes.io/" not in resource
    return resource == "pods" or (has_own_domain and not resource.startswith("requests."))


def below_descendant(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    """Yield a capability below the largest one set by a descendant."""
    for resource, bound in counted(queue.capability).items():
        if bound < negligible(resource):
            continue
        largest = max(
            (_set_below(c, resource, existing, {queue.name}) for c in children(queue.name, existing)), default=0
        )
        if largest > bound:
            yield Violation(
                check=Check.CAPABILITY_BELOW_DESCENDANT,
                queue=queue.name,
                field="capability",
                resource=resource,
                other="",
                found=int(largest),
                bound=int(bound),
            )


def _set_below(queue: StoredQueue, resource: str, existing: Mapping[str, StoredQueue], seen: set[str]) -> int:
    """Return the capability of a queue or, if it sets none, the largest one of its descendants."""
    own = int(counted(queue.capability).get(resource, 0))
    if own > 0 or queue.name in seen:
        return own
    below = (_set_below(c, resource, existing, seen | {queue.name}) for c in children(queue.name, existing))
    return max(below, default=0)


def _resources(queue: StoredQueue) -> tuple[dict[str, int], ...]:
    return tuple({r: q.nanos for r, q in each.items()} for each in (queue.capability, queue.deserved, queue.guarantee))


def _clashes(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    """Yield the conflicts with the queues above and below."""
    if queue.is_below_another and (parent := existing.get(queue.parent)) is not None:
        yield from above_ancestor(queue, existing)
        siblings = [q for q in children(queue.parent, existing) if q.name != queue.name]
        yield from children_above(parent, (*siblings, queue))
    yield from below_descendant(queue, existing)
    if below := children(queue.name, existing):
        yield from children_above(queue, below)


def _state_and_annotations(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    if queue.state not in ("", "Open", "Closed"):
        yield Violation(Check.STATE, queue.name)
    path, weights = queue.annotations.get(PATH, ""), queue.annotations.get(WEIGHTS, "")
    if not (path or weights):
        return
    above = [q.name for q in existing.values() if q.annotations.get(PATH, "").startswith(f"{path}/")]
    if bad_annotations(path, weights):
        yield Violation(Check.HIERARCHY_ANNOTATIONS, queue.name)
    elif others := [name for name in above if name != queue.name]:
        yield Violation(Check.HIERARCHY_ANNOTATIONS, queue.name, other=others[0])


def bad_annotations(path: str, weights: str) -> bool:
    """Return whether path and weights of the older hierarchy differ in length, or a weight is not a positive number."""
    parts = weights.split("/")
    return len(path.split("/")) != len(parts) or not all(map(is_weight, parts))


def _deletion(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    if queue.name in (ROOT, DEFAULT):
        yield Violation(Check.DELETED, queue.name)
    elif below := children(queue.name, existing):
        yield Violation(Check.DELETED, queue.name, other=below[0].name, found=len(below))
