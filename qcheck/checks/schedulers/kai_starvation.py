"""QC918, QC919: jobs that never start while all queues are busy."""

from __future__ import annotations

from fractions import Fraction

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.checks.schedulers.kai_limits import blocked_jobs
from qcheck.cluster.kai import UNLIMITED, Dimension, KaiQueue
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kai.gates import barriers
from qcheck.schedulers.kai.shards import Shard, jobs_at, shards_of
from qcheck.schedulers.kai.starvation import Reach, reach
from qcheck.schedulers.kai.words import shown
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kai.jobs import KaiJob


_MOST = 4


@rule("QC918")
def big_job_starves(cluster: Cluster) -> Iterator[Finding]:
    """Report jobs that are larger than what their queue can reclaim while all queues are busy."""
    capacity = sum(
        g.static * max((c.machine.whole(GPU) for c in g.classes), default=0) for g in supply_of(cluster).groups
    )
    for shard in shards_of(cluster):
        total = shard.static(Dimension.GPU)
        if not (shard.is_known(Dimension.GPU) and shard.is_whole and total):
            continue
        for queue in shard.leaves:
            jobs = [job for job in jobs_at(cluster, shard, queue) if _may_starve(job, shard, queue)]
            starving = list(_starving(cluster, shard, queue, jobs, total, capacity))
            if starving:
                yield _starves(shard, queue, starving)


class Starving(Value):
    """A job, what its queue holds without it and needs with it, and how far the queue's share reaches."""

    job: KaiJob
    need: Fraction
    held: Fraction
    reach: Reach


def _starving(
    cluster: Cluster, shard: Shard, queue: KaiQueue, jobs: list[KaiJob], total: int, capacity: int
) -> Iterator[Starving]:
    """Return the jobs of a queue that its share does not reach, the largest first; equal ones are computed once."""
    known: dict[tuple[Fraction, Fraction], Reach] = {}
    for job in sorted(jobs, key=lambda j: -j.first[Dimension.GPU]):
        held = _held(cluster, shard, queue, job)
        need = held + job.first[Dimension.GPU]
        if need <= total:
            key = (need, held)
            if key not in known:
                known[key] = reach(shard, queue, need, held, total, capacity)
            if known[key].at_k < need:
                yield Starving(job, need, held, known[key])


def _may_starve(job: KaiJob, shard: Shard, queue: KaiQueue) -> bool:
    """Return whether a job that may be evicted passes all gates and requests more than its queue is entitled to."""
    if not job.is_scheduled or job.is_preemptible is not True or queue.name in shard.inner:
        return False
    if any(barriers(job, shard)):
        return False
    quotas = [q.terms[Dimension.GPU].quota for q in shard.path(queue.name)]
    return any(quota != UNLIMITED and quota < job.first[Dimension.GPU] for quota in quotas)


def _held(cluster: Cluster, shard: Shard, queue: KaiQueue, job: KaiJob) -> Fraction:
    """Return what the queue's jobs that are never evicted hold."""
    others = (j for j in jobs_at(cluster, shard, queue) if j is not job and j.is_preemptible is False)
    return sum((j.whole[Dimension.GPU] for j in others), Fraction(0))


def _starves(shard: Shard, queue: KaiQueue, starving: list[Starving]) -> Finding:
    """Return one finding for the jobs of a queue: the largest, and the number of others."""
    first, *others = starving
    job, found = first.job, first.reach
    ever, reached = shown(Dimension.GPU, found.at_any_k), shown(Dimension.GPU, found.at_k)
    busy = f"while all queues are busy, the share of {queue.name} reaches at most"
    raised = f"raise the quota of {queue.name}, or make the job smaller."
    if found.smallest_k is None:
        why = f"{busy} {ever} at any kValue"
        fix = f"{raised[0].upper()}{raised[1:]}"
    else:
        smallest = f"{float(found.smallest_k):g}"
        why = f"{busy} {reached} {_at_this_k(shard)} (a kValue of {smallest} would suffice)"
        fix = f"Set kValue: {smallest} or more{_with_history(shard)}, {raised}"
    also = f" (and {plural(len(others), 'other')} of the queue)" if others else ""
    message = (
        f"{job.workload.id}{also} needs {_size(first, queue)}, but {why}, so it starts only when other queues are idle"
    )
    place = job.gang.place if job.gang.place.exists and job.gang.size > 1 else job.place_of(Dimension.GPU)
    result = finding(place, message).near(queue.terms[Dimension.GPU].quota_place, f"queue {queue.name}")
    for other in others[:_MOST]:
        gang = shown(Dimension.GPU, other.job.first[Dimension.GPU])
        result = result.near(other.job.place_of(Dimension.GPU), f"{other.job.workload.id} needs {gang}")
    if shard.spec is not None:
        result = result.near(shard.spec.place.at("spec", "kValue"), f"shard {shard.name}")
    smallest_k = None if found.smallest_k is None else str(float(found.smallest_k))
    data = {
        "needs": str(first.need),
        "share": str(found.at_k),
        "shareAtAnyK": str(found.at_any_k),
        "kValue": smallest_k,
    }
    return result.about(job.workload.id).fixed_by(fix).with_data(queue=queue.name, **data)


