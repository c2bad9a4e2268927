"""QC957, QC960, QC963: Volcano's queues that provide too little for their jobs."""

from __future__ import annotations

from itertools import islice

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.place import follow
from qcheck.cluster.problems import NODES
from qcheck.cluster.quantity import written_amount
from qcheck.cluster.resources import is_accelerator
from qcheck.cluster.units import IN_PROSE, named, scale_of, show_amount, show_amounts
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import ROOT
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.volcano.amounts import amounts, is_empty
from qcheck.schedulers.volcano.division import proportion
from qcheck.schedulers.volcano.gates import barriers
from qcheck.schedulers.volcano.jobs import gangs_of, joins_by_queue
from qcheck.schedulers.volcano.nodes import is_estimated, is_known, total
from qcheck.schedulers.volcano.queues import Queues, queues_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.units import Scale
    from qcheck.cluster.volcano import VolcanoQueue
    from qcheck.schedulers.volcano.amounts import Amount, Amounts
    from qcheck.schedulers.volcano.gates import VolcanoBarrier
    from qcheck.schedulers.volcano.jobs import VolcanoGang

_MOST = 4
"""The most guarantees of other queues that a finding shows."""


def gangs_in(cluster: Cluster) -> dict[str, list[VolcanoGang]]:
    """Return the gangs by the queue that they name."""
    found: dict[str, list[VolcanoGang]] = {}
    for gang in gangs_of(cluster):
        found.setdefault(gang.queue, []).append(gang)
    return found


