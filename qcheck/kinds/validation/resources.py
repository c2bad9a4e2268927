"""Checks of requests and limits, of containers and of whole pods. QC604 reports their failures.

Source: kubernetes `pkg/apis/core/validation` (`ValidateContainerResourceRequirements`,
`ValidatePodResourceRequirements`).
"""

from __future__ import annotations

from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault
from qcheck.kinds.validation.containers import all_containers
from qcheck.kinds.validation.queues import amount
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
HUGE = "hugepages-"


def pod_resources(spec: Cursor) -> Iterator[Failure]:
    """Check the requests and limits of all containers and of the pod itself."""
    for container in all_containers(spec):
        yield from requirements(container["resources"])
    for part in ("requests", "limits"):
        for name, value in spec["resources"][part].mapping():
            if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
                text = f"Unsupported value: {show(name)}: a pod as a whole can request only cpu, memory and hugepages"
                yield requests_invalid(value, "RES-V05", text, on_key=True)
    yield from _compare(spec["resources"])


def requirements(at: Cursor) -> Iterator[Failure]:
    """Check the requests and limits of one container."""
    for part in ("limits", "requests"):
        for name, value in at[part].mapping():
            yield from _name(name, value)
            quantity = amount(value)
            if quantity is not None and quantity.nanos < 0:
                text = f"Invalid value: {show(quantity.text)}: must be greater than or equal to 0"
                yield requests_invalid(value, "RES-V02", text)
            elif quantity is not None and is_extended(name) and not quantity.is_whole:
                text = f"Invalid value: {show(quantity.text)}: must be an integer: {name} cannot be divided"
                yield requests_invalid(value, "RES-V03", text)
            elif name.startswith(HUGE):
                yield from _pages(name, value)
    yield from _compare(at)
    yield from _huge_alone(at)


def _pages(name: str, value: Cursor) -> Iterator[Failure]:
    """Check that an amount of huge pages is a whole number of them."""
    quantity = amount(value)
    try:
        page = parse_quantity(name.removeprefix(HUGE))
    except QuantityError:
        text = f"Invalid value: {show(name)}: must name the size of a page, such as hugepages-2Mi"
        yield requests_invalid(value, "RES-V01", text, on_key=True)
        return
    if quantity is not None and page.nanos > 0 and quantity.nanos % page.nanos:
        text = f"Invalid value: {show(quantity.text)}: must be an integer multiple of the page size {page.text}"
        yield requests_invalid(value, "RES-V06", text)


def _huge_alone(at: Cursor) -> Iterator[Failure]:
    named = {name: value for part in ("requests", "limits") for name, value in at[part].mapping()}
    huge = [value for name, value in named.items() if name.startswith(HUGE)]
    if huge and not named.keys() & {"cpu", "memory"}:
        yield requests_invalid(huge[0], "RES-V06", "Forbidden: HugePages require cpu or memory", on_key=True)


def is_extended(name: str) -> bool:
    """Return whether a resource is a device plugin's or administrator's: outside Kubernetes' own domains."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io") and not name.startswith("requests.")


def _name(name: str, value: Cursor) -> Iterator[Failure]:
    if "/" in name:
        fault = key_fault(name)
        if fault is None and name.startswith("requests."):
            fault = "doesn't follow extended resource name standard"
        if fault:
            yield requests_invalid(value, "RES-V01", f"Invalid value: {show(name)}: {fault}", on_key=True)
    elif name == "pods":
        text = 'Invalid value: "pods": must be a standard resource for containers (Kueue counts pods by itself)'
        yield requests_invalid(value, "WL-W03", text, on_key=True)
    elif name not in STANDARD and not name.startswith(HUGE):
        text = f"Invalid value: {show(name)}: must be a standard resource type or fully qualified"
        yield requests_invalid(value, "RES-V01", text, on_key=True)


def _compare(at: Cursor) -> Iterator[Failure]:
    """Check that requests are at most their limits; extended resources and hugepages must equal theirs."""
    limits = dict(at["limits"].mapping())
    for name, value in at["requests"].mapping():
        request, limit = amount(value), amount(limits[name]) if name in limits else None
        is_exact = is_extended(name) or name.startswith("hugepages-")
        if request is None or (name in limits and limit is None):
            continue
        if limit is None and is_exact:
            text = f"Required value: limit must be set for non overcommitable resources such as {name}"
            yield requests_invalid(at["limits"][name], "RES-V04", text)
        elif limit is not None and is_exact and request.nanos != limit.nanos:
            text = f"Invalid value: {show(request.text)}: must be equal to {name} limit of {limit.text}"
            yield requests_invalid(value, "RES-V04", text, related=(limits[name].route,))
        elif limit is not None and request.nanos > limit.nanos:
            text = f"Invalid value: {show(request.text)}: must be less than or equal to {name} limit of {limit.text}"
            yield requests_invalid(value, "RES-V04", text, related=(limits[name].route,))


def requests_invalid(
    at: Cursor, check: str, text: str, on_key: bool = False, related: tuple[tuple[str | int, ...], ...] = ()
) -> Failure:
    """Return a failure that QC604 reports."""
    failure = refuse(at, check, text, on_key=on_key, related=related)
    failure.code = ProblemCode.REQUESTS_INVALID
    return failure
