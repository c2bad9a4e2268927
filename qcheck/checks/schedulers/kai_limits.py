"""QC901, QC902 and QC911: individual amounts of KAI queues that are probably mistakes."""

from __future__ import annotations

from fractions import Fraction

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.kai import Dimension, KaiQueue, KaiTerms
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kai.shards import Shard, jobs_at, shards_of
from qcheck.schedulers.kai.words import decimal, named_amount, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kai.jobs import KaiJob

_MOST = 4


@rule("QC901")
def limit_blocks(cluster: Cluster) -> Iterator[Finding]:
    """Report queues below which nothing that requests some resource can ever start."""
    for shard in shards_of(cluster):
        for queue in shard.queues:
            stopped = {
                t.dimension: jobs for t in queue.terms.values() if (jobs := blocked_jobs(cluster, shard, t, queue))
            }
            if stopped:
                yield _blocks(queue, stopped)
            elif queue.name not in shard.inner and not jobs_at(cluster, shard, queue):
                yield from _would_block(queue)


def blocked_jobs(cluster: Cluster, shard: Shard, terms: KaiTerms, queue: KaiQueue) -> list[KaiJob]:
    """Return the jobs that a limit of 0 keeps from starting."""
    if terms.limit != 0:
        return []
    return [job for job in jobs_at(cluster, shard, queue) if job.first[terms.dimension] > 0]


def _blocks(queue: KaiQueue, stopped: dict[Dimension, list[KaiJob]]) -> Finding:
    first = queue.terms[next(iter(stopped))]
    jobs = list({id(job): job for each in stopped.values() for job in each}.values())
    shown_jobs = names(str(job.workload.id) for job in jobs)
    message = (
        f"queue {queue.name} has {_limits_of_zero(queue, list(stopped))}, so {shown_jobs} can never start: "
        f"{_wanted(stopped)}"
    )
    found = finding(first.limit_place, message, "KAI reads an absent limit as 0").about(queue.id)
    for dimension in list(stopped)[1:]:
        found = found.near(queue.terms[dimension].limit_place, f"the limit of {dimension.value} is 0 too")
    for job in jobs[:_MOST]:
        found = found.near(job.place_of(next(d for d, each in stopped.items() if job in each)), "requested here")
    fix = " and ".join(f"spec.resources.{d.value}.limit" for d in stopped)
    return found.fixed_by(f"Set {fix}; -1 means no limit.").with_data(
        queue=queue.name, resources=[d.value for d in stopped], limit=0
    )


def _limits_of_zero(queue: KaiQueue, dimensions: list[Dimension]) -> str:
    absent = [d.value for d in dimensions if not queue.terms[d].limit_place.exists]
    written = [d.value for d in dimensions if queue.terms[d].limit_place.exists]
    parts = [f"no limit for {names(absent)}, which KAI reads as 0"] if absent else []
    parts += [f"a limit of 0 for {names(written)}"] if written else []
    return " and ".join(parts)


def _wanted(stopped: dict[Dimension, list[KaiJob]]) -> str:
    """Return `train requests 10 cores and 10 GiB of memory`, for the first job of each dimension."""
    amounts: dict[str, list[str]] = {}
    for dimension, (job, *_) in stopped.items():
        amounts.setdefault(job.workload.name, []).append(named_amount(dimension, job.first[dimension]))
    return "; ".join(f"{job} requests {names(asked)}" for job, asked in amounts.items())


def _would_block(queue: KaiQueue) -> Iterator[Finding]:
    """Report a queue for GPUs without known jobs: its pods will probably need cpu and memory."""
    gpu = queue.terms[Dimension.GPU]
    dead = [t for d in (Dimension.CPU, Dimension.MEMORY) if (t := queue.terms[d]).limit == 0]
    if not dead or gpu.limit == 0 or not (gpu.quota or gpu.weight):
        return
    what = _limits_of_zero(queue, [t.dimension for t in dead])
    message = (
        f"queue {queue.name} has {what}: no pod that requests {names(t.dimension.value for t in dead)} can start there"
    )
    found = (
        finding(dead[0].limit_place, message, "KAI reads an absent limit as 0")
        .at_most(Severity.WARNING)
        .about(queue.id)
    )
    fix = " and ".join(f"spec.resources.{t.dimension.value}.limit" for t in dead)
    yield found.fixed_by(f"Set {fix}; -1 means no limit.").with_data(
        queue=queue.name, resources=[t.dimension.value for t in dead], limit=0
    )


