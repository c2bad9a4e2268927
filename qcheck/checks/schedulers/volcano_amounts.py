"""QC953, QC958, QC965: amounts of Volcano's queues that contradict each other or the nodes."""

from __future__ import annotations

from fractions import Fraction

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.checks.sum_edits import cut
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.resources import is_accelerator, is_fabric
from qcheck.cluster.units import named, scale_of, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import AMOUNTS, ROOT
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.volcano.queues import Queues, queues_of
from qcheck.schedulers.volcano.stored_queue import Check, Violation
from qcheck.schedulers.volcano.webhook import above_ancestor, amounts_out_of_order, children_above, counted, is_counted
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.volcano import VolcanoQueue

    Change = tuple[Place, str, str]

DYNAMIC = "deviceclass/"
"""The prefix of devices that are claimed dynamically; no node advertises them."""


@rule("QC953")
def amounts_contradict(cluster: Cluster) -> Iterator[Finding]:
    """Report contradicting amounts, of a queue or of parent and children, that are rejected or cut."""
    queues = queues_of(cluster)
    for queue in queues.declared:
        by_check: dict[Check, list[Violation]] = {}
        for violation in amounts_out_of_order(queues.stored[queue.name]):
            by_check.setdefault(violation.check, []).append(violation)
        for violations in by_check.values():
            yield _within(queue, violations)
        for violation in above_ancestor(queues.stored[queue.name], queues.stored):
            yield _above(queues, queue, violation)
        if queue.name != ROOT:
            yield from _children(queues, queue)
    yield from _root(queues)


def _within(queue: VolcanoQueue, violations: list[Violation]) -> Finding:
    """Return a finding for a queue with a list that exceeds the next; it names what each list lacks."""
    first, *others = violations
    message = f"queue {queue.name}: {'; '.join(_order(v) for v in violations)}; the API server rejects it"
    found = finding(queue.place_of(first.field, first.resource), message)
    for violation in others:
        found = found.near(queue.place_of(violation.field, violation.resource), _order(violation))
    if first.check is not Check.GUARANTEE_WITHOUT_DESERVED:
        bound = "capability" if first.check is Check.DESERVED_ABOVE_CAPABILITY else "deserved"
        found = found.near(
            queue.place_of(bound, first.resource), f"{bound} {written_amount(first.resource, first.bound)}"
        )
    return _ordered(found, queue, violations).with_data(
        check=first.check.value, resource=first.resource, found=first.found, bound=first.bound
    )


def _ordered(found: Finding, queue: VolcanoQueue, violations: list[Violation]) -> Finding:
    """Return a finding with two edits: lower the amounts to their bounds, or raise the bounds."""
    first = violations[0]
    if first.check is Check.GUARANTEE_WITHOUT_DESERVED:
        lines = (f"{v.resource}: {written_amount(v.resource, v.found)}" for v in violations)
        return found.fixed_by(f"Add {', '.join(lines)} to deserved of queue {queue.name}.")
    bound_in = "capability" if first.check is Check.DESERVED_ABOVE_CAPABILITY else "deserved"
    lower = [_change(queue, first.field, v.resource, v.found, v.bound) for v in violations]
    higher = [_change(queue, bound_in, v.resource, v.bound, v.found) for v in violations]
    return _offering(_offering(found, "Lower", lower), "Raise", higher)


def _change(queue: VolcanoQueue, field: str, resource: str, was: int, now: int) -> Change:
    """Return the place of an amount, its new text, and a description of the change."""
    before, after = show_amounts(resource, was, now)
    words = f"{field} of queue {queue.name} from {before} to {named(resource, after)}"
    return queue.place_of(field, resource), written_amount(resource, now), words


def _offering(found: Finding, verb: str, changes: list[Change]) -> Finding:
    """Return a finding with an edit if the manifest states all values that it changes."""
    if not changes or not all(place.exists for place, _, _ in changes):
        return found
    words = f"{verb} {names([words for _, _, words in changes], len(changes))}."
    return found.offering_all([(place, text) for place, text, _ in changes], words)