@rule("QC957")
def no_deserved(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that deserve none of the accelerators that their jobs request; one finding per queue."""
    queues = queues_of(cluster)
    if not queues.scheduler.by_capacity:
        return
    for name, gangs in gangs_in(cluster).items():
        queue = queues.queue.get(name)
        if queue is None or queue not in queues.leaves:
            continue
        deserved = {**queue.amounts["guarantee"], **queue.amounts["deserved"]}
        wanted = {r: g for g in gangs for r in g.resources if is_accelerator(r) or not deserved}
        lacking = sorted(r for r in wanted if not deserved.get(r))
        if lacking:
            yield _without(queue, lacking, wanted[lacking[0]])


def _without(queue: VolcanoQueue, lacking: list[str], gang: VolcanoGang) -> Finding:
    place = queue.place_of("deserved") if queue.deserved else queue.name_place
    none = "; it deserves no resource at all, so it is served last" if is_empty(queue.amounts["deserved"]) else ""
    message = (
        f"queue {queue.name} deserves no {names(lacking)}, which {gang.id} requests: "
        f"other queues can reclaim its resources at any time{none}"
    )
    found = finding(place, message).about(queue.id)
    return found.near(gang.queue_place, f"{gang.id} uses this queue").with_data(queue=queue.name, resources=lacking)


@rule("QC960")
def job_never_starts(cluster: Cluster) -> Iterator[Finding]:
    """Report jobs whose first pods together exceed their queue's limit, or whose queue accepts no jobs."""
    queues = queues_of(cluster)
    for gang in gangs_of(cluster):
        by_option = any(map(joins_by_queue, gang.workloads))  # of the operator, which no manifest shows
        yield from (found.likely(by_option) for found in _obstacles(cluster, queues, gang))


def _obstacles(cluster: Cluster, queues: Queues, gang: VolcanoGang) -> Iterator[Finding]:
    """Yield why a gang never starts."""
    known = queues.queue.get(gang.queue)
    if not queues.exists(gang.queue) or gang.queue == ROOT:
        yield _no_queue(cluster, queues, gang)
    elif known is not None and known.state not in ("", "Open"):
        message = f"{gang.id} names queue {gang.queue}, whose state is {known.state}: it accepts no jobs"
        yield finding(gang.queue_place, message).near(known.place.at("status", "state"), known.state).about(gang.id)
    elif not queues.children(gang.queue) and not any(gang.queue in c for c in queues.cycles):
        over = barriers(cluster, gang)
        if over:
            yield _stopped(cluster, queues, gang, over)


def _no_queue(cluster: Cluster, queues: Queues, gang: VolcanoGang) -> Finding:
    if gang.queue == ROOT:
        message = f"{gang.id} names the queue root, which accepts no jobs"
        return finding(gang.queue_place, message).about(gang.id)
    certain = cluster.has_all("Queue") and bool(queues.declared)
    fact = f"queue {gang.queue} does not exist" if certain else f"no queue {gang.queue} was read"
    near = nearest(gang.queue, queues.queue)
    found = finding(gang.queue_place, f"{gang.id} never starts: {fact}").about(gang.id).likely(not certain)
    if near:
        advice = f"Write {near} instead of {gang.queue}."
        found = found.fixed_by(advice).offering(gang.queue_place, near, advice)
    return found.with_data(missing=gang.queue)


def _stopped(cluster: Cluster, queues: Queues, gang: VolcanoGang, over: tuple[VolcanoBarrier, ...]) -> Finding:
    first = min(over, key=lambda b: (not is_accelerator(b.resource), b.resource))
    resource = first.resource
    scale = scale_of(resource, (first.requested, first.limit), IN_PROSE)
    message = (
        f"{gang.id} needs {_sum(gang, scale, first.requested)} to start, "
        f"but queue {first.queue} may never hold more than {scale(first.limit)}{_why(cluster, queues, first)}"
    )
    found = finding(gang.place, message).about(gang.id)
    queue = queues.queue.get(first.queue)
    stated = queue is not None and first.limit == queue.amounts["capability"].get(resource)
    if queue is not None:
        place = queue.place_of("capability", resource) if stated else queue.name_place
        found = found.near(place, f"capability {written_amount(resource, first.limit)}" if stated else "this queue")
    others = queues.declared if first.set_aside and not stated else ()
    guaranteed = (o for o in others if o.name != first.queue and o.amounts["guarantee"].get(resource))
    for other in islice(guaranteed, _MOST):
        amount = show_amount(resource, other.amounts["guarantee"][resource])
        found = found.near(other.place_of("guarantee", resource), f"{amount} set aside for {other.name}")
    if stated and queue is not None and len(over) == 1:
        now, was = (written_amount(resource, n) for n in (first.requested, first.limit))
        words = f"Raise capability of queue {queue.name} for {resource} from {was} to {now}."
        found = found.offering(queue.place_of("capability", resource), now, words)
    found = _with_fewer(found, gang, over)
    return found.likely(is_estimated(cluster, resource) and not stated).with_data(
        queue=first.queue, resource=resource, requested=first.requested, limit=first.limit
    )


def _with_fewer(found: Finding, gang: VolcanoGang, over: tuple[VolcanoBarrier, ...]) -> Finding:
    """Return a finding with an edit of the number of pods that start together: `minAvailable`, or else the replicas."""
    if gang.fixed is not None or len(gang.tasks) != 1:
        return found
    fit = min(b.limit // max(1, gang.tasks[0].request.get(b.resource, 0)) for b in over)
    pod_sets = tuple(t.pod_set for t in gang.tasks)
    for name, place in (("minAvailable", gang.place), *(("the replicas", p.count_place) for p in pod_sets)):
        if 0 < fit < gang.together and follow(place.origin.data, place.route) == gang.together:
            return found.offering(place, str(fit), f"Lower {name} of {gang.id} from {gang.together} to {fit}.")
    return found


def _sum(gang: VolcanoGang, scale: Scale, requested: int) -> str:
    """Return `4 x 8 = 32 nvidia.com/gpu` if all pods that must start together are equal."""
    each = {t.request.get(scale.resource, 0) for t in gang.tasks if t.count}
    if gang.fixed is None and len(each) == 1 and gang.together > 1:
        return f"{gang.together} x {show_amount(scale.resource, each.pop())} = {scale.name(requested)}"
    return scale.name(requested)


def _why(cluster: Cluster, queues: Queues, barrier: VolcanoBarrier) -> str:
    """Return the origin of the limit."""
    queue = queues.queue.get(barrier.queue)
    if queue is not None and queue.amounts["capability"].get(barrier.resource) == barrier.limit:
        return ", its capability"
    if not barrier.set_aside:
        return ""
    all_there_is = total(cluster, True).get(barrier.resource, 0)
    shown, aside = show_amounts(barrier.resource, all_there_is, barrier.set_aside)
    return f": of {shown}, {aside} are guaranteed to other queues"


@rule("QC963")
def share_below_task(cluster: Cluster) -> Iterator[Finding]:
    """Report queues whose share by weight, with all queues busy, is smaller than one of their tasks."""
    queues = queues_of(cluster)
    if not queues.scheduler.by_weight:
        return
    jobs, most = gangs_in(cluster), total(cluster, True)
    active = [t for t in queues.terms if t.name in jobs or (t.name in queues.queue and t.name != ROOT)]
    parts = proportion(active, most, {t.name: amounts(most) for t in active})
    for name, gangs in jobs.items():
        if name in parts:
            yield from _starved(cluster, queues, name, gangs, parts[name].deserved)


def _starved(
    cluster: Cluster, queues: Queues, name: str, gangs: list[VolcanoGang], deserved: Amounts
) -> Iterator[Finding]:
    for resource in sorted({r for g in gangs for r in g.resources}, key=lambda r: (not is_accelerator(r), r)):
        largest = max(gangs, key=lambda g: g.largest(resource))
        size, part = largest.largest(resource), deserved.get(resource, 0)
        is_offered = total(cluster, True).get(resource, 0) > 0
        if not is_offered or not is_known(cluster, resource) or size <= part or barriers(cluster, largest):
            continue
        weight = next(t.weight for t in queues.terms if t.name == name)
        gets, asks = show_amounts(resource, part, size)
        message = (
            f"queue {name} gets {named(resource, gets)} by its weight {weight} when every queue is busy, "
            f"but a task of {largest.id} requests {asks}: it waits until others are idle"
        )
        queue = queues.queue.get(name)
        place = queue.place.at("spec", "weight") if queue else largest.queue_place
        found = finding(place, message).near(largest.queue_place, f"{largest.id} uses this queue")
        found = found.near(_task_place(largest, resource), f"{show_amount(resource, size)} per task")
        found = found.likely(not cluster.has_all(NODES)).about(queue.id if queue else largest.id)
        yield found.with_data(queue=name, resource=resource, share=_shown(resource, part), task=size)
        return


def _shown(resource: str, amount: Amount) -> str:
    """Format a share, which may be fractional, with two decimals."""
    if amount == int(amount):
        return show_amount(resource, int(amount))
    return f"{float(amount):.2f}" if "/" in resource else show_amount(resource, int(amount))


def _task_place(gang: VolcanoGang, resource: str) -> Place | None:
    task = max(gang.tasks, key=lambda t: t.request.get(resource, 0), default=None)
    return None if task is None else task.template.place_of(resource)