@rule("QC902")
def limit_below_quota(cluster: Cluster) -> Iterator[Finding]:
    """Report queues whose limit is below their quota."""
    for shard in shards_of(cluster):
        for queue in shard.queues:
            for terms in queue.terms.values():
                is_below = 0 <= terms.limit < terms.quota
                if is_below and not blocked_jobs(cluster, shard, terms, queue):
                    yield _below(queue, terms)


def _below(queue: KaiQueue, terms: KaiTerms) -> Finding:
    limit = shown(terms.dimension, terms.limit)
    how = f"a limit of {limit}" if terms.limit_place.exists else f"no limit, which KAI reads as {limit},"
    message = (
        f"queue {queue.name} has {how} below its quota of "
        f"{named_amount(terms.dimension, terms.quota)}: it can never use what it is entitled to"
    )
    quota = shown(terms.dimension, terms.quota)
    found = finding(terms.limit_place, message, f"limit {limit}").near(terms.quota_place, "the quota").about(queue.id)
    higher, lower = decimal(terms.written_quota), decimal(terms.written_limit)
    if higher and terms.limit_place.exists:
        found = found.offering(terms.limit_place, higher, f"Raise the limit of {queue.name} from {limit} to {quota}.")
    if lower and terms.limit > 0 and terms.quota_place.exists:
        found = found.offering(terms.quota_place, lower, f"Lower the quota of {queue.name} from {quota} to {limit}.")
    return found.with_data(
        queue=queue.name, resource=terms.dimension.value, limit=_plain(terms.limit), quota=_plain(terms.quota)
    )


def _plain(amount: Fraction) -> int | str:
    """Return a number for the data of a finding: an integer, or text."""
    return int(amount) if amount.denominator == 1 else str(float(amount))


@rule("QC911")
def limit_unreachable(cluster: Cluster) -> Iterator[Finding]:
    """Report limits above the shard's ceiling, and quotas that pods of a whole node cannot use up."""
    for shard in shards_of(cluster):
        ceiling = shard.ceiling(Dimension.GPU) if shard.is_known(Dimension.GPU) else None
        for queue in shard.queues:
            terms = queue.terms[Dimension.GPU]
            if ceiling is not None and shard.is_whole and terms.limit > ceiling:
                yield _unreachable(queue, terms, shard, ceiling)
        for queue in shard.leaves:
            yield from _stranded(cluster, shard, queue)


def _unreachable(queue: KaiQueue, terms: KaiTerms, shard: Shard, ceiling: int) -> Finding:
    most = shown(Dimension.GPU, Fraction(ceiling))
    message = (
        f"queue {queue.name} has a limit of {shown(Dimension.GPU, terms.limit)}, but shard {shard.name} never has more "
        f"than {most}"
    )
    found = finding(terms.limit_place, message).about(queue.id)
    for group in shard.groups[:_MOST]:
        found = found.near(group.count_place, f"{group.name} belongs to the shard")
    return found.with_data(queue=queue.name, limit=_plain(terms.limit), ceiling=ceiling)


def _stranded(cluster: Cluster, shard: Shard, queue: KaiQueue) -> Iterator[Finding]:
    """Report a quota that is not a multiple of the queue's pods, if these fill a node."""
    quota = queue.terms[Dimension.GPU].quota
    sizes = {group.highest("nvidia.com/gpu") for group in shard.groups}
    for job in jobs_at(cluster, shard, queue):
        pods = {request.amounts[Dimension.GPU] for request in job.requests} - {Fraction(0)}
        size = max(pods, default=Fraction(0))
        if size > 1 and size in sizes and quota > 0 and quota % size:
            rest = quota % size
            message = (
                f"queue {queue.name} has a quota of {shown(Dimension.GPU, quota)}, not a multiple of the "
                f"{shown(Dimension.GPU, size)} of each pod of {job.workload.id}: {shown(Dimension.GPU, rest)} of it "
                "can only be used over quota"
            )
            found = finding(queue.terms[Dimension.GPU].quota_place, message).about(queue.id)
            yield (
                found.near(job.place_of(Dimension.GPU), "each pod")
                .fixed_by(f"Write {_plain(quota - rest)} or {_plain(quota - rest + size)}.")
                .with_data(queue=queue.name, quota=_plain(quota), pod=_plain(size))
            )
            return
