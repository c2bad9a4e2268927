"""Checks of ClusterQueue and Cohort: CQ-C, CQ-W, CO-C and CO-W of the catalogue."""

from __future__ import annotations

from qcheck.cluster.quantity import Quantity, QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault
from qcheck.kinds.validation.selectors import label_selector
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

QUOTAS = ("nominalQuota", "borrowingLimit", "lendingLimit")
LONGEST = 64
"""Most items of a list in a resource group that are checked here: the schema rejects a longer one."""


def amount(at: Cursor) -> Quantity | None:
    """Return the quantity at a cursor; None if it is absent or invalid."""
    try:
        return None if at.data is None else parse_quantity(at.data)
    except QuantityError:
        return None


def cluster_queue(root: Cursor, target: Target) -> Iterator[Failure]:
    spec = root["spec"]
    parent = spec["cohort" if root["apiVersion"].text() == "kueue.x-k8s.io/v1beta1" else "cohortName"]
    yield from _resource_groups(spec["resourceGroups"], "CQ")
    yield from _totals(spec["resourceGroups"])
    cells = list(_cells(spec["resourceGroups"]))
    if not parent.text():
        yield from _limits_without_cohort(cells, f"the queue has no {parent.route[-1]}")
    yield from _lending_beyond_nominal(cells)
    yield from label_selector(spec["namespaceSelector"], "CQ-W08")
    yield from _preemption(spec["preemption"])
    yield from _fungibility(spec["flavorFungibility"])
    yield from _weight(spec["fairSharing"]["weight"], "CQ-W11")
    if target.at_least(16):
        yield from _on_flavors(spec)
    if target.has_gate("ConcurrentAdmission"):
        yield from _concurrent_admission(spec)