def _size(starving: Starving, queue: KaiQueue) -> str:
    size = f"{shown(Dimension.GPU, starving.job.first[Dimension.GPU])} at once"
    if not starving.held:
        return size
    held, need = shown(Dimension.GPU, starving.held), shown(Dimension.GPU, starving.need)
    return f"{size}, with the {held} that {queue.name} always holds {need}"


def _at_this_k(shard: Shard) -> str:
    if shard.spec is None or shard.spec.usage is None:
        return "without usage history"
    return f"at kValue {shard.k:g}"


def _with_history(shard: Shard) -> str:
    return " and a usageDBConfig" if shard.spec is None or shard.spec.usage is None else ""


@rule("QC919")
def cannot_reclaim(cluster: Cluster) -> Iterator[Finding]:
    """Report queues for GPUs whose share of cpu or memory is always 0, so that none of their jobs can reclaim."""
    for shard in shards_of(cluster):
        powerless: dict[str, dict[Dimension, list[KaiQueue]]] = {}
        for leaf in shard.leaves:
            for dimension in (Dimension.CPU, Dimension.MEMORY):
                source = _without_share(shard, leaf, dimension)
                if source is not None and not blocked_jobs(cluster, shard, leaf.terms[dimension], leaf):
                    powerless.setdefault(source.name, {}).setdefault(dimension, []).append(leaf)
        for queue in shard.queues:
            if queue.name in powerless and _has_gpus(queue):
                yield _powerless(queue, powerless[queue.name])


def _has_gpus(queue: KaiQueue) -> bool:
    gpu = queue.terms[Dimension.GPU]
    return bool(gpu.quota or gpu.weight) and gpu.limit != 0


def _without_share(shard: Shard, leaf: KaiQueue, dimension: Dimension) -> KaiQueue | None:
    """Return the queue without quota and weight that keeps a leaf's share of a resource at 0; None if there is none.

    A queue gets its own quota even if its parent has none; an unlimited quota and a weight divide the parent's share.
    """
    for queue in shard.path(leaf.name):
        terms = queue.terms[dimension]
        if terms.quota not in (0, UNLIMITED):
            return None
        if not terms.quota and not terms.weight:
            return queue
    return None


def _powerless(queue: KaiQueue, lacking: dict[Dimension, list[KaiQueue]]) -> Finding:
    what = " and ".join(d.value for d in lacking)
    leaves = [leaf for leaf in next(iter(lacking.values())) if leaf is not queue]
    below = f", and that of {names(q.name for q in leaves)} below it," if leaves else ""
    message = (
        f"queue {queue.name} has {_gpus(queue)}, but neither quota nor overQuotaWeight for {what}: its fair share of {what}"
        f"{below} is 0, so no job that requests it can reclaim from others"
    )
    first, *others = (queue.terms[d] for d in lacking)
    found = finding(first.quota_place, message, f"no share of {first.dimension.value}").about(queue.id)
    for terms in others:
        found = found.near(terms.quota_place, f"no share of {terms.dimension.value}")
    found = found.near(queue.terms[Dimension.GPU].quota_place, "the GPUs")
    fix = f"Give {what} a quota in proportion to the GPUs, or an overQuotaWeight."
    return found.fixed_by(fix).with_data(queue=queue.name, resources=[d.value for d in lacking])


def _gpus(queue: KaiQueue) -> str:
    terms = queue.terms[Dimension.GPU]
    return f"a quota of {shown(Dimension.GPU, terms.quota)}" if terms.quota else "an overQuotaWeight for GPUs"
