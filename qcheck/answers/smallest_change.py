"""The smallest single change that makes a workload run, found by trying: each candidate is judged again before it is named.

Candidates are edits of the workload itself, from one line to a smaller job, and then the quota of its queue.
"""

from __future__ import annotations

from functools import partial

from qcheck.answers.judge import judge
from qcheck.cluster.labels import NodeSelection, Toleration
from qcheck.cluster.quantity import NANO, Quantity, written_amount
from qcheck.cluster.reasons import EXCEEDS_MAX_QUOTA
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, FlavorResource
    from qcheck.cluster.pods import Container, PodTemplate, Quantities
    from qcheck.cluster.reasons import Reason
    from qcheck.cluster.workloads import PodSet


class CandidateChange(Value):
    """An edit in words, and the workload with it made."""

    words: str
    workload: Workload


def remedy(cluster: Cluster, verdict: Verdict) -> str:
    """The smallest change after which the workload runs; empty where no single one was found."""
    if verdict.runs is not False:
        return ""
    target = True if cluster.has_nodes else None
    for candidate in _edits(verdict):
        found = judge(cluster, candidate.workload)
        if found.admitted and found.runs is target:
            return candidate.words
    return _fewer(cluster, verdict.workload, target) or _smaller(cluster, verdict, target) or _quota(cluster, verdict)


def _edits(verdict: Verdict) -> Iterator[CandidateChange]:
    """Edits of one line: a toleration, a selector, a request for something without quota."""
    workload = verdict.workload
    for reason in verdict.reasons:
        if reason.taint is not None:
            taint = reason.taint
            operator = "Equal" if taint.value else "Exists"
            added = Toleration(taint.key, operator, taint.value, taint.effect)
            words = f"tolerate {taint} in the pod template"
            yield CandidateChange(words, _templates(workload, partial(_tolerating, added)))
        if reason.cause == "resource-not-covered" and reason.resource:
            words = f"remove the request for {reason.resource}"
            yield CandidateChange(words, _templates(workload, partial(_asking, reason.resource, None)))
    keys = {k for p in workload.pod_sets for k in p.template.selection.selector}
    for key in sorted(keys):
        yield CandidateChange(f"remove {key} from the nodeSelector", _templates(workload, partial(_unselected, key)))
    if any(p.template.selection.terms for p in workload.pod_sets):
        yield CandidateChange("remove the required node affinity", _templates(workload, _without_affinity))


def _templates(workload: Workload, change: Callable[[PodTemplate], PodTemplate]) -> Workload:
    return replace(workload, pod_sets=tuple(replace(p, template=change(p.template)) for p in workload.pod_sets))


def _tolerating(added: Toleration, template: PodTemplate) -> PodTemplate:
    return replace(template, tolerations=(*template.tolerations, added))


def _unselected(key: str, template: PodTemplate) -> PodTemplate:
    left = {k: v for k, v in template.selection.selector.items() if k != key}
    return replace(template, selection=NodeSelection(left, template.selection.terms))


def _without_affinity(template: PodTemplate) -> PodTemplate:
    return replace(template, selection=NodeSelection(template.selection.selector))


def _asking(resource: str, units: int | None, template: PodTemplate) -> PodTemplate:
    """The template with `units` of a resource in each container that asks for it; None: without it."""

    def changed(amounts: Quantities) -> Quantities:
        rest = {r: q for r, q in amounts.items() if r != resource}
        return rest if units is None or resource not in amounts else {**rest, resource: _quantity(resource, units)}

    def edited(container: Container) -> Container:
        return replace(container, requests=changed(container.requests), limits=changed(container.limits))

    containers, inits = map(edited, template.containers), map(edited, template.init_containers)
    return replace(template, containers=tuple(containers), init_containers=tuple(inits))


def _quantity(resource: str, units: int) -> Quantity:
    return Quantity(units * (10**6 if resource == "cpu" else NANO), "decimal", "")


