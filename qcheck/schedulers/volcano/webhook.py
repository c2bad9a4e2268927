"""Rejections by Volcano's queue webhook, and its conditions, each of which a rule can check separately.

Source: release 1.15 of Volcano, `pkg/webhooks/admission/queues/validate`, with its default options.
"""

from __future__ import annotations

from qcheck.cluster.quantity import amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import DEFAULT, ROOT
from qcheck.schedulers.volcano.amounts import added, amounts, falls_short, negligible
from qcheck.schedulers.volcano.stored_queue import Check, Operation, StoredQueue, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.cluster.quantity import Quantity
    from qcheck.schedulers.volcano.amounts import Amounts

    Quantities = Mapping[str, Quantity]

DEEPEST = 5
"""The levels below `root` that the webhook allows (`--max-queue-depth`)."""
PATH = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"


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


def amounts_out_of_order(queue: StoredQueue) -> Iterator[Violation]:
    """Yield guarantees above the deserved amount, even if none is set, and deserved amounts above a capability."""
    for resource, guarantee in queue.guarantee.items():
        deserved = queue.deserved.get(resource)
        if deserved is None or deserved.nanos < guarantee.nanos:
            missing = deserved is None
            check = Check.GUARANTEE_WITHOUT_DESERVED if missing else Check.DESERVED_BELOW_GUARANTEE
            bound = 0 if deserved is None else amount(resource, deserved)
            yield Violation(
                check=check,
                queue=queue.name,
                field="guarantee",
                resource=resource,
                other="",
                found=amount(resource, guarantee),
                bound=bound,
            )
    for resource, deserved in queue.deserved.items():
        capability = queue.capability.get(resource)
        if capability is not None and deserved.nanos > capability.nanos:
            found, bound = amount(resource, deserved), amount(resource, capability)
            yield Violation(
                check=Check.DESERVED_ABOVE_CAPABILITY,
                queue=queue.name,
                field="deserved",
                resource=resource,
                other="",
                found=found,
                bound=bound,
            )


def misplaced(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    """Yield parents that are the queue itself, do not exist, hold pods, or are too deep."""
    if not queue.is_below_another:
        return
    if queue.parent == queue.name:
        yield Violation(Check.PARENT_IS_SELF, queue.name, other=queue.parent)
    elif (parent := existing.get(queue.parent)) is None:
        yield Violation(Check.PARENT_MISSING, queue.name, other=queue.parent)
    elif (depth := 1 + len(ancestors(queue, existing))) > DEEPEST:
        yield Violation(Check.DEPTH, queue.name, other=queue.parent, found=depth, bound=DEEPEST)
    elif parent.pods and not children(queue.parent, existing):
        yield Violation(Check.PARENT_HAS_PODS, queue.name, other=queue.parent, found=parent.pods)


def ancestors(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> tuple[str, ...]:
    """Return the ancestors of a queue, nearest first, without `root`, up to a missing parent; each once."""
    line: list[str] = []
    at: StoredQueue | None = queue
    while at is not None and at.is_below_another and at.parent not in line:
        line.append(at.parent)
        at = existing.get(at.parent)
    return tuple(line)


def children(parent: str, existing: Mapping[str, StoredQueue]) -> list[StoredQueue]:
    """Return the queues that name a parent."""
    return [q for q in existing.values() if q.parent == parent and q.name != ROOT]


def above_ancestor(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    """Yield a capability above that of the nearest ancestor that sets one for the resource."""
    line = [existing[name] for name in ancestors(queue, existing) if name in existing]
    for resource, found in counted(queue.capability).items():
        nearest = next((a for a in line if counted(a.capability).get(resource, 0) > 0), None)
        if nearest is not None and found > (bound := counted(nearest.capability)[resource]):
            yield Violation(
                check=Check.CAPABILITY_ABOVE_ANCESTOR,
                queue=queue.name,
                field="capability",
                resource=resource,
                other=nearest.name,
                found=int(found),
                bound=int(bound),
            )


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


def children_above(parent: StoredQueue, below: Iterable[StoredQueue]) -> Iterator[Violation]:
    """Yield children's guarantees or deserved amounts that exceed the parent's; omitted values of the parent are 0."""
    queues = tuple(below)
    for field in ("guarantee", "deserved") if queues else ():
        own, total = counted(getattr(parent, field)), amounts()
        for queue in queues:
            total = added(total, counted(getattr(queue, field)))
        for resource, found in total.items():
            if falls_short(amounts(own), {resource: found}):
                bound = int(own.get(resource, 0))
                yield Violation(
                    check=Check.CHILDREN_ABOVE_PARENT,
                    queue=parent.name,
                    field=field,
                    resource=resource,
                    other=queues[0].name,
                    found=int(found),
                    bound=bound,
                )


def counted(quantities: Quantities) -> Amounts:
    """Return the amounts that Volcano reads from a list, in base units; it ignores other names."""
    return {r: amount(r, q) for r, q in quantities.items() if is_counted(r)}


def is_counted(resource: str) -> bool:
    """Return whether Volcano counts a resource: the basic ones, hugepages and names with a domain."""
    known = resource in ("cpu", "memory", "pods", "ephemeral-storage") or resource.startswith("hugepages-")
    return known or ("/" in resource and not resource.startswith("count/"))


def _is_counted_whole(resource: str) -> bool:
    has_own_domain = "/" in resource and "kubernetes.io/" not in resource
    return resource == "pods" or (has_own_domain and not resource.startswith("requests."))


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
    return len(path.split("/")) != len(parts) or not all(map(_is_positive, parts))


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _deletion(queue: StoredQueue, existing: Mapping[str, StoredQueue]) -> Iterator[Violation]:
    if queue.name in (ROOT, DEFAULT):
        yield Violation(Check.DELETED, queue.name)
    elif below := children(queue.name, existing):
        yield Violation(Check.DELETED, queue.name, other=below[0].name, found=len(below))
