"""KAI's decision on a workload: its queue, the gates on the path, and the placement of the pods that start together."""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection, NodeSelectorTerm, Requirement
from qcheck.cluster.reasons import Reason, ReasonCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.quota.start_decision import StartDecision, StartingPods
from qcheck.schedulers.kai.constraints import required_domain
from qcheck.schedulers.kai.gates import Bound, barriers, barriers_by_node
from qcheck.schedulers.kai.gpu_sharing import sharing_faults, sharing_is_on, sharing_place
from qcheck.schedulers.kai.jobs import job_of
from qcheck.schedulers.kai.requests import device_part
from qcheck.schedulers.kai.shards import CHART_QUEUES, RESOURCES, shard_of
from qcheck.schedulers.kai.words import named_amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.reasons import ReasonCause
    from qcheck.cluster.workloads import Workload
    from qcheck.schedulers.kai.gates import KaiBarrier
    from qcheck.schedulers.kai.jobs import KaiJob
    from qcheck.schedulers.kai.shards import Shard


def decide(cluster: Cluster, workload: Workload) -> StartDecision | None:
    """Return KAI's decision; None for a workload that KAI does not schedule."""
    job = job_of(cluster, workload)
    if job is None or not job.is_scheduled:
        return None
    shard = shard_of(cluster, job.partition)
    if workload.not_read:
        return StartDecision(
            job.queue.name,
            None,
            (Reason(ReasonCode.NOT_READ, "not-read", workload.not_read, workload.name_place),),
        )
    if shard is None or job.queue.name not in shard.queue or job.queue.name in shard.inner:
        return _without_queue(cluster, job, shard)
    sharing = tuple(_sharing(cluster, job))
    is_off = sharing_is_on(cluster) is False
    stopped = (
        *_rejected(job),
        *(sharing if is_off else ()),
        *(_refused(job, b) for b in barriers(job, shard)),
    )
    if stopped:
        return StartDecision(job.queue.name, False, stopped)
    starts, domain = _starts(cluster, job), required_domain(cluster, job, shard.pool.key)
    by_node = tuple(_refused_by_node(job, b) for b in barriers_by_node(job, shard))
    reasons = (*sharing, *by_node, *(() if job.is_preemptible is not None else (_unknown_priority(job),)))
    if reasons:
        return StartDecision(queue=job.queue.name, admitted=None, reasons=reasons, starts=starts, domain=domain)
    return StartDecision(queue=job.queue.name, admitted=True, starts=starts, domain=domain)


def _without_queue(cluster: Cluster, job: KaiJob, shard: Shard | None) -> StartDecision:
    """Return the decision for a job without a leaf queue: pending, unless a queue of KAI's chart exists after all."""
    name, place = job.queue.name, job.queue.place or job.workload.name_place
    if name in CHART_QUEUES and name not in {q.name for q in cluster.kai_queues}:
        message = f"queue {name} comes from KAI's chart, so its limits are not known"
        return StartDecision(
            name,
            None,
            (Reason(ReasonCode.QUEUE_UNKNOWN, "kai-queue", message, place),),
            _starts(cluster, job),
        )
    if shard is not None and name in shard.inner:
        message = f"queue {name} has queues below it and runs no jobs"
    else:
        message = f"there is no queue {name} in the job's shard"
    certain = cluster.has_all("Queue")
    return StartDecision(
        name,
        False if certain else None,
        (Reason(ReasonCode.QUEUE_DOES_NOT_EXIST, "kai-queue", message, place),),
    )


def _rejected(job: KaiJob) -> Iterator[Reason]:
    """Yield the reasons that KAI's admission rejects the pods as written, or that their gang is never complete."""
    gang = job.gang
    if gang.fault is not None:
        yield Reason(ReasonCode.REJECTED, "pod-group", gang.fault.why, gang.place, change=gang.fault.change)
    for pod_set in job.workload.pod_sets:
        for fault in sharing_faults(pod_set.template):
            yield Reason(
                code=ReasonCode.REJECTED,
                cause="api-rejected",
                message=f"KAI's admission rejects the pods: {fault.why}",
                place=fault.place,
                change=fault.fix.removesuffix("."),
            )


