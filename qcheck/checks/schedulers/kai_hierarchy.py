"""QC906, QC907, QC920: queues, jobs and nodes that KAI ignores."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.missing_references import Reference, by_name, missing, users
from qcheck.checks.registry import rule
from qcheck.cluster.kai import KaiQueue, partition_of
from qcheck.cluster.policy import KAI_SCHEDULER
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kai.jobs import FORMER_QUEUE_LABEL, former_queue, jobs_of
from qcheck.schedulers.kai.shards import CHART_QUEUES, Shard, shard_of, shards_of
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kai.jobs import KaiJob

RAY = "ray.io"
"""The API group of Ray, whose operator sets the scheduler of pods if a flag is set."""
ANY_DEPTH = (0, 13)
"""The first release in which trees may have any depth; before, exactly two levels."""
_MOST = 4


@rule("QC906")
def hierarchy_broken(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that KAI ignores, or that stop it, because of their parents."""
    queues = {q.name: q for q in cluster.kai_queues}
    yield from _missing_parents(cluster, queues)
    yield from _cycles(cluster, queues)
    for queue in cluster.kai_queues:
        parent = queues.get(queue.parent)
        if parent is not None and parent is not queue:
            yield from _in_another_shard(cluster, queue, parent)
    if cluster.policy.kai.release < ANY_DEPTH:
        for shard in shards_of(cluster):
            yield from _wrong_depths(shard, str(cluster.policy.kai.version))


def _missing_parents(cluster: Cluster, queues: dict[str, KaiQueue]) -> Iterator[Finding]:
    uses = [Reference(q.parent, q.parent_place, q.id) for q in cluster.kai_queues if q.parent]
    for name, each in by_name(uses).items():
        if name not in queues and name not in CHART_QUEUES:
            consequence = f"KAI drops {users(each)} and all queues below it, and their jobs stay pending"
            yield missing(cluster, "Queue", each, queues, consequence).likely(cluster.generates("Queue"))


def _cycles(cluster: Cluster, queues: dict[str, KaiQueue]) -> Iterator[Finding]:
    reported: set[str] = set()
    for queue in cluster.kai_queues:
        ring = _ring(queue, queues)
        if ring and queue.name not in reported:
            reported |= {q.name for q in ring}
            yield _cycle(ring)


def _ring(queue: KaiQueue, queues: dict[str, KaiQueue]) -> list[KaiQueue]:
    """Return the queues of a cycle upward from one of them; empty if there is none."""
    found = [queue]
    while (parent := queues.get(found[-1].parent)) is not None:
        if parent is queue:
            return found
        if parent in found:
            return []
        found.append(parent)
    return []


def _cycle(ring: list[KaiQueue]) -> Finding:
    first, *others = ring
    chain = " -> ".join(q.name for q in (*ring, first))
    what = (
        f"queue {first.name} is its own parent"
        if not others
        else f"the parents of queue {first.name} form a cycle: {chain}"
    )
    share = "none of them gets a share" if others else "it gets no share"
    message = f"{what}; {share}, and one pending pod in it stops the scheduling of the whole shard"
    found = finding(first.parent_place, message).about(first.id)
    for other in others:
        found = found.near(other.parent_place, f"parent of {other.name}")
    return found.with_data(cycle=[q.name for q in ring])


def _in_another_shard(cluster: Cluster, queue: KaiQueue, parent: KaiQueue) -> Iterator[Finding]:
    label = cluster.kai_names
    own, theirs = partition_of(queue.labels, label), partition_of(parent.labels, label)
    if own == theirs:
        return
    message = (
        f"queue {queue.name} is in {_partition(own)}, but its parent {parent.name} is in {_partition(theirs)}: its scheduler "
        f"does not see the parent, and drops {queue.name} with all queues below"
    )
    yield (
        finding(queue.parent_place, message)
        .near(parent.name_place, f"in {_partition(theirs)}")
        .about(queue.id)
        .fixed_by(f"Give both the same label {label.node_pool_label}.")
        .with_data(queue=queue.name, parent=parent.name, partition=own, parentPartition=theirs)
    )


def _partition(value: str) -> str:
    return f"node pool {value}" if value else "no node pool"


def _wrong_depths(shard: Shard, release: str) -> Iterator[Finding]:
    for queue in shard.leaves:
        depth = len(shard.path(queue.name))
        if depth != 2 and shard.path(queue.name)[-1].parent == "":
            message = (
                f"queue {queue.name} has {plural(depth - 1, 'queue')} above it; KAI {release} works with exactly one "
                "department above each queue, and any depth from 0.13 on"
            )
            yield finding(queue.parent_place, message).about(queue.id).with_data(queue=queue.name, depth=depth)


@rule("QC907")
def queue_unusable(cluster: Cluster) -> Iterator[Finding]:
    """Report jobs that no queue accepts, and jobs that no quota counts."""
    jobs = jobs_of(cluster)
    for job in jobs:
        if not job.is_scheduled and job.workload.not_read is None and job.workload.pod_sets:
            yield _bypasses(cluster, job)
        elif job.is_scheduled and job.queue.place is None and cluster.kai_names.queue_label != FORMER_QUEUE_LABEL:
            yield from _former_label(cluster, job)
    queues = {q.name: q for q in cluster.kai_queues}
    uses = [Reference(j.queue.name, j.queue.place, j.workload.id) for j in jobs if j.is_scheduled and j.queue.place]
    groups = [Reference(g.queue, g.place.at("spec", "queue"), g.id) for g in cluster.kai_pod_groups if g.queue]
    for name, each in by_name([*uses, *groups]).items():
        if name not in queues and name not in CHART_QUEUES:
            yield _unknown(cluster, name, each, queues)
    for job in jobs:
        if job.is_scheduled and job.queue.name in queues:
            yield from _no_leaf(cluster, job, queues[job.queue.name])


