"""Shares of KAI's busy queues: quota, fair share with past usage, and limit, for each shard and resource.

Fair shares are doubles, computed in KAI's own order, because KAI rounds them.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from qcheck.cluster.kai import UNLIMITED, Dimension, KaiQueue, KaiTerms
from qcheck.cluster.problems import NODES
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.quota.shares import (
    NO_NODES,
    NOTHING_TO_RECLAIM,
    PoolShares,
    QueueShare,
    Reclaimable,
    ShareNote,
    no_capacity,
)
from qcheck.schedulers.kai.jobs import jobs_of
from qcheck.schedulers.kai.shards import RESOURCES, Shard, double, shards_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.quota.shares import Amount, Demand, Usage
    from qcheck.schedulers.kai.hierarchy import Amounts
    from qcheck.supply.groups import NodeGroup


class BusyShard(Value):
    """The division of one shard for one demand: the total, and each queue's fair share.

    `has_all_nodes`: the total is known, as all nodes were read.
    """

    shard: Shard
    total: Mapping[Dimension, int]
    shares: Amounts
    demand: Demand
    usage: Usage
    has_all_nodes: bool


def shares(cluster: Cluster, demand: Demand, usage: Usage) -> tuple[PoolShares, ...]:
    """Return the shares of every shard with queues, for each of the three resources that KAI divides."""
    found = []
    for shard in shards_of(cluster):
        if shard.queues:
            busy = _divided(cluster, shard, demand, usage)
            found += [_pool(cluster, busy, dimension) for dimension in Dimension]
    return tuple(found)


def _divided(cluster: Cluster, shard: Shard, demand: Demand, usage: Usage) -> BusyShard:
    total = {dimension: what_there_is(cluster, shard, dimension) for dimension in Dimension}
    requests = {queue.name: {d: _wanted(demand, queue.name, d) for d in Dimension} for queue in shard.leaves}
    used = {queue.name: {d: double(usage.of(queue.name, RESOURCES[d])) for d in Dimension} for queue in shard.queues}
    amounts = {dimension: double(amount) for dimension, amount in total.items()}
    return BusyShard(
        shard=shard,
        total=total,
        shares=shard.hierarchy.fair_shares(amounts, requests, used, shard.k_value if usage.is_given else 0.0),
        demand=demand,
        usage=usage,
        has_all_nodes=cluster.has_nodes and cluster.has_all(NODES) and all(g.is_known for g in shard.groups),
    )


def what_there_is(cluster: Cluster, shard: Shard, dimension: Dimension) -> int:
    """Return the total that KAI divides: the allocatable of the shard's nodes minus the pods of other schedulers."""
    scheduler = cluster.kai_names.scheduler
    return sum(_group_total(group, RESOURCES[dimension], scheduler) for group in shard.groups)


def _group_total(group: NodeGroup, resource: str, scheduler: str) -> int:
    each = []
    for nodes in group.classes:
        taken = (t.amounts.get(resource, 0) for t in nodes.takings if t.daemon_set.template.scheduler_name != scheduler)
        each.append(max(0, nodes.machine.allocatable.get(resource, 0) - sum(taken)))
    return group.static * min(each, default=0)


def _wanted(demand: Demand, queue: str, dimension: Dimension) -> float:
    wanted = demand.of(queue, RESOURCES[dimension])
    return inf if wanted is None else double(wanted)


def _pool(cluster: Cluster, busy: BusyShard, dimension: Dimension) -> PoolShares:
    return PoolShares(
        scheduler=SchedulerName.KAI,
        pool=busy.shard.name,
        resource=RESOURCES[dimension],
        tree=busy.shard.name,
        total=busy.total[dimension],
        queues=tuple(
            _queue(cluster, busy, queue, dimension) for queue in sorted(busy.shard.leaves, key=lambda q: q.name)
        ),
    )


def _queue(cluster: Cluster, busy: BusyShard, queue: KaiQueue, dimension: Dimension) -> QueueShare:
    terms, total = queue.terms[dimension], busy.total[dimension]
    share = busy.shares.get(queue.name, {}).get(dimension, 0.0)
    entitled = _number(Fraction(total) if terms.quota == UNLIMITED else max(Fraction(0), terms.quota))
    limit = _limit(busy.shard, queue, dimension, total)
    reserved = _reserved(busy.shard, queue, dimension, total)
    step = _largest(cluster, queue.name, dimension)
    return QueueShare(
        queue=queue.name,
        parent=queue.parent or None,
        place=terms.quota_place if terms.quota_place.exists else queue.name_place,
        reserved=min(reserved, limit),
        entitled=entitled,
        share=_number(share),
        limit=limit,
        reclaimable=_reclaimable(busy.shard, queue, share),
        notes=tuple(_notes(busy, queue, terms, share, limit, step)),
        step=step,
    )


