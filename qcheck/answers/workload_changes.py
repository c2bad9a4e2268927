"""Changes after which a workload runs, found by trial: each is judged before it is proposed.

They are edits of the workload itself, from one line to a smaller job, and then of its queue's quota. `admit` names the
first; `suggest` writes those that replace values in files.
"""

from __future__ import annotations

from functools import partial

from qcheck.answers.judge import judge
from qcheck.answers.node_proposals import MOST_NODES, count_of, groups_of
from qcheck.answers.pod_edits import (
    STEPS,
    asked_alone,
    asking,
    requests_of,
    tolerating,
    unselected,
    with_templates,
    without_affinity,
)
from qcheck.answers.proposals import Way
from qcheck.answers.quota_changes import with_quotas
from qcheck.cluster.labels import Toleration
from qcheck.cluster.place import follow
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.reasons import ReasonCode
from qcheck.cluster.resources import is_compute
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import Workload
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.answers.proposals import Values
    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.nodes import NodePool
    from qcheck.cluster.place import Place
    from qcheck.cluster.workloads import PodSet

MOST_POOLS = 3


class WorkloadChange(Value):
    """An edit in words, and as new values at places; none if it does not replace a value.

    `can_run` is False if the workload is then admitted, but no node can run its pods.
    """

    words: str
    way: Way | None = None
    values: Values = ()
    can_run: bool = True


def smallest_change(cluster: Cluster, verdict: Verdict) -> WorkloadChange | None:
    """Return the smallest change after which the workload runs; None if no single change suffices."""
    return next((change for change in changes(cluster, verdict) if change.can_run), None)


