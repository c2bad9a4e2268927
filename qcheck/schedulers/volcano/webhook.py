"""Conditions of Volcano's queue webhook, each of which a rule checks separately.

Source: release 1.15 of Volcano, `pkg/webhooks/admission/queues/validate`, with its default options.
"""

from __future__ import annotations

from qcheck.cluster.quantity import amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import ROOT
from qcheck.schedulers.volcano.amounts import added, amounts, falls_short
from qcheck.schedulers.volcano.stored_queue import Check, StoredQueue, Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qcheck.cluster.quantity import Quantity
    from qcheck.schedulers.volcano.amounts import Amounts

    Quantities = Mapping[str, Quantity]

DEEPEST = 5
"""The levels below `root` that the webhook allows (`--max-queue-depth`)."""
PATH = "volcano.sh/hierarchy"


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
    """Return whether Volcano counts a resource: a basic one, hugepages, volumes, or a name with a domain."""
    known = resource in ("cpu", "memory", "pods", "ephemeral-storage")
    prefixed = resource.startswith(("hugepages-", "attachable-volumes-"))
    return known or prefixed or ("/" in resource and not resource.startswith(("count/", "requests.")))