def _number(amount: Fraction | float) -> Amount:
    """Return an integral amount as an integer."""
    return int(amount) if amount == int(amount) else amount


def _limit(shard: Shard, queue: KaiQueue, dimension: Dimension, total: int) -> Amount:
    """Return the smallest limit on the path to the top, at most the total."""
    return _number(min([Fraction(total), *_written_limits(shard, queue, dimension)]))


def _written_limits(shard: Shard, queue: KaiQueue, dimension: Dimension) -> list[Fraction]:
    """Return the limits on the path to the top, except unlimited ones."""
    limits = [q.terms[dimension].limit for q in shard.path(queue.name)]
    return [max(Fraction(0), limit) for limit in limits if limit != UNLIMITED]


def _reserved(shard: Shard, queue: KaiQueue, dimension: Dimension, total: int) -> Amount:
    """Return the quota that no other queue can withhold: jobs over quota return it, unless quotas exceed the total."""
    path = [q.terms[dimension].quota for q in shard.path(queue.name)]
    top = [q.terms[dimension].quota for q in shard.children("")]
    is_kept = UNLIMITED not in top and sum(top) <= total
    if not path or UNLIMITED in path or not is_kept or not _reclaims(shard):
        return 0
    return _number(max(Fraction(0), min(path)))


def _reclaims(shard: Shard) -> bool:
    return shard.spec is None or shard.spec.runs("reclaim")


def _reclaimable(shard: Shard, queue: KaiQueue, share: float) -> Reclaimable:
    if not _reclaims(shard):
        return Reclaimable(0, (), "the shard has no action reclaim: queues get capacity back only when others finish")
    if not share:
        return NOTHING_TO_RECLAIM
    holders = tuple(sorted(q.name for q in shard.leaves if q.name != queue.name))
    return Reclaimable(_number(share), holders, "reclaim evicts preemptible jobs of queues above their share or quota")


def _largest(cluster: Cluster, queue: str, dimension: Dimension) -> int | None:
    """Return what the largest job of a queue needs to start."""
    sizes = [j.first[dimension] for j in jobs_of(cluster) if j.is_scheduled and j.queue.name == queue]
    largest = max(sizes, default=Fraction(0))
    return -(-largest.numerator // largest.denominator) or None


def _notes(
    busy: BusyShard, queue: KaiQueue, terms: KaiTerms, share: float, limit: Amount, step: int | None
) -> Iterator[ShareNote]:
    resource = RESOURCES[terms.dimension]
    if terms.limit == 0:
        message = f"the limit of {queue.name} is 0{'' if terms.limit_place.exists else ', because none is written'}"
        yield ShareNote("no-limit", message, terms.limit_place)
    elif share == 0 and busy.demand.of(queue.name, resource) != 0 and busy.total[terms.dimension]:
        yield ShareNote("starves", _why_nothing(queue, terms), terms.quota_place)
    elif step is not None and share < step <= limit:
        size = name_amount(resource, step)
        message = (
            f"its largest job needs {size} at once, more than its share: it starts only when other queues are idle"
        )
        yield ShareNote("share-below-job", message, terms.quota_place)
    limits = [Fraction(limit)] if busy.has_all_nodes else _written_limits(busy.shard, queue, terms.dimension)
    if step is not None and any(each < step for each in limits):
        message = f"its largest job needs {name_amount(resource, step)} at once, more than it can ever hold"
        yield ShareNote("limit-below-workload", message, terms.limit_place)
    if queue.name == busy.shard.first_leaf and not busy.shard.groups:
        yield ShareNote("no-nodes", NO_NODES)
    unknown = [g.name for g in busy.shard.groups if not g.is_known]
    if queue.name == busy.shard.first_leaf and unknown:
        yield ShareNote("unknown-nodes", no_capacity(unknown))
    if terms.dimension is Dimension.GPU and queue.name == busy.shard.first_leaf:
        yield from _history(busy)


def _why_nothing(queue: KaiQueue, terms: KaiTerms) -> str:
    if not terms.quota and not terms.weight:
        return f"{queue.name} has neither quota nor overQuotaWeight: it gets only capacity that no other queue requests"
    return f"{queue.name} gets nothing while all queues are busy: other queues come first by quota, priority and weight"


def _history(busy: BusyShard) -> Iterator[ShareNote]:
    """Yield the note on past usage, once, at the first queue."""
    spec = busy.shard.spec
    if not busy.usage.is_given:
        yield ShareNote("no-usage", "past usage is assumed to be 0; set it with --usage", None)
    elif spec is None or spec.usage is None:
        place = None if spec is None else spec.place.at("spec", "usageDBConfig")
        yield ShareNote("history-off", "the shard has no usageDBConfig, so KAI reads no past usage there", place)