def _fewer(cluster: Cluster, workload: Workload, target: bool | None) -> str:
    """The most pods of the largest pod set (or groups) with which it runs."""
    if workload.groups > 1:
        most = _most(workload.groups - 1, lambda n: _runs(cluster, replace(workload, groups=n), target))
        return f"run {most} groups instead of {workload.groups}" if most else ""
    sizes = [(p.count, i) for i, p in enumerate(workload.pod_sets) if p.count > 1]
    if not sizes:
        return ""
    count, index = max(sizes)
    most = _most(count - 1, lambda n: _runs(cluster, _sized(workload, index, n), target))
    return f"run {most} pods of {workload.pod_sets[index].name} at once instead of {count}" if most else ""


def _most(high: int, works: Callable[[int], bool]) -> int:
    """The largest number up to `high` that works, by bisection; 0 if none does."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if works(middle) else (low, middle - 1)
    return low


def _sized(workload: Workload, index: int, count: int) -> Workload:
    def resized(at: int, pod_set: PodSet) -> PodSet:
        return replace(pod_set, count=count, minimum=None) if at == index else pod_set

    return replace(workload, pod_sets=tuple(resized(i, p) for i, p in enumerate(workload.pod_sets)))


def _runs(cluster: Cluster, workload: Workload, target: bool | None) -> bool:
    found = judge(cluster, workload)
    return found.admitted is True and found.runs is target


def _smaller(cluster: Cluster, verdict: Verdict, target: bool | None) -> str:
    """The most of the resource in question that each pod may ask for, where one container asks for it."""
    workload = verdict.workload
    for resource in dict.fromkeys(r.resource for r in verdict.reasons if r.resource):
        asked = [_alone(p.template, resource) for p in workload.pod_sets]
        largest = max((a for a in asked if a is not None), default=0)
        if None in asked or not largest:
            continue
        step = {"cpu": 1000, "memory": 2**30}.get(resource, 1)
        most = step * _most((largest - 1) // step, partial(_runs_asking, cluster, workload, target, resource, step))
        if most:
            less, too_much = show_amounts(resource, most, largest)
            return f"ask for {named(resource, less)} per pod instead of {too_much}"
    return ""


def _runs_asking(
    cluster: Cluster, workload: Workload, target: bool | None, resource: str, step: int, steps: int
) -> bool:
    return _runs(cluster, _templates(workload, partial(_asking, resource, steps * step)), target)


def _alone(template: PodTemplate, resource: str) -> int | None:
    """What a pod asks of a resource; None if several of its containers ask for it."""
    asking = [c for c in template.all_containers() if resource in c.effective_requests()]
    return template.amounts().get(resource, 0) if len(asking) <= 1 else None


def _quota(cluster: Cluster, verdict: Verdict) -> str:
    """The smallest raise of one quota that lets the workload in."""
    queue = cluster.queue.get(verdict.decision.cluster_queue or "")
    short = [r for r in verdict.reasons if r.code == EXCEEDS_MAX_QUOTA and r.flavor and r.resource and r.short]
    if queue is None:
        return ""
    for reason in sorted(short, key=lambda r: r.short):
        cell = (reason.flavor or "", reason.resource or "")
        raised = _raised(queue, cell, reason)
        queues = tuple(raised if q.name == queue.name else q for q in cluster.queues)
        if judge(replace(cluster, queues=queues), verdict.workload).admitted:
            quota = raised.quota(*cell)
            shown = written_amount(cell[1], quota.nominal) if quota is not None else ""
            return f"raise nominalQuota of {queue.name} for {cell[1]} in {cell[0]} to {shown}"
    return ""


def _raised(queue: ClusterQueue, cell: FlavorResource, reason: Reason) -> ClusterQueue:
    def lifted(nominal: Quantity) -> Quantity:
        return Quantity(nominal.nanos + _quantity(cell[1], reason.short).nanos, nominal.family, "")

    groups = tuple(
        replace(g, flavors=tuple(
            replace(f, quotas=tuple(
                replace(q, nominal_quantity=lifted(q.nominal_quantity)) if q.key == cell else q for q in f.quotas
            )) for f in g.flavors
        )) for g in queue.groups
    )  # fmt: skip
    return replace(queue, groups=groups)
