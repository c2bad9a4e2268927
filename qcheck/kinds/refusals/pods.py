"""Pod templates of built-in kinds, as the API server checks them when the object is created.

Source: kubernetes `pkg/apis/core/validation`. Resources that break a rule of their own are `requests-invalid` (QC604).
"""

from __future__ import annotations

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.refusals.queues import amount
from qcheck.kinds.refusals.selectors import affinity, annotation_keys, label_map, tolerations
from qcheck.kinds.refusals.target import refuse
from qcheck.kinds.schema.failure import show
from qcheck.kinds.schema.formats import key_fault, label_fault, subdomain_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure

STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
REQUESTS_INVALID = "requests-invalid"


def pod_template(template: Cursor, restart: tuple[str, ...] = ("Always", "OnFailure", "Never")) -> Iterator[Failure]:
    """A PodTemplateSpec or Pod; `restart` are the restart policies that its owner takes (the first is the default)."""
    spec = template["spec"]
    yield from label_map(template["metadata"]["labels"], "POD-V01")
    yield from annotation_keys(template["metadata"]["annotations"], "POD-V01")
    yield from label_map(spec["nodeSelector"], "POD-V02")
    yield from affinity(spec["affinity"], "POD-V03")
    yield from tolerations(spec["tolerations"], "POD-V04")
    yield from _containers(spec)
    yield from _policies(spec, restart)
    yield from pod_resources(spec)


def _containers(spec: Cursor) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    if isinstance(spec["containers"].data, list) and not spec["containers"].data:
        yield refuse(spec["containers"], "POD-V05", "Required value: a pod has at least one container")
    for container in (*spec["initContainers"].items(), *spec["containers"].items()):
        name = container["name"].text()
        if name is None:
            continue
        if fault := label_fault(name):
            yield refuse(container["name"], "POD-V05", f"Invalid value: {show(name)}: {fault}")
        first = seen.setdefault(name, container)
        if first is not container and first.route[:-1] != container.route[:-1]:
            text = f"Duplicate value: {show(name)}: containers and initContainers share their names"
            yield refuse(container["name"], "POD-V05", text, related=(first.route,))


def _policies(spec: Cursor, restart: tuple[str, ...]) -> Iterator[Failure]:
    policy = spec["restartPolicy"]
    shown = ", ".join(show(r) for r in restart)
    if policy.text() is None and "Always" not in restart and spec.exists:
        yield refuse(policy, "POD-V06", f"Required value: valid values: {shown}", f"write restartPolicy: {restart[0]}")
    elif policy.text() is not None and policy.text() not in restart:
        yield refuse(policy, "POD-V06", f"Unsupported value: {show(policy.data)}: supported values: {shown}")
    preemption = spec["preemptionPolicy"]
    if preemption.text() not in (None, "", "Never", "PreemptLowerPriority"):
        text = f'Unsupported value: {show(preemption.data)}: supported values: "Never", "PreemptLowerPriority"'
        yield refuse(preemption, "POD-V07", text)
    for field in ("priorityClassName", "runtimeClassName"):
        name = spec[field].text()
        if name and (fault := subdomain_fault(name)):
            yield refuse(spec[field], "POD-V07", f"Invalid value: {show(name)}: {fault}")
    grace = spec["terminationGracePeriodSeconds"].integer()
    if grace is not None and grace < 0:
        text = f"Invalid value: {grace}: must be greater than or equal to 0"
        yield refuse(spec["terminationGracePeriodSeconds"], "POD-V08", text)


def pod_resources(spec: Cursor) -> Iterator[Failure]:
    """Requests and limits of all containers and of the pod itself."""
    for container in (*spec["initContainers"].items(), *spec["containers"].items()):
        yield from _requirements(container["resources"])
    for part in ("requests", "limits"):
        for name, value in spec["resources"][part].mapping():
            if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
                text = f"Unsupported value: {show(name)}: a pod as a whole can ask only cpu, memory and hugepages"
                yield _invalid(value, "RES-V05", text, on_key=True)
    yield from _compare(spec["resources"])


def _requirements(at: Cursor) -> Iterator[Failure]:
    for part in ("limits", "requests"):
        for name, value in at[part].mapping():
            yield from _name(name, value)
            quantity = amount(value)
            if quantity is not None and quantity.nanos < 0:
                text = f"Invalid value: {show(quantity.text)}: must be greater than or equal to 0"
                yield _invalid(value, "RES-V02", text)
            elif quantity is not None and is_extended(name) and not quantity.is_whole:
                text = f"Invalid value: {show(quantity.text)}: must be an integer: {name} cannot be divided"
                yield _invalid(value, "RES-V03", text)
    yield from _compare(at)


def is_extended(name: str) -> bool:
    """A resource of a device plugin or administrator: a qualified name outside Kubernetes' own domains."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io") and not name.startswith("requests.")


def _name(name: str, value: Cursor) -> Iterator[Failure]:
    if "/" in name:
        if fault := key_fault(name):
            yield _invalid(value, "RES-V01", f"Invalid value: {show(name)}: {fault}", on_key=True)
    elif name == "pods":
        text = 'Invalid value: "pods": must be a standard resource for containers (Kueue counts pods by itself)'
        yield _invalid(value, "WL-W03", text, on_key=True)
    elif name not in STANDARD and not name.startswith("hugepages-"):
        text = f"Invalid value: {show(name)}: must be a standard resource type or fully qualified"
        yield _invalid(value, "RES-V01", text, on_key=True)


def _compare(at: Cursor) -> Iterator[Failure]:
    """A request is at most its limit; extended resources and hugepages are not overcommitted: limit required, equal."""
    limits = dict(at["limits"].mapping())
    for name, value in at["requests"].mapping():
        request, limit = amount(value), amount(limits[name]) if name in limits else None
        is_exact = is_extended(name) or name.startswith("hugepages-")
        if request is None or (name in limits and limit is None):
            continue
        if limit is None and is_exact:
            text = f"Required value: limit must be set for non overcommitable resources such as {name}"
            yield _invalid(at["limits"][name], "RES-V04", text)
        elif limit is not None and is_exact and request.nanos != limit.nanos:
            text = f"Invalid value: {show(request.text)}: must be equal to {name} limit of {limit.text}"
            yield _invalid(value, "RES-V04", text, related=(limits[name].route,))
        elif limit is not None and request.nanos > limit.nanos:
            text = f"Invalid value: {show(request.text)}: must be less than or equal to {name} limit of {limit.text}"
            yield _invalid(value, "RES-V04", text, related=(limits[name].route,))


def _invalid(
    at: Cursor, check: str, text: str, on_key: bool = False, related: tuple[tuple[str | int, ...], ...] = ()
) -> Failure:
    failure = refuse(at, check, text, on_key=on_key, related=related)
    failure.code = REQUESTS_INVALID
    return failure
