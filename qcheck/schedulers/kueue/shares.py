"""Shares of Kueue's busy queues: reserved amount and limit, and a share if fair sharing is on.

Source: Kueue 0.20 `pkg/cache/scheduler/resource_node.go`, `fair_sharing.go`, `pkg/scheduler/preemption`.
"""

from __future__ import annotations

from itertools import chain

from qcheck.cluster.units import named, show_amounts
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import view
from qcheck.quota.shares import PoolShares, QueueShare, Reclaimable, ShareNote
from qcheck.schedulers.kueue.admission import copies_of
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.schedulers.kueue.fair_division import Branch, divide
from qcheck.schedulers.kueue.preemption import ComesBack, claims_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, FlavorResource, Quota
    from qcheck.cluster.workloads import Workload
    from qcheck.quota.shares import Amount, Demand, Usage

KUEUE = "kueue"


class Largest(Value):
    """The largest workload of a queue for a resource: its name and its request in base units."""

    name: str
    amount: int


def shares(cluster: Cluster, demand: Demand, usage: Usage) -> tuple[PoolShares, ...]:
    """Return the shares for every tree, flavor and resource, each divided independently of the others."""
    tree = cohort_tree(cluster)
    pools: dict[tuple[str, bool, str, str], list[ClusterQueue]] = {}
    for queue in cluster.queues:
        if not tree.is_below_cycle(queue.parent):
            cohort = tree.root(queue.name)
            top = (queue.name, False) if cohort is None else (cohort, True)
            for quota in queue.quotas():
                pools.setdefault((*top, *quota.key), []).append(queue)
    return tuple(
        _pool(cluster, root, is_cohort, (flavor, resource), queues, demand, usage)
        for (root, is_cohort, flavor, resource), queues in sorted(pools.items(), key=lambda p: p[0])
    )


def _pool(
    cluster: Cluster,
    root: str,
    is_cohort: bool,
    cell: FlavorResource,
    queues: list[ClusterQueue],
    demand: Demand,
    usage: Usage,
) -> PoolShares:
    """Return the shares of a cell below a cohort, or in a queue without one, which may have the same name."""
    tree = cohort_tree(cluster)
    fair = _division(cluster, root, is_cohort, cell, demand) if _is_fair(cluster) else None
    usable = sum(_division(cluster, root, is_cohort, cell, None).values())
    nodes = [tree.queues[q.name] for q in queues]
    if is_cohort:
        nodes += [node for name, node in tree.cohorts.items() if tree.ancestors(name)[-1] == root]
    total = sum(node.cells[cell].nominal for node in nodes if cell in node.cells)
    unused = total - usable
    listed = tuple(_queue(cluster, q, cell, fair, usage, unused) for q in sorted(queues, key=lambda q: q.name))
    return PoolShares(
        scheduler=KUEUE,
        pool=cell[0],
        resource=cell[1],
        tree=root,
        total=total,
        queues=listed,
    )


def _is_fair(cluster: Cluster) -> bool:
    return cluster.configuration is not None and cluster.configuration.fair_sharing


def _division(
    cluster: Cluster, root: str, is_cohort: bool, cell: FlavorResource, demand: Demand | None
) -> dict[str, Amount]:
    """Return what every queue gets of a cell; without a demand, every queue wants more than exists."""
    tree = cohort_tree(cluster)
    node = tree.cohorts[root] if is_cohort else tree.queues[root]
    return divide(_branch(cluster, root, is_cohort, cell, demand), tree.subtree(node, cell))


def _branch(cluster: Cluster, name: str, is_cohort: bool, cell: FlavorResource, demand: Demand | None) -> Branch:
    tree = cohort_tree(cluster)
    node = tree.cohorts[name] if is_cohort else tree.queues[name]
    quota = node.cells.get(cell)
    subtree = tree.subtree(node, cell)
    weight = node.holder.weight if node.holder else None
    queues = [q for q in node.queues if cell in tree.queues[q].cells]
    has_cap = quota is not None and quota.borrowing_limit is not None and node.parent is not None
    cap = subtree + (quota.borrowing_limit or 0) if quota is not None and has_cap else None
    wanted = None if is_cohort or demand is None else demand.of(name, cell[1])
    return Branch(
        name=name,
        own=subtree,
        kept=tree.local(node, cell),
        cap=cap,
        wanted=wanted,
        milli_weight=1000 if weight is None else weight.milli,
        is_queue=not is_cohort,
        below=(
            *(_branch(cluster, q, False, cell, demand) for q in queues),
            *(_branch(cluster, c, True, cell, demand) for c in node.cohorts),
        ),
    )