def _former_label(cluster: Cluster, job: KaiJob) -> Iterator[Finding]:
    """Yield a finding for a job that names its queue only in the label of KAI's predecessor."""
    named, label = former_queue(job.workload), cluster.kai_names.queue_label
    if named is None or named.place is None:
        return
    message = (
        f"{job.workload.id} names queue {named.name} in the label {FORMER_QUEUE_LABEL}, which KAI does not read: "
        f"the job goes to {job.queue.name}"
    )
    found = finding(named.place.key(), message).about(job.workload.id).likely()
    yield found.fixed_by(f"Write {label}: {named.name} instead.").with_data(queue=named.name, used=job.queue.name)


def _unknown(cluster: Cluster, name: str, uses: list[Reference], queues: dict[str, KaiQueue]) -> Finding:
    """Return a finding for a missing queue; if no queue was read at all, queues are probably defined elsewhere."""
    consequence = f"{users(uses)} {'stays' if len(uses) == 1 else 'stay'} pending"
    found = missing(cluster, "Queue", uses, queues, consequence)
    if queues:
        return found.likely(cluster.generates("Queue"))
    return replace(found, message=f"no Queue {name} was read: without one, {consequence}").likely()


def _bypasses(cluster: Cluster, job: KaiJob) -> Finding:
    known = cluster.kai_names
    template = job.workload.pod_sets[0].template
    other = template.scheduler_name or "kube-scheduler"
    is_open = template.scheduler_name is None and job.workload.id.group == RAY
    unless = "unless the Ray operator sets schedulerName, " if is_open else ""
    message = (
        f"{job.workload.id} carries the label {known.queue_label}: {job.queue.name}, but {unless}{other} schedules its pods: "
        f"they are not counted against KAI quota, but take GPUs that {job.queue.name} relies on"
    )
    place = job.queue.place or job.workload.name_place
    also = f"Run the Ray operator with --batch-scheduler={KAI_SCHEDULER}, set" if is_open else "Set"
    return (
        finding(place, message)
        .likely(is_open)
        .near(template.place.at("schedulerName"), "the pods' scheduler")
        .about(job.workload.id)
        .fixed_by(f"{also} schedulerName: {known.scheduler} in the pod template, or remove the label.")
        .with_data(queue=job.queue.name, scheduler=template.scheduler_name)
    )


def _no_leaf(cluster: Cluster, job: KaiJob, queue: KaiQueue) -> Iterator[Finding]:
    shard = shard_of(cluster, job.partition)
    place = job.queue.place or job.workload.name_place
    if shard is not None and shard.is_flat and not queue.parent:
        message = (
            f"{job.workload.id} names queue {queue.name}, which has no parent: without full-hierarchy-fairness KAI drops "
            "such queues, so it stays pending"
        )
        yield finding(place, message).near(queue.name_place, "has no parent").about(job.workload.id)
    elif shard is None or queue.name not in shard.queue:
        label = cluster.kai_names.node_pool_label
        message = (
            f"{job.workload.id} is in {_partition(job.partition)}, but its queue {queue.name} is in "
            f"{_partition(queue.labels.get(label, ''))}: no scheduler sees both, so it stays pending"
        )
        found = finding(place, message).near(queue.name_place, f"queue {queue.name}").about(job.workload.id)
        yield found.fixed_by(f"Give both the same label {label}.").with_data(queue=queue.name)
    elif queue.name in shard.inner:
        below = names(q.name for q in shard.children(queue.name))
        message = (
            f"{job.workload.id} names queue {queue.name}, which has queues below it and runs no jobs: it stays pending"
        )
        found = finding(place, message).near(queue.name_place, f"parent of {below}").about(job.workload.id)
        yield found.fixed_by(f"Name one of the queues below it: {below}.").with_data(queue=queue.name)


@rule("QC920")
def shard_empty(cluster: Cluster) -> Iterator[Finding]:
    """Report shards without nodes."""
    label = cluster.kai_names.node_pool_label
    for shard in shards_of(cluster) if cluster.has_nodes else ():
        if shard.spec is None or shard.groups:
            continue
        may_be_labelled = any(pool.labels_unknown for pool in cluster.pools)
        yield _empty(cluster, shard, label).likely(may_be_labelled or not cluster.has_all("Node"))


def _empty(cluster: Cluster, shard: Shard, label: str) -> Finding:
    assert shard.spec is not None
    groups = supply_of(cluster).groups
    place = shard.spec.place.at("spec", "partitionLabelValue")
    if shard.partition:
        values = sorted({v for g in groups for c in g.classes if (v := c.labels.get(label))})
        found = f"nodes have {names(values)}" if values else "no node has the label at all"
        message = f"shard {shard.name} selects nodes with {label}: {shard.partition}, but {found}: it has no capacity"
    else:
        message = (
            f"shard {shard.name} has no partitionLabelValue, so it selects nodes without the label {label}, but all nodes "
            "have it: it has no capacity"
        )
    result = finding(place, message).about(shard.spec.id)
    for pool in cluster.pools[:_MOST]:
        result = result.near(pool.place, f"{pool.name}: {label}={pool.labels.get(label, '(none)')}")
    return result.with_data(shard=shard.name, partition=shard.partition)
