"""Volcano's decision on a workload: its queue, the gates on the path to `root`, and the pods that start together."""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection, NodeSelectorTerm, Requirement
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.volcano import NODE_GROUP_LABEL, ROOT
from qcheck.quota.start_decision import StartDecision, StartingPods
from qcheck.schedulers.volcano.gates import barriers, stopped_by
from qcheck.schedulers.volcano.hyper_nodes import required_hyper_nodes
from qcheck.schedulers.volcano.jobs import gangs_with, joins_by_queue
from qcheck.schedulers.volcano.queues import queues_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.volcano.gates import VolcanoBarrier
    from qcheck.schedulers.volcano.jobs import VolcanoGang
    from qcheck.schedulers.volcano.queues import Queues


def decide(cluster: Cluster, workload: Workload) -> StartDecision | None:
    """Return Volcano's decision; None for a workload that Volcano does not schedule.

    If only an option of the workload's operator sends it to Volcano, it may start without Volcano: no refusal is certain.
    """
    gangs = gangs_with(cluster, workload)
    if not gangs:
        return None
    queues = queues_of(cluster)
    refused = None if joins_by_queue(workload) else False
    for gang in gangs:
        why = _unusable(cluster, queues, gang)
        if why:
            certain = cluster.has_all("Queue") or queues.exists(gang.queue)
            reason = Reason(ReasonCode.QUEUE_UNUSABLE, "volcano-queue", why, gang.queue_place)
            return StartDecision(gang.queue, refused if certain else None, (reason,))
    over = tuple(_refused(queues, gang, b) for gang in gangs for b in barriers(cluster, gang))
    if over:
        return StartDecision(gangs[0].queue, refused, over)
    domain = required_hyper_nodes(cluster, gangs[0].topology) if len(gangs) == 1 else None
    starts = tuple(each for gang in gangs for each in _starts(queues, gang))
    return StartDecision(queue=gangs[0].queue, admitted=True, starts=starts, domain=domain)


def _unusable(cluster: Cluster, queues: Queues, gang: VolcanoGang) -> str:
    """Return why the queue accepts no job; "" if it does."""
    known = queues.queue.get(gang.queue)
    if gang.queue == ROOT or not queues.exists(gang.queue):
        return f"there is no queue {gang.queue} that accepts jobs"
    if queues.children(gang.queue):
        return f"queue {gang.queue} has queues below it and accepts no jobs"
    if known is not None and known.state not in ("", "Open"):
        return f"queue {gang.queue} is {known.state} and accepts no jobs"
    if any(gang.queue in c for c in queues.cycles):
        return f"queue {gang.queue} is its own ancestor, so it gets no share"
    return stopped_by(cluster)


def _refused(queues: Queues, gang: VolcanoGang, barrier: VolcanoBarrier) -> Reason:
    requested, limit = show_amounts(barrier.resource, barrier.requested, barrier.limit)
    queue = queues.queue.get(barrier.queue)
    is_stated = queue is not None and barrier.resource in queue.amounts["capability"]
    near = (queue.place_of("capability", barrier.resource) if is_stated else queue.name_place,) if queue else ()
    return Reason(
        code=ReasonCode.EXCEEDS_MAX_QUOTA,
        cause="volcano-limit",
        message=f"it needs {named(barrier.resource, requested)} to start, but queue {barrier.queue} may hold at most {limit}",
        place=gang.place,
        near=near,
        flavor=barrier.queue,
        resource=barrier.resource,
        short=barrier.requested - barrier.limit,
    )


def _starts(queues: Queues, gang: VolcanoGang) -> tuple[StartingPods, ...]:
    """Return the pods that must start, plus as many others as the gang needs, the smallest first."""
    alone = {id(p) for w in gang.workloads if w.each_pod_alone for p in w.pod_sets}
    least = (
        [t.least for t in gang.tasks] if sum(t.least for t in gang.tasks) <= gang.together else [0] * len(gang.tasks)
    )
    left = gang.together - sum(least)
    order = sorted(range(len(gang.tasks)), key=lambda at: sorted(gang.tasks[at].request.items()))
    for at in order:
        more = min(left, gang.tasks[at].count - least[at])
        least[at] += more
        left -= more
    found = []
    for task, count in zip(gang.tasks, least, strict=True):
        number = task.count if id(task.pod_set) in alone else count
        if number:
            found.append(StartingPods(task.pod_set, bound(queues, task.template, gang.queue), number))
    return tuple(found)


def bound(queues: Queues, template: PodTemplate, queue: str) -> PodTemplate:
    """Return the template with the node groups to which the queue is restricted."""
    terms = queues.node_terms(queue)
    if terms is None or terms.is_empty:
        return template
    groups = tuple(g for g in dict.fromkeys((*terms.required, *terms.preferred, *terms.avoided)) if terms.allows(g))
    within = Requirement(NODE_GROUP_LABEL, "In", groups)
    own = template.selection.terms
    kept = tuple(
        NodeSelectorTerm((*term.expressions, within), term.fields)
        for term in (own if own is not None else (NodeSelectorTerm(),))
        if own is None or term.expressions or term.fields
    )
    return replace(template, selection=NodeSelection(template.selection.selector, kept))
