"""Changes after which a workload runs, found by trying: each is judged again before it is named.

They are edits of the workload itself, from one line to a smaller job, and then the quota of its queue. `admit` names the
first; `suggest` writes those that are other values at places of files.
"""

from __future__ import annotations

from functools import partial

from qcheck.answers.judge import judge
from qcheck.answers.proposals import Way
from qcheck.answers.quota_changes import quantity, with_quotas
from qcheck.cluster.labels import NodeSelection, Toleration
from qcheck.cluster.place import follow
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.answers.proposals import Values
    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import Container, PodTemplate, Quantities
    from qcheck.cluster.workloads import PodSet

STEPS = {"cpu": 1000, "memory": 2**30}
"""By how much requests are made smaller, in base units; devices one by one."""


class WorkloadChange(Value):
    """An edit in words, and as other values at places: none where it is no change of a value."""

    words: str
    way: Way | None = None
    values: Values = ()


def smallest_change(cluster: Cluster, verdict: Verdict) -> WorkloadChange | None:
    """Return the smallest change after which the workload runs; None where no single one was found."""
    return next(changes(cluster, verdict), None)


def changes(cluster: Cluster, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield changes after which the workload runs, the smallest first."""
    if verdict.runs is not False:
        return
    trial = _Trial(cluster)
    yield from _edits(trial, verdict)
    yield from fewer_pods(trial, verdict)
    yield from smaller_pods(trial, verdict)
    yield from more_quota(trial, verdict)


class _Trial:
    """Judges changed workloads on a cluster; without nodes it is enough that they are admitted."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def runs(self, workload: Workload) -> bool:
        found = judge(self.cluster, workload)
        return found.admitted is True and found.runs is (True if self.cluster.has_nodes else None)


def _edits(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Edits of one line: a toleration, a selector, a request for something without quota."""
    for words, workload in _candidates(verdict):
        if trial.runs(workload):
            yield WorkloadChange(words)


def _candidates(verdict: Verdict) -> Iterator[tuple[str, Workload]]:
    workload = verdict.workload
    for reason in verdict.reasons:
        if reason.taint is not None:
            taint = reason.taint
            operator = "Equal" if taint.value else "Exists"
            added = Toleration(taint.key, operator, taint.value, taint.effect)
            yield f"tolerate {taint} in the pod template", _templates(workload, partial(_tolerating, added))
        if reason.cause == "resource-not-covered" and reason.resource:
            without = partial(_asking, reason.resource, None)
            yield f"remove the request for {reason.resource}", _templates(workload, without)
    keys = {k for p in workload.pod_sets for k in p.template.selection.selector}
    for key in sorted(keys):
        yield f"remove {key} from the nodeSelector", _templates(workload, partial(_unselected, key))
    if any(p.template.selection.terms for p in workload.pod_sets):
        yield "remove the required node affinity", _templates(workload, _without_affinity)


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

    def changed(amounts: Quantities, counts: bool) -> Quantities:
        if resource not in amounts or not counts:
            return amounts
        rest = {r: q for r, q in amounts.items() if r != resource}
        return rest if units is None else {**rest, resource: quantity(resource, units)}

    def edited(container: Container) -> Container:
        limits = units is None or "limits" in _sides(container, resource)
        return replace(container, requests=changed(container.requests, True), limits=changed(container.limits, limits))

    containers, inits = map(edited, template.containers), map(edited, template.init_containers)
    return replace(template, containers=tuple(containers), init_containers=tuple(inits))


def _sides(container: Container, resource: str) -> tuple[str, ...]:
    """Which amounts of a container are made smaller: a limit may stay above a request that is written beside it, but not
    of devices."""
    return ("requests",) if resource in STEPS and resource in container.requests else ("requests", "limits")


def fewer_pods(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield the most pods of the largest pod set (or groups) with which it runs."""
    workload = verdict.workload
    if workload.groups > 1:
        most = _most(workload.groups - 1, lambda n: trial.runs(replace(workload, groups=n)))
        if most:
            values = _number(workload.place.at("spec", "replicas"), workload.groups, most)
            yield WorkloadChange(f"run {most} groups instead of {workload.groups}", Way.FEWER_PODS, values)
        return
    sizes = [(p.count, i) for i, p in enumerate(workload.pod_sets) if p.count > 1]
    if not sizes:
        return
    count, index = max(sizes)
    pod_set = workload.pod_sets[index]
    each = _pods_each(pod_set)
    most = each * _most((count - 1) // each, lambda n: trial.runs(_sized(workload, index, n * each)))
    if most:
        words = f"run {most} pods of {pod_set.name} at once instead of {count}"
        yield WorkloadChange(words, Way.FEWER_PODS, _number(pod_set.count_place, count // each, most // each))


def _pods_each(pod_set: PodSet) -> int:
    """How many pods one more in the written number means: several for the replicas of a JobSet."""
    written = follow(pod_set.count_place.origin.data, pod_set.count_place.route)
    is_number = isinstance(written, int) and not isinstance(written, bool) and written > 0
    return pod_set.count // written if is_number and isinstance(written, int) and not pod_set.count % written else 1


def _number(place: Place, was: int, now: int) -> Values:
    """Another number at a place, if the old one is written there."""
    return ((place, str(now)),) if follow(place.origin.data, place.route) == was else ()


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


def smaller_pods(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield the most of the resource in question that each pod may ask for, where one container asks for it.

    A workload of one pod set then also runs more of these pods, as far as they ask for no more in all.
    """
    workload = verdict.workload
    for resource in dict.fromkeys(r.resource for r in verdict.reasons if r.resource):
        asked = [_alone(p.template, resource) for p in workload.pod_sets]
        largest = max((a for a in asked if a is not None), default=0)
        if None in asked or not largest:
            continue
        step = STEPS.get(resource, 1)
        most = step * _most((largest - 1) // step, partial(_runs_asking, trial, workload, resource, step))
        if most:
            yield from _shrunk(trial, workload, resource, largest, most)
            return


def _runs_asking(trial: _Trial, workload: Workload, resource: str, step: int, steps: int) -> bool:
    return trial.runs(_templates(workload, partial(_asking, resource, steps * step)))


def _shrunk(trial: _Trial, workload: Workload, resource: str, was: int, now: int) -> Iterator[WorkloadChange]:
    less, more = show_amounts(resource, now, was)
    words = f"ask for {named(resource, less)} per pod instead of {more}"
    values = tuple(v for p in workload.pod_sets for v in _requests(p.template, resource, now))
    yield WorkloadChange(words, Way.SMALLER_PODS, values)
    count = workload.pod_sets[0].count
    if len(workload.pod_sets) > 1 or workload.groups > 1 or count < 2 or _pods_each(workload.pod_sets[0]) > 1:
        return
    smaller = _templates(workload, partial(_asking, resource, now))
    most = count + _most(count * was // now - count, lambda n: trial.runs(_sized(smaller, 0, count + n)))
    counts = _number(workload.pod_sets[0].count_place, count, most)
    if most > count and counts:
        also = f"{words}, and run {most} pods of {workload.pod_sets[0].name} instead of {count}"
        yield WorkloadChange(also, Way.MORE_SMALLER_PODS, (*values, *counts))


def _requests(template: PodTemplate, resource: str, units: int) -> Iterator[tuple[Place, str]]:
    """Where containers write a request or limit of a resource, and the new amount."""
    for container in template.all_containers():
        for part in _sides(container, resource):
            place = container.place.at("resources", part, resource)
            if place.exists:
                yield place, written_amount(resource, units)


def _alone(template: PodTemplate, resource: str) -> int | None:
    """What a pod asks of a resource; None if several of its containers ask for it."""
    asking = [c for c in template.all_containers() if resource in c.effective_requests()]
    return template.amounts().get(resource, 0) if len(asking) <= 1 else None


def more_quota(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield the smallest raise of one quota that lets the workload in."""
    cluster = trial.cluster
    queue = cluster.queue.get(verdict.decision.cluster_queue or "")
    short = [
        r for r in verdict.reasons if r.code is ReasonCode.EXCEEDS_MAX_QUOTA and r.flavor and r.resource and r.short
    ]
    for reason in sorted(short, key=lambda r: r.short) if queue is not None else ():
        quota = queue.quota(reason.flavor or "", reason.resource or "") if queue is not None else None
        if queue is None or quota is None:
            continue
        raised = quota.nominal + reason.short
        changed = with_quotas(cluster, {(queue.name, *quota.key): raised})
        if judge(changed, verdict.workload).admitted:
            now, was = (written_amount(quota.resource, n) for n in (raised, quota.nominal))
            yield WorkloadChange(
                f"raise nominalQuota of {queue.name} for {quota.resource} in {quota.flavor} from {was} to {now}",
                Way.RAISE_QUOTA,
                ((quota.nominal_place, written_amount(quota.resource, raised, up=True)),),
            )
            return