def _order(violation: Violation) -> str:
    shown, bound = show_amounts(violation.resource, violation.found, violation.bound)
    found = named(violation.resource, shown)
    match violation.check:
        case Check.GUARANTEE_WITHOUT_DESERVED:
            return f"the guarantee is {found}, but deserved does not list this resource"
        case Check.DESERVED_BELOW_GUARANTEE:
            return f"the guarantee of {found} exceeds the deserved amount of {bound}"
        case _:
            return f"the deserved amount of {found} exceeds the capability of {bound}"


def _above(queues: Queues, queue: VolcanoQueue, violation: Violation) -> Finding:
    resource = violation.resource
    found, bound = show_amounts(resource, violation.found, violation.bound)
    shown = named(resource, found)
    message = f"queue {queue.name} has a capability of {shown}, but its ancestor {violation.other} has {bound}"
    ancestor = queues.queue[violation.other]
    lower = _change(queue, "capability", resource, violation.found, violation.bound)
    higher = _change(ancestor, "capability", resource, violation.bound, violation.found)
    above = finding(queue.place_of("capability", resource), message)
    return (
        _offering(_offering(above, "Lower", [lower]), "Raise", [higher])
        .near(ancestor.place_of("capability", resource), f"{bound} for {ancestor.name}")
        .with_data(check=violation.check.value, resource=resource, found=violation.found, bound=violation.bound)
    )


def _children(queues: Queues, parent: VolcanoQueue) -> Iterator[Finding]:
    below = queues.children(parent.name)
    for violation in children_above(queues.stored[parent.name], [queues.stored[q.name] for q in below]):
        yield _sum(parent, below, violation, bound_in=violation.field)


def _root(queues: Queues) -> Iterator[Finding]:
    """Report guarantees and deserved amounts above the capability of `root`, which bounds them in a hierarchy."""
    root = queues.queue.get(ROOT)
    if root is None or not queues.is_tree or not counted(root.capability):
        return
    below = queues.children(ROOT)
    for field in ("guarantee", "deserved"):
        for resource, bound in root.amounts["capability"].items():
            total = sum(q.amounts[field].get(resource, 0) for q in below)
            if total > bound:
                violation = Violation(
                    check=Check.CHILDREN_ABOVE_PARENT,
                    queue=ROOT,
                    field=field,
                    resource=resource,
                    other="",
                    found=total,
                    bound=bound,
                )
                yield _sum(root, below, violation, bound_in="capability")
                return


def _sum(parent: VolcanoQueue, below: list[VolcanoQueue], violation: Violation, bound_in: str) -> Finding:
    """Return a finding for children that together state more than their parent."""
    resource, field = violation.resource, violation.field
    stating = [q for q in below if resource in q.amounts[field]]
    scale = scale_of(resource, [q.amounts[field][resource] for q in stating] + [violation.found, violation.bound])
    parts = " + ".join(f"{scale.bare(q.amounts[field][resource])} ({q.name})" for q in stating)
    total, bound = scale.name(violation.found), scale(violation.bound)
    many = len(stating) > 1
    who = f"the queues below {parent.name}" if many else f"queue {stating[0].name} below {parent.name}"
    verb = {"guarantee": ("is guaranteed", "are guaranteed"), "deserved": ("deserves", "deserve")}[field][many]
    summed = f"{parts} = {total}" if many else total
    is_set = resource in parent.amounts[bound_in]
    own = f"has {bound_in} {bound}" if is_set else f"sets no {bound_in}, which counts as 0"
    message = f"{who} {verb} {summed}, but {parent.name} {own}"
    place = parent.place_of(bound_in, resource) if is_set else parent.name_place
    found = finding(place, message)
    for queue in stating:
        found = found.near(queue.place_of(field, resource), f"{scale(queue.amounts[field][resource])} for {queue.name}")
    amounts = [Fraction(q.amounts[field][resource]) for q in stating]
    cuts = [int(n) for n in cut(amounts, Fraction(violation.bound))]
    lower = [
        _change(q, field, resource, q.amounts[field][resource], n)
        for q, n in zip(stating, cuts, strict=True)
        if n != q.amounts[field][resource]
    ]
    if is_set:
        found = _offering(
            _offering(found, "Lower", lower),
            "Raise",
            [_change(parent, bound_in, resource, violation.bound, violation.found)],
        )
    else:
        added = f"{resource}: {written_amount(resource, violation.found)}"
        found = found.fixed_by(
            f"Add {added} to {bound_in} of queue {parent.name}, or lower {field} of the queues below it."
        )
    return found.with_data(
        check=violation.check.value, resource=resource, field=field, found=violation.found, bound=violation.bound
    )