def changes(cluster: Cluster, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield changes after which the workload runs, the smallest first."""
    if verdict.runs is not False:
        return
    trial = _Trial(cluster)
    yield from _edits(trial, verdict)
    yield from fewer_pods(trial, verdict)
    yield from smaller_pods(trial, verdict)
    yield from more_quota(trial, verdict)
    yield from more_machines(trial, verdict)


class _Trial:
    """Judges changed workloads on a cluster; without nodes it is enough that they are admitted."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def runs(self, workload: Workload) -> bool:
        found = judge(self.cluster, workload)
        return found.admitted is True and found.runs is (True if self.cluster.has_nodes else None)


def _edits(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield edits of one line: a toleration, a selector, a request for a resource without quota."""
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
            yield f"tolerate {taint} in the pod template", with_templates(workload, partial(tolerating, added))
        if reason.cause == "resource-not-covered" and reason.resource:
            without = partial(asking, reason.resource, None)
            yield f"remove the request for {reason.resource}", with_templates(workload, without)
    keys = {k for p in workload.pod_sets for k in p.template.selection.selector}
    for key in sorted(keys):
        yield f"remove {key} from the nodeSelector", with_templates(workload, partial(unselected, key))
    if any(p.template.selection.terms for p in workload.pod_sets):
        yield "remove the required node affinity", with_templates(workload, without_affinity)


def fewer_pods(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield the largest number of pods of the largest pod set (or groups) with which it runs."""
    workload = verdict.workload
    if workload.groups > 1:
        most = _most(workload.groups - 1, lambda n: trial.runs(replace(workload, groups=n)))
        if most:
            values = _number(workload.place.at("spec", "replicas"), workload.groups, most)
            yield WorkloadChange(
                f"run {most} group{'s' * (most != 1)} instead of {workload.groups}", Way.FEWER_PODS, values
            )
        return
    sizes = [(p.count, i) for i, p in enumerate(workload.pod_sets) if p.count > 1]
    if not sizes:
        return
    count, index = max(sizes)
    pod_set = workload.pod_sets[index]
    each = _pods_each(pod_set)
    most = each * _most((count - 1) // each, lambda n: trial.runs(_sized(workload, index, n * each)))
    if most:
        words = f"run {most} pod{'s' * (most != 1)} of {pod_set.name} at once instead of {count}"
        yield WorkloadChange(words, Way.FEWER_PODS, _number(pod_set.count_place, count // each, most // each))


def _pods_each(pod_set: PodSet) -> int:
    """Return how many pods one more in the written number means: several for the replicas of a JobSet."""
    written = follow(pod_set.count_place.origin.data, pod_set.count_place.route)
    is_number = isinstance(written, int) and not isinstance(written, bool) and written > 0
    return pod_set.count // written if is_number and isinstance(written, int) and not pod_set.count % written else 1


def _number(place: Place, was: int, now: int) -> Values:
    """Return a new number at a place, if the old one is written there."""
    return ((place, str(now)),) if follow(place.origin.data, place.route) == was else ()


def _most(high: int, works: Callable[[int], bool]) -> int:
    """Return the largest number up to `high` that works, by bisection; 0 if none does."""
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
    """Yield the largest request of the resource in question with which it runs, if one container requests it.

    A workload with one pod set then also runs more of these pods, within the same total.
    """
    workload = verdict.workload
    for resource in _in_question(verdict):
        asked = [asked_alone(p.template, resource) for p in workload.pod_sets]
        largest = max((a for a in asked if a is not None), default=0)
        if None in asked or not largest:
            continue
        step = STEPS.get(resource, 1)
        most = step * _most((largest - 1) // step, partial(_runs_asking, trial, workload, resource, step))
        if most:
            yield from _shrunk(trial, workload, resource, largest, most)
            return


def _in_question(verdict: Verdict) -> list[str]:
    """Return the resources that the reasons name; if pods do not fit at once, the devices that they request."""
    named = dict.fromkeys(r.resource for r in verdict.reasons if r.resource)
    asked = (r for p in verdict.workload.pod_sets for r in p.template.amounts() if is_compute(r))
    return [*named] or sorted(set(asked))


def _runs_asking(trial: _Trial, workload: Workload, resource: str, step: int, steps: int) -> bool:
    return trial.runs(with_templates(workload, partial(asking, resource, steps * step)))


def _shrunk(trial: _Trial, workload: Workload, resource: str, was: int, now: int) -> Iterator[WorkloadChange]:
    less, more = show_amounts(resource, now, was)
    words = f"ask for {named(resource, less)} per pod instead of {more}"
    values = tuple(v for p in workload.pod_sets for v in requests_of(p.template, resource, now))
    yield WorkloadChange(words, Way.SMALLER_PODS, values)
    count = workload.pod_sets[0].count
    if len(workload.pod_sets) > 1 or workload.groups > 1 or count < 2 or _pods_each(workload.pod_sets[0]) > 1:
        return
    smaller = with_templates(workload, partial(asking, resource, now))
    most = count + _most(count * was // now - count, lambda n: trial.runs(_sized(smaller, 0, count + n)))
    counts = _number(workload.pod_sets[0].count_place, count, most)
    if most > count and counts:
        also = f"{words}, and run {most} pods of {workload.pod_sets[0].name} instead of {count}"
        yield WorkloadChange(also, Way.MORE_SMALLER_PODS, (*values, *counts))


def more_quota(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield the smallest raise of one quota that admits the workload."""
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
        after = judge(changed, verdict.workload)
        if after.admitted:
            was, now = written_amount(quota.resource, quota.nominal), written_amount(quota.resource, raised, up=True)
            yield WorkloadChange(
                f"raise nominalQuota of {queue.name} for {quota.resource} in {quota.flavor} from {was} to {now}",
                Way.RAISE_QUOTA,
                ((quota.nominal_place, now),),
                can_run=after.runs is not False,
            )
            return


def more_machines(trial: _Trial, verdict: Verdict) -> Iterator[WorkloadChange]:
    """Yield, for pools of its flavors, the fewest additional nodes with which it runs."""
    cluster = trial.cluster
    flavors = [f for a in verdict.decision.assigned for f in a.flavor_names]
    groups = groups_of(cluster, flavors) if flavors else list(supply_of(cluster).groups)
    for group in groups[:MOST_POOLS] if verdict.admitted is not False else ():
        count = count_of(group)
        if count is None or group.pool is None:
            continue
        most = max(MOST_NODES // count.nodes, 1)
        runs = partial(_runs_with, cluster, verdict.workload, group.pool, most, count.nodes)
        spared = _most(most, runs) if runs(0) else most
        if spared < most:
            more, value = (most - spared) * count.nodes, count.number + most - spared
            words = f"add {more} more node{'s' * (more != 1)} of {group.name}: {count.number} becomes {value}"
            yield WorkloadChange(words, Way.ADD_NODES, ((count.place, str(value)),))


def _runs_with(cluster: Cluster, workload: Workload, pool: NodePool, most: int, each: int, spared: int) -> bool:
    """Return whether a workload runs with `most - spared` times `each` more nodes in a pool."""
    more = (most - spared) * each
    grown = replace(
        pool,
        minimum=pool.minimum + more,
        desired=None if pool.desired is None else pool.desired + more,
        maximum=None if pool.maximum is None else pool.maximum + more,
    )
    changed = replace(cluster, pools=tuple(grown if p is pool else p for p in cluster.pools))
    return judge(changed, workload).runs is True