def _sharing(cluster: Cluster, job: KaiJob) -> Iterator[Reason]:
    """Yield why KAI's admission rejects requests for parts of GPUs, or may reject them."""
    is_on = sharing_is_on(cluster)
    places = (sharing_place(p.template) for p in job.workload.pod_sets)
    for place in places if not is_on else ():
        if place is not None:
            off = (
                " unless GPU sharing is enabled, which KAI's chart does not do"
                if is_on is None
                else ": GPU sharing is off"
            )
            yield Reason(
                code=ReasonCode.REJECTED,
                cause="api-rejected",
                message=f"KAI's admission rejects the pods{off}",
                place=place,
                change="set global.gpuSharing of KAI's chart, and kai.gpuSharing: true in qcheck.yaml",
            )


def _refused(job: KaiJob, barrier: KaiBarrier) -> Reason:
    requested, amount = (
        named_amount(barrier.dimension, barrier.requested),
        named_amount(barrier.dimension, barrier.amount),
    )
    is_limit = barrier.bound is Bound.LIMIT
    place = barrier.terms.limit_place if is_limit else barrier.terms.quota_place
    unwritten = " (no limit is written, which KAI reads as 0)" if is_limit and not place.exists else ""
    why = f"the limit of queue {barrier.queue.name} is {amount}{unwritten}"
    if not is_limit:
        why = f"it is not preemptible, and the quota of queue {barrier.queue.name} is {amount}"
    at_limit: ReasonCause = "kai-limit" if barrier.amount else "kai-no-limit"
    return Reason(
        code=ReasonCode.EXCEEDS_MAX_QUOTA,
        cause=at_limit if is_limit else "kai-quota",
        message=f"it requests {requested}, and {why}",
        place=job.place_of(barrier.dimension),
        near=(place,),
        flavor=barrier.queue.name,
        resource=RESOURCES[barrier.dimension],
    )


def _refused_by_node(job: KaiJob, barrier: KaiBarrier) -> Reason:
    amount, word = named_amount(barrier.dimension, barrier.amount), barrier.bound.value
    requested = named_amount(barrier.dimension, barrier.requested)
    message = (
        f"on the smallest GPUs, its GPU memory counts as {requested}, but the {word} of queue {barrier.queue.name} is "
        f"{amount}, so whether it starts depends on the nodes that KAI tries first"
    )
    return Reason(ReasonCode.CANNOT_TELL, "uncertain", message, job.place_of(barrier.dimension))


def _unknown_priority(job: KaiJob) -> Reason:
    message = (
        f"the value of its priority class {job.priority_class.name} is unknown, "
        "so it is also unknown whether the workload must stay within quota"
    )
    place = job.priority_class.place or job.workload.name_place
    return Reason(ReasonCode.PRIORITY_UNKNOWN, "kai-priority", message, place)


def _starts(cluster: Cluster, job: KaiJob) -> tuple[StartingPods, ...]:
    sets = zip(job.workload.pod_sets, job.gang.counts, strict=True)
    counts = [(p, p.count if job.workload.each_pod_alone else least) for p, least in sets]
    return tuple(StartingPods(p, bound(cluster, p.template, job.partition), count) for p, count in counts if count)


def bound(cluster: Cluster, template: PodTemplate, partition: str) -> PodTemplate:
    """Return the template with the node constraints of a shard's scheduler and the part of GPUs that it requests."""
    label, part = cluster.kai_names.node_pool_label, device_part(template)
    selection = template.selection
    if partition:
        only = NodeSelection({**selection.selector, label: partition}, selection.terms)
        return replace(template, selection=only, device_part=part)
    absent = Requirement(label, "DoesNotExist")
    terms = selection.terms if selection.terms is not None else (NodeSelectorTerm(),)
    kept = tuple(
        NodeSelectorTerm((*term.expressions, absent), term.fields)
        for term in terms
        if selection.terms is None or term.expressions or term.fields
    )
    return replace(template, selection=NodeSelection(selection.selector, kept), device_part=part)
