"""Pod templates with other requests, tolerations and selectors, and the places of their requests."""

from __future__ import annotations

from qcheck.answers.quota_changes import quantity
from qcheck.cluster.labels import NodeSelection, Toleration
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.value import TYPE_CHECKING, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Container, PodTemplate, Quantities
    from qcheck.cluster.workloads import Workload

STEPS = {"cpu": 1000, "memory": 2**30}
"""The step by which requests are lowered, in base units; devices are lowered one by one."""


def with_templates(workload: Workload, change: Callable[[PodTemplate], PodTemplate]) -> Workload:
    """Return a workload with a change made to the template of each pod set."""
    return replace(workload, pod_sets=tuple(replace(p, template=change(p.template)) for p in workload.pod_sets))


def tolerating(added: Toleration, template: PodTemplate) -> PodTemplate:
    """Return a template with one more toleration."""
    return replace(template, tolerations=(*template.tolerations, added))


def unselected(key: str, template: PodTemplate) -> PodTemplate:
    """Return a template whose nodeSelector lacks a key."""
    left = {k: v for k, v in template.selection.selector.items() if k != key}
    return replace(template, selection=NodeSelection(left, template.selection.terms))


def without_affinity(template: PodTemplate) -> PodTemplate:
    """Return a template without required node affinity."""
    return replace(template, selection=NodeSelection(template.selection.selector))


def asking(resource: str, units: int | None, template: PodTemplate) -> PodTemplate:
    """Return a template with at most `units` of a resource in each container that requests it; None: without it."""

    def changed(amounts: Quantities, counts: bool) -> Quantities:
        if not counts or not _exceeds(amounts, resource, units or 0):
            return amounts
        rest = {r: q for r, q in amounts.items() if r != resource}
        return rest if units is None else {**rest, resource: quantity(resource, units)}

    def edited(container: Container) -> Container:
        limits = units is None or "limits" in _sides(container, resource)
        return replace(container, requests=changed(container.requests, True), limits=changed(container.limits, limits))

    containers, inits = map(edited, template.containers), map(edited, template.init_containers)
    return replace(template, containers=tuple(containers), init_containers=tuple(inits))


def _exceeds(amounts: Quantities, resource: str, units: int) -> bool:
    return resource in amounts and amounts[resource].nanos > quantity(resource, units).nanos


def _sides(container: Container, resource: str) -> tuple[str, ...]:
    """Return the amounts of a container to lower: a limit may stay above its request, except for devices."""
    return ("requests",) if resource in STEPS and resource in container.requests else ("requests", "limits")


def requests_of(template: PodTemplate, resource: str, units: int) -> Iterator[tuple[Place, str]]:
    """Yield the places of larger requests and limits of a resource, and the new amount."""
    for container in template.all_containers():
        for part in _sides(container, resource):
            place = container.place.at("resources", part, resource)
            amounts = container.requests if part == "requests" else container.limits
            if place.exists and _exceeds(amounts, resource, units):
                yield place, written_amount(resource, units)


def asked_alone(template: PodTemplate, resource: str) -> int | None:
    """Return what a pod requests of a resource; None if several of its containers request it."""
    holders = [c for c in template.all_containers() if resource in c.effective_requests()]
    return template.amounts().get(resource, 0) if len(holders) <= 1 else None
