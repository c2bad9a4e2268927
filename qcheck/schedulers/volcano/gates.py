"""The gates that a job must pass in Volcano: the limits of its queue and its ancestors, on an idle cluster.

Source: Volcano 1.15, `pkg/scheduler/plugins/{capacity,proportion}`: a queue's limit is `realCapability`.
"""

from __future__ import annotations

from qcheck.cluster.problems import NODES
from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.cluster.views import answered_once, view
from qcheck.cluster.volcano import ROOT
from qcheck.schedulers.volcano.amounts import UNCOUNTED, UNLIMITED, amounts
from qcheck.schedulers.volcano.division import NotReady, flat_limit, guaranteed, hierarchy
from qcheck.schedulers.volcano.jobs import gangs_of
from qcheck.schedulers.volcano.nodes import is_known, total
from qcheck.schedulers.volcano.queues import queues_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.volcano.amounts import Amounts
    from qcheck.schedulers.volcano.jobs import VolcanoGang


class VolcanoBarrier(Value):
    """A queue that may never hold what a gang requests. `set_aside`: other queues' guarantees, if relevant."""

    queue: str
    resource: str
    requested: int
    limit: int
    set_aside: int = 0


@view
def limits(cluster: Cluster) -> dict[str, Amounts]:
    """Return the limit of each queue with all nodes that can exist; queues that are never served have 0.

    A resource that is missing from a limit counts as 0.
    """
    queues, most = queues_of(cluster), _most(cluster)
    if queues.is_tree:
        parts = hierarchy(queues.terms, most, {})
        return {} if isinstance(parts, NotReady) else {name: part.limit for name, part in parts.items()}
    reserved = guaranteed(queues.terms)
    return {t.name: flat_limit(t, most, reserved) for t in queues.terms if t.name != ROOT}


@view
def stopped_by(cluster: Cluster) -> str:
    """Return why the plugin schedules no queue at all; "" if it does."""
    queues = queues_of(cluster)
    if not queues.is_tree:
        return ""
    outside = [g.queue for g in gangs_of(cluster) if not g.is_job]
    parts = hierarchy(queues.terms, amounts(), dict.fromkeys(outside, amounts()))
    if not isinstance(parts, NotReady):
        return ""
    if parts.missing_parent is not None:
        return f"queue {parts.queue} has no parent {parts.missing_parent}, so the plugin schedules no queue"
    return f"queue {parts.queue} has both queues below it and a job, so the plugin schedules no queue"


def _most(cluster: Cluster) -> Amounts:
    """Return the most that the nodes can ever have; unknown values, and unread nodes, count as unlimited."""
    named = {r for t in queues_of(cluster).terms for r in (*t.capability, *t.deserved, *t.guarantee)}
    named |= {r for g in gangs_of(cluster) for r in g.resources}
    is_open = not cluster.has_all(NODES)
    return {**total(cluster, True), **{r: UNLIMITED for r in sorted(named) if is_open or not is_known(cluster, r)}}


@answered_once
def barriers(cluster: Cluster, gang: VolcanoGang) -> tuple[VolcanoBarrier, ...]:
    """Return the limits that a gang can never pass: one entry per resource, the nearest queue first."""
    return tuple(_barriers(cluster, gang))


def _barriers(cluster: Cluster, gang: VolcanoGang) -> Iterator[VolcanoBarrier]:
    queues, known = queues_of(cluster), limits(cluster)
    line = [q.name for q in queues.path(gang.queue)] if queues.is_tree else [gang.queue]
    path = [*(line or [gang.queue]), *([ROOT] if queues.is_tree else [])]
    for resource, requested in gang.least.items():
        if resource in UNCOUNTED or requested <= 0:
            continue
        for name in path:
            limit = known.get(name, {}).get(resource, 0) if name in known else UNLIMITED
            if requested > limit:
                yield VolcanoBarrier(
                    queue=name,
                    resource=resource,
                    requested=requested,
                    limit=int(limit),
                    set_aside=_set_aside(cluster, name, resource),
                )
                break


def _set_aside(cluster: Cluster, queue: str, resource: str) -> int:
    """Return what the guarantees of other queues take from this one's limit; 0 with a hierarchy (root is unlimited)."""
    queues = queues_of(cluster)
    if queues.is_tree:
        return 0
    return sum(t.guarantee.get(resource, 0) for t in queues.terms if t.name != queue)