def cohort(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001  (every check has this shape)
    spec = root["spec"]
    yield from _resource_groups(spec["resourceGroups"], "CO")
    if not (spec["parentName"].text() or spec["parent"].text()):
        for cell in _cells(spec["resourceGroups"]):
            for limit in ("borrowingLimit", "lendingLimit"):
                if cell[limit].exists:
                    yield refuse(cell[limit], "CO-W02", "Invalid value: must be nil when parent is empty")
    yield from _weight(spec["fairSharing"]["weight"], "CO-W03")


def _cells(groups: Cursor) -> Iterator[Cursor]:
    for group in groups.items():
        for flavor in group.items_at("flavors"):
            yield from flavor.items_at("resources")


def _resource_groups(groups: Cursor, kind: str) -> Iterator[Failure]:
    """Yield the failures that both kinds share; a Cohort reports all of them but the CEL rule as CO-W01."""
    seen: dict[tuple[str, str], Cursor] = {}
    ids = {n: f"CQ-W0{n}" if kind == "CQ" else "CO-W01" for n in range(1, 6)}
    for group in groups.items():
        covered, flavors = group.items_at("coveredResources"), group.items_at("flavors")
        if max(len(covered), len(flavors)) > LONGEST:
            continue
        for name in covered:
            fault = key_fault(name.text() or "") if isinstance(name.data, str) else None
            if fault:
                yield refuse(name, ids[1], f"Invalid value: {show(name.data)}: {fault}")
            yield from _once(name, "resource", seen, ids[2])
        for flavor in flavors:
            yield from _once(flavor["name"], "flavor", seen, ids[3])
            yield from _covers(flavor, covered, ids[4], f"{kind}-C0{2 if kind == 'CQ' else 1}")
            for cell in flavor.items_at("resources"):
                yield from _negative(cell, ids[5])


def _once(name: Cursor, what: str, seen: dict[tuple[str, str], Cursor], check: str) -> Iterator[Failure]:
    """Refuse a name that another resource group also lists (or that the covered resources list twice)."""
    text = name.text()
    if not text:
        return
    first = seen.setdefault((what, text), name)
    same_list = first.route[:-2] == name.route[:-2] and what == "flavor"  # the schema already checks this
    if first is not name and not same_list:
        yield refuse(
            name, check, f"Duplicate value: {show(text)}: a {what} may occur only once", related=(first.route,)
        )


def _covers(flavor: Cursor, covered: list[Cursor], order: str, number: str) -> Iterator[Failure]:
    """Check that a flavor lists the covered resources, all and in their order."""
    cells = flavor.items_at("resources")
    wanted = [c.text() for c in covered]
    found = [c["name"].text() for c in cells]
    listed = ", ".join(w or "?" for w in wanted)
    if cells and len(found) != len(wanted):
        text = (
            f"Invalid value: flavors must have the same number of resources as the coveredResources: "
            f"{len(found)} here, {len(wanted)} there ({listed})"
        )
        yield refuse(flavor["resources"], number, text, related=(covered[0].route[:-1],) if covered else ())
        return
    for cell, name, want in zip(cells, found, wanted, strict=False):
        if name is not None and want is not None and name != want:
            text = f"Invalid value: {show(name)}: must match the name in coveredResources, which is {show(want)} here"
            is_order = set(found) == set(wanted)
            hint = f"list the resources in this order: {listed}" if is_order else f"write {want}"
            yield refuse(cell["name"], order, text, hint, related=(covered[cells.index(cell)].route,))
            if is_order:
                return  # one misplaced name shifts the others too


def _negative(cell: Cursor, check: str) -> Iterator[Failure]:
    data = cell.data
    for name in QUOTAS:
        value = amount(cell[name]) if isinstance(data, dict) and name in data else None
        if value is not None and value.nanos < 0:
            text = f"Invalid value: {show(value.text)}: must be greater than or equal to 0"
            yield refuse(cell[name], check, text)


def _limits_without_cohort(cells: list[Cursor], why: str) -> Iterator[Failure]:
    """Refuse limits without a cohort: the CEL rule names borrowingLimit once, the webhook each lendingLimit."""
    borrowing = [c["borrowingLimit"] for c in cells if c["borrowingLimit"].exists]
    if borrowing:
        first, *others = borrowing
        text = f"Invalid value: borrowingLimit must be nil when cohort is empty ({why})"
        yield refuse(first, "CQ-C01", text, on_key=True, related=tuple(o.route for o in others))
    for cell in cells:
        if cell["lendingLimit"].exists:
            text = f"Invalid value: must be nil when cohort is empty ({why})"
            yield refuse(cell["lendingLimit"], "CQ-W06", text, on_key=True)


def _lending_beyond_nominal(cells: list[Cursor]) -> Iterator[Failure]:
    for cell in cells:
        if not cell["lendingLimit"].exists:
            continue
        lending, nominal = amount(cell["lendingLimit"]), amount(cell["nominalQuota"])
        if lending is not None and nominal is not None and lending.nanos > nominal.nanos:
            text = f"Invalid value: {show(lending.text)}: must be less than or equal to the nominalQuota {nominal.text}"
            yield refuse(cell["lendingLimit"], "CQ-W07", text, related=(cell["nominalQuota"].route,))


def _preemption(at: Cursor) -> Iterator[Failure]:
    policy = at["borrowWithinCohort"]["policy"]
    if (policy.text() or "Never") != "Never" and (at["reclaimWithinCohort"].text() or "Never") == "Never":
        text = "Invalid value: reclaimWithinCohort=Never and borrowWithinCohort.policy!=Never cannot be combined"
        yield refuse(policy, "CQ-C04", text, "set reclaimWithinCohort to LowerPriority or Any, or remove the policy")


def _fungibility(at: Cursor) -> Iterator[Failure]:
    borrow = at["whenCanBorrow"].text() or "MayStopSearch"
    preempt = at["whenCanPreempt"].text() or "TryNextFlavor"
    if at["preference"].exists and (borrow, preempt) != ("TryNextFlavor", "TryNextFlavor"):
        text = (
            "Invalid value: preference can only be set when whenCanBorrow and whenCanPreempt are both TryNextFlavor; "
            f"they are {borrow} and {preempt}"
        )
        yield refuse(at["preference"], "CQ-C03", text, on_key=True)


def _weight(at: Cursor, check: str) -> Iterator[Failure]:
    weight = amount(at)
    if weight is not None and weight.nanos < 0:
        yield refuse(at, check, f"Invalid value: {show(weight.text)}: must be greater than or equal to 0")
    elif weight is not None and weight.nanos == 1:
        yield refuse(at, check, f"Invalid value: {show(weight.text)}: must be 0 or greater than 1n")


def _totals(groups: Cursor) -> Iterator[Failure]:
    flavors = sum(len(g.items_at("flavors")) for g in groups.items())
    resources = sum(len(g.items_at("coveredResources")) for g in groups.items())
    if flavors > 256:
        yield refuse(groups, "CQ-W12", f"Too many: {flavors} flavors in all groups: must have at most 256")
    if resources > 256:
        yield refuse(groups, "CQ-W13", f"Too many: {resources} covered resources in all groups: must have at most 256")
    for group in groups.items():
        cells = len(group.items_at("flavors")) * len(group.items_at("coveredResources"))
        if cells > 512:
            yield refuse(group, "CQ-W14", f"Too many: {cells} pairs of flavor and resource: must have at most 512")


def _on_flavors(spec: Cursor) -> Iterator[Failure]:
    flavors = {f["name"].text() for g in spec.items_at("resourceGroups") for f in g.items_at("flavors")}
    for check in spec["admissionChecksStrategy"].items_at("admissionChecks"):
        for name in check.items_at("onFlavors"):
            if name.text() and name.text() not in flavors:
                text = f"Invalid value: {show(name.data)}: must be one of the queue's flavors"
                yield refuse(name, "CQ-W15", text)


def _concurrent_admission(spec: Cursor) -> Iterator[Failure]:
    policy, groups = spec["concurrentAdmissionPolicy"], spec.items_at("resourceGroups")
    if not policy.exists:
        return
    flavors = [f for g in groups for f in g.items_at("flavors")]
    if len(groups) != 1:
        yield refuse(
            policy, "CQ-W16", f"Invalid value: needs exactly one resource group, not {len(groups)}", on_key=True
        )
    elif len(flavors) > 16:
        yield refuse(policy, "CQ-W17", f"Too many: {len(flavors)} flavors: must have at most 16", on_key=True)
    constraints, mode = policy["migration"]["constraints"], policy["migration"]["mode"].text()
    last = constraints["lastAcceptableFlavorName"]
    if constraints.exists and mode != "TryPreferredFlavors":
        yield refuse(constraints, "CQ-W18", "Invalid value: allowed only with mode TryPreferredFlavors", on_key=True)
    elif last.text() and last.text() not in [f["name"].text() for f in flavors]:
        yield refuse(last, "CQ-W18", f"Invalid value: {show(last.data)}: must be one of the queue's flavors")
    if spec["queueingStrategy"].text() == "StrictFIFO":
        text = "Invalid value: StrictFIFO cannot be combined with a concurrentAdmissionPolicy"
        yield refuse(spec["queueingStrategy"], "CQ-W19", text)
