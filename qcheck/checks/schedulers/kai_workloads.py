"""QC908, QC917, QC921: requests of individual KAI jobs."""

from __future__ import annotations

from math import ceil

from qcheck.checks.capacity.arithmetic import plural
from qcheck.checks.missing_references import Reference, by_name, users
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.durations import go_seconds
from qcheck.cluster.policy import KAI_CLASSES
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kai.gates import Bound, first_request, over
from qcheck.schedulers.kai.jobs import CLASS_OF_KIND, jobs_of, labels_at, owner_metadata
from qcheck.schedulers.kai.shards import shard_of
from qcheck.schedulers.kai.words import named_amount, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.schedulers.kai.gates import KaiBarrier
    from qcheck.schedulers.kai.jobs import KaiJob

DELAY = "kai.scheduler/preemption-delay"
DELAY_SINCE = (0, 17)
_MOST = 4


@rule("QC908")
def non_preemptible_over_quota(cluster: Cluster) -> Iterator[Finding]:
    """Report jobs that must stay within quota but request more than a queue on their path has."""
    for job in jobs_of(cluster):
        shard = shard_of(cluster, job.partition)
        if not job.is_scheduled or job.is_preemptible is not False or shard is None:
            continue
        path = shard.path(job.queue.name)
        barriers = [b for b in over(path, first_request(job, shard), Bound.QUOTA) if b.terms.limit != 0]
        if barriers:
            yield _over_quota(job, barriers, "requests")
        elif job.workload.each_pod_alone:
            together = [b for b in over(path, job.whole, Bound.QUOTA) if b.terms.limit != 0]
            if together:
                pods = plural(sum(p.count for p in job.workload.pod_sets), "pod")
                yield _over_quota(job, together, f"its {pods} request")


def _over_quota(job: KaiJob, barriers: list[KaiBarrier], requests: str) -> Finding:
    first = barriers[0]
    each = "; ".join(
        f"{named_amount(b.dimension, b.requested)} (quota of {b.queue.name}: {shown(b.dimension, b.amount)})"
        for b in barriers[:_MOST]
    )
    message = f"{job.workload.id} is not preemptible ({_why(job)}), so it must stay within quota, but {requests} {each}"
    found = finding(job.place_of(first.dimension), message).about(job.workload.id)
    for barrier in barriers[:_MOST]:
        quota = named_amount(barrier.dimension, barrier.amount)
        found = found.near(barrier.terms.quota_place, f"quota of {barrier.queue.name}: {quota}")
    return found.near(job.priority_class.place, "its priority class").with_data(
        queue=job.queue.name,
        resources=sorted({b.dimension.value for b in barriers}),
        queues=sorted({b.queue.name for b in barriers}),
        excess={f"{b.queue.name} {b.dimension.value}": ceil(b.requested - b.amount) for b in barriers},
    )


def _why(job: KaiJob) -> str:
    if job.preemptibility:
        return f"its label is {job.preemptibility}"
    default = "" if job.priority_class.place else f", the default for a {job.workload.id.kind}"
    return f"class {job.priority_class.name}, priority {job.priority}{default}"


@rule("QC917")
def priority_class_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Report labels that name a priority class that does not exist."""
    uses = [
        Reference(job.unknown_class.name, job.unknown_class.place, job.workload.id)
        for job in jobs_of(cluster)
        if job.is_scheduled and job.unknown_class and job.unknown_class.place and _is_label(job.unknown_class.place)
    ]
    if cluster.generates("PriorityClass"):
        return
    for name, each in by_name(uses).items():
        first, *others = each
        default = CLASS_OF_KIND.get(first.by.kind, "train")
        message = (
            f"the label priorityClassName of {users(each)} names {name}, which is not a PriorityClass: KAI ignores it and "
            f"uses {default} ({KAI_CLASSES[default]})"
        )
        found = finding(first.place, message).about(first.by)
        for other in others:
            found = found.near(other.place, f"{other.by} names it too")
        near = nearest(name, {*cluster.priority_class, *KAI_CLASSES})
        found = found.fixed_by(f"Write {near}, or create PriorityClass {name}.") if near else found
        yield found.with_data(missing=name, nearest=near, used=default)


def _is_label(place: Place) -> bool:
    """Return whether the label names the class; a class that the pods name is checked by the API server."""
    return "labels" in place.route


@rule("QC921")
def preemption_delay_invalid(cluster: Cluster) -> Iterator[Finding]:
    """Report delays that KAI cannot read."""
    for job in jobs_of(cluster):
        for text, place in _delays(job):
            yield from _judged(cluster, text, place)
    for group in cluster.kai_pod_groups:
        if group.preemption_delay is not None:
            yield from _judged(cluster, group.preemption_delay, group.place.at("spec", "preemptionDelay"))


def _delays(job: KaiJob) -> Iterator[tuple[str, Place]]:
    workload = job.workload
    is_elsewhere = workload.id.kind == "CronJob"
    owner, place = labels_at(owner_metadata(workload), "annotations", workload.annotations, is_elsewhere)
    if DELAY in owner:
        yield str(owner[DELAY]), place.at(DELAY)
    for pod_set in workload.pod_sets:
        template = pod_set.template
        if DELAY in template.annotations and template.metadata_place.at("annotations").route != place.route:
            yield template.annotations[DELAY], template.metadata_place.at("annotations", DELAY)


def _judged(cluster: Cluster, text: str, place: Place) -> Iterator[Finding]:
    seconds = go_seconds(text)
    if seconds is None:
        why = f"{text!r} is not a duration with a unit"
    elif seconds < 0:
        why = f"{text} is negative"
    elif cluster.policy.kai.release < DELAY_SINCE:
        why = f"KAI {cluster.policy.kai.version} has no preemption delay; release 0.17 introduces it"
    else:
        return
    message = f"the preemption delay is ignored: {why}, so the job evicts others at once"
    yield finding(place, message).fixed_by("Write a duration such as 90s or 5m.").with_data(written=text)