@rule("QC958")
def resource_nowhere(cluster: Cluster) -> Iterator[Finding]:
    """Report amounts of a resource that no node has; one finding per resource."""
    if not cluster.has_nodes:
        return
    supply = supply_of(cluster)
    known = all(g.is_known for g in supply.groups)
    used: dict[str, list[tuple[VolcanoQueue, str]]] = {}
    for queue in queues_of(cluster).declared:
        for field in AMOUNTS:
            for resource, amount in queue.amounts[field].items():
                if amount > 0 and _is_nowhere(cluster, resource):
                    used.setdefault(resource, []).append((queue, field))
    for resource, places in used.items():
        yield _nowhere(resource, places, sorted(supply.resources)).likely(not known or is_fabric(resource))


def _is_nowhere(cluster: Cluster, resource: str) -> bool:
    if resource in supply_of(cluster).resources or cluster.policy.is_virtual(resource) or DYNAMIC in resource:
        return False
    return not is_counted(resource) or "/" in resource


def _nowhere(resource: str, places: list[tuple[VolcanoQueue, str]], offered: list[str]) -> Finding:
    (queue, field), *others = places
    why = "no node advertises it" if is_counted(resource) else "Volcano does not count a resource without a domain"
    devices = [r for r in offered if is_accelerator(r)]
    what = f"; the nodes have {names(devices)}" if devices else ""
    found = finding(queue.place_of(field, resource), f"queue {queue.name} lists {resource} in {field}, but {why}{what}")
    for other, listed in others:
        found = found.near(other.place_of(listed, resource), f"{listed} of {other.name}")
    near = nearest(resource, offered) if is_counted(resource) else _with_domain(resource, devices)
    if near:
        found = found.fixed_by(f"Write {near} instead of {resource}.")
    return found.with_data(resource=resource, nearest=near)


def _with_domain(resource: str, devices: list[str]) -> str | None:
    """Return the device that a name without a domain refers to: the one with that ending, or the only one."""
    ending = [device for device in devices if device.endswith(f"/{resource}")] or devices
    return ending[0] if len(ending) == 1 else None


@rule("QC965")
def capability_partial(cluster: Cluster) -> Iterator[Finding]:
    """Report capabilities that name accelerators but omit cpu or memory."""
    queues = queues_of(cluster)
    for queue in queues.declared:
        stated = queue.amounts["capability"]
        left_out = [r for r in ("cpu", "memory") if not stated.get(r)]
        if any(is_accelerator(r) for r in stated) and left_out and not _is_inherited(queues, queue, left_out):
            named = names(r for r in stated if is_accelerator(r))
            message = f"queue {queue.name} limits {named}; {names(left_out)} {_meaning(queues, queue)}"
            yield finding(queue.place_of("capability"), message).with_data(missing=left_out)


def _is_inherited(queues: Queues, queue: VolcanoQueue, resources: list[str]) -> bool:
    """Return whether an ancestor bounds the resources that this queue omits."""
    line = queues.path(queue.name)[1:] if queues.is_tree else []
    return all(any(q.amounts["capability"].get(r) for q in line) for r in resources)


def _meaning(queues: Queues, queue: VolcanoQueue) -> str:
    if queues.is_tree and queue.name == ROOT:
        return "count as 0 there: no pod that requests them can start in any queue"
    return "stay unlimited"