def _queue(
    cluster: Cluster,
    queue: ClusterQueue,
    cell: FlavorResource,
    fair: dict[str, Amount] | None,
    usage: Usage,
    unused: Amount,
) -> QueueShare:
    tree = cohort_tree(cluster)
    quota = tree.queues[queue.name].cells[cell]
    claims = list(claims_on(cluster, queue, quota))
    lent = tree.lent(queue.name, cell)
    at_risk = min(lent, sum(c.amount for c in claims if c.outcome is not ComesBack.ALWAYS))
    taken_back = [c for c in claims if c.outcome is not ComesBack.NEVER]
    why = "; ".join(c.why for c in claims) if claims else "no other queue can use it"
    largest = _largest(cluster).get((queue.name, cell[1]))
    return QueueShare(
        queue=queue.name,
        parent=queue.parent,
        place=quota.nominal_place,
        reserved=quota.nominal - at_risk,
        entitled=quota.nominal,
        share=None if fair is None else fair[queue.name],
        limit=tree.queue_potential(queue.name, cell),
        reclaimable=Reclaimable(
            amount=min(lent, sum(c.amount for c in taken_back)),
            holders=tuple(sorted(chain.from_iterable(c.holders for c in taken_back))),
            how=why,
        ),
        notes=tuple(_notes(cluster, queue, quota, fair, usage, unused)),
        step=largest.amount if largest else None,
    )


def _notes(
    cluster: Cluster,
    queue: ClusterQueue,
    quota: Quota,
    fair: dict[str, Amount] | None,
    usage: Usage,
    unused: Amount,
) -> Iterator[ShareNote]:
    tree, resource = cohort_tree(cluster), quota.resource
    limit = tree.queue_potential(queue.name, quota.key)
    if queue.is_stopped:
        yield ShareNote(
            "stopped", f"stopPolicy {queue.stop_policy}: it admits nothing", queue.place.at("spec", "stopPolicy")
        )
    if fair is None and queue.parent:
        surplus = "fair sharing is off, so priority and arrival determine who gets the surplus"
        yield ShareNote("no-share", f"no share is defined: {surplus}; each gets an amount between reserved and limit")
    weight = queue.weight
    if fair is not None and weight is not None and weight.milli == 0 and limit > quota.nominal:
        place = queue.place.at("spec", "fairSharing", "weight")
        yield ShareNote("starves", "weight 0: it borrows only what queues with a weight do not use", place)
    elif quota.nominal == 0 and limit > 0 and fair is None:
        yield ShareNote("starves", "nominalQuota 0: it gets nothing while the owners are busy", quota.nominal_place)
    largest = _largest(cluster).get((queue.name, resource))
    if largest is not None and largest.amount > limit:
        asked, most = show_amounts(resource, largest.amount, limit)
        message = (
            f"{largest.name} asks for {named(resource, asked)}, more than the limit of {most} in flavor {quota.flavor}"
        )
        yield ShareNote("limit-below-workload", message, quota.nominal_place)
    if unused > 0 and quota.borrowing_limit is not None:
        bound, idle = show_amounts(resource, quota.borrowing_limit, unused)
        message = f"borrowingLimit {bound}, while no queue can use {named(resource, idle)} of the tree"
        yield ShareNote("unusable-surplus", message, quota.place.at("borrowingLimit"))
    consumed = usage.of(queue.name, resource)
    if usage.is_given and consumed:
        message = (
            "past usage orders the local queues of one cluster queue; it does not change shares between cluster queues"
        )
        yield ShareNote("history", message)


@view
def _largest(cluster: Cluster) -> dict[tuple[str, str], Largest]:
    """Return the largest known workload by queue and resource."""
    found: dict[tuple[str, str], Largest] = {}
    for workload, queue in contention_of(cluster).queued:
        for resource, amount in _asked(workload).items():
            key = (queue.name, resource)
            if amount > 0 and (key not in found or amount > found[key].amount):
                found[key] = Largest(workload.id.name, amount)
    return found


def _asked(workload: Workload) -> dict[str, int]:
    """Return the total request of one of the workloads that an object creates."""
    total: dict[str, int] = {}
    for pod_set in workload.pod_sets:
        count = 1 if workload.each_pod_alone and copies_of(workload) > 1 else pod_set.count
        for resource, amount in pod_set.template.amounts().items():
            total[resource] = total.get(resource, 0) + amount * count
    return total
