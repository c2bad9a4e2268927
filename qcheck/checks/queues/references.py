"""QC401 to QC405, QC414: the references of queues, cohorts and workloads."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.missing_references import Reference, by_name, missing, users
from qcheck.checks.registry import rule
from qcheck.cluster.kueue import StopPolicy
from qcheck.cluster.objects import NAMESPACE_NAME_LABEL
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.loans import loans_of
from qcheck.schedulers.kueue.namespaces import selects
from qcheck.schedulers.kueue.routing import selects_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, LocalQueue
    from qcheck.cluster.workloads import Workload


@rule("QC401")
def flavor_missing(cluster: Cluster) -> Iterator[Finding]:
    """Report queues and cohorts with quota of a flavor that does not exist."""
    holders = (*cluster.queues, *cluster.cohorts)
    uses = by_name(Reference(f.name, f.name_place, h.id) for h in holders for f in h.flavors())
    for name, each in uses.items():
        if name not in cluster.flavor:
            by = sorted({u.by.name for u in each if u.by.kind == "ClusterQueue"})
            consequence = f"{names(by)} {'stays' if len(by) == 1 else 'stay'} inactive" if by else "its quota is dead"
            yield missing(cluster, "ResourceFlavor", each, cluster.flavor, consequence)


@rule("QC402")
def cluster_queue_missing(cluster: Cluster) -> Iterator[Finding]:
    """Report local queues whose ClusterQueue does not exist."""
    uses = [
        Reference(q.cluster_queue, q.place.at("spec", "clusterQueue"), q.id)
        for q in cluster.local_queues
        if q.cluster_queue
    ]
    for name, each in by_name(uses).items():
        if name not in cluster.queue:
            yield missing(cluster, "ClusterQueue", each, cluster.queue, f"it is named by {users(each)}")
    for local in cluster.local_queues:
        if not local.cluster_queue:
            message = f"LocalQueue {local.name} names no ClusterQueue, so it accepts no workload"
            yield finding(local.place.at("spec", "clusterQueue"), message).about(local.id)


@rule("QC403")
def local_queue_missing(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads that name a queue that their namespace does not have."""
    if cluster.generates("LocalQueue"):
        return
    missed: dict[tuple[str, str], list[Workload]] = {}
    for workload in cluster.workloads:
        if workload.queue and not selects_cluster(workload) and not _may_lie_there(cluster, workload, workload.queue):
            missed.setdefault((workload.namespace, workload.queue), []).append(workload)
    if missed and not cluster.local_queues and not cluster.queues:
        yield _no_queue(missed)
        return
    for (namespace, queue), workloads in missed.items():
        known = cluster.local_queue_names.get(namespace, ())
        uses = [Reference(queue, w.queue_place, w.id) for w in workloads]
        consequence = f"namespace {namespace} has no such queue for {users(uses)}"
        found = missing(cluster, "LocalQueue", uses, known, consequence).with_data(namespace=namespace)
        yield _or_unplaced(cluster, found, namespace, queue)


def _or_unplaced(cluster: Cluster, found: Finding, namespace: str, queue: str) -> Finding:
    """Return the finding as a warning if a queue of that name has no namespace and may be applied to any namespace."""
    for local in cluster.local_queues_named.get(queue, ()):
        if not local.place.at("metadata", "namespace").exists:
            caption = f"without a namespace, it is in {local.namespace} unless it is applied with `-n {namespace}`"
            advice = f"Add `namespace: {namespace}` to the metadata of the LocalQueue."
            return found.likely().near(local.place.at("metadata", "name"), caption).fixed_by(advice)
    return found


def _no_queue(missed: dict[tuple[str, str], list[Workload]]) -> Finding:
    """Return one finding for all workloads if no queue was read: queues are probably defined elsewhere."""
    (namespace, queue), _ = next(iter(missed.items()))
    uses = [Reference(name, w.queue_place, w.id) for (_, name), workloads in missed.items() for w in workloads]
    first, *others = uses
    more = f" and {plural(len(missed) - 1, 'other queue')}" if len(missed) > 1 else ""
    message = f"no queue was read, but {users(uses)} need{'s' * (not others)} LocalQueue {queue}{more}"
    found = finding(first.place, message).about(first.by).likely()
    for other in others:
        found = found.near(other.place, f"{other.by} names {other.name}")
    found = found.fixed_by(
        "Add the queues to the paths, or set `complete: false` in the settings if they are defined elsewhere."
    )
    return found.with_data(missing=queue, nearest=None, uses=len(uses), namespace=namespace)


def _may_lie_there(cluster: Cluster, workload: Workload, queue: str) -> bool:
    """Return whether the queue exists; a manifest without a namespace may be applied in any."""
    if (workload.namespace, queue) in cluster.local_queue:
        return True
    is_placed = workload.place.at("metadata", "namespace").exists
    return not is_placed and queue in cluster.local_queues_named


@rule("QC404")
def namespace_not_selected(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that select no namespace, or not those of their local queues."""
    for queue in cluster.queues:
        locals_ = cluster.local_queues_of.get(queue.name, [])
        place = queue.place.at("spec", "namespaceSelector").key()
        selector = queue.namespace_selector
        if selector is None:
            message = f"{queue.name} has no namespaceSelector, so it accepts workloads of no namespace"
            found = finding(place, f"{message} (the empty selector {{}} matches all)").about(queue.id)
            for local in locals_:
                found = found.near(local.place.at("spec", "clusterQueue"), f"{local.id.full_name} refers to it")
            yield found.with_data(queue=queue.name)
        else:
            outside = [q for q in locals_ if selects(cluster, selector, q.namespace) is False]
            if outside:
                yield _outside(cluster, queue, outside)


def _outside(cluster: Cluster, queue: ClusterQueue, outside: list[LocalQueue]) -> Finding:
    spaces = sorted({q.namespace for q in outside})
    found = finding(
        queue.place.at("spec", "namespaceSelector").key(),
        f"the namespaceSelector of {queue.name} does not match {'namespace' if len(spaces) == 1 else 'the namespaces'} "
        f"{names(spaces)}, so the workloads of {plural(len(outside), 'local queue')} wait permanently",
    ).about(queue.id)
    for local in outside:
        found = found.near(local.place.at("spec", "clusterQueue"), f"{local.id.full_name} refers to it")
    for space in spaces:
        known = cluster.namespace.get(space)
        if known is not None:
            labels = {k: v for k, v in known.labels.items() if k != NAMESPACE_NAME_LABEL}
            has = names(f"{k}={v}" for k, v in labels.items()) if labels else "no label of its own"
            found = found.near(known.place.at("metadata", "labels").key(), f"{space} has {has}")
    return found.with_data(queue=queue.name, namespaces=[*spaces])


@rule("QC405")
def cohort_cycle(cluster: Cluster) -> Iterator[Finding]:
    """Report cohorts that are their own ancestors."""
    queues = _below_cycles(cluster)
    for cycle in cohort_tree(cluster).cycles:
        first, *others = [cluster.cohort[name] for name in cycle]
        inside = queues.get(cycle, [])
        below = sorted(queue.name for queue in inside)
        inactive = f"; Kueue silently does not schedule {names(below)}" if below else ""
        way = " -> ".join((*cycle, cycle[0]))
        found = finding(first.parent_place, f"the parents of cohort {first.name} form a cycle: {way}{inactive}")
        for other in others:
            found = found.near(other.parent_place, f"parent of {other.name}")
        for queue in inside:
            found = found.near(queue.parent_place, f"{queue.name} is below the cycle")
        yield found.about(first.id).with_data(cycle=[*cycle], queues=[*below])


def _below_cycles(cluster: Cluster) -> dict[tuple[str, ...], list[ClusterQueue]]:
    """Return the queues below each cycle of cohorts, in the order of the files."""
    tree = cohort_tree(cluster)
    cycle_of = {name: cycle for cycle in tree.cycles for name in cycle}
    found: dict[tuple[str, ...], list[ClusterQueue]] = {}
    for queue in cluster.queues if cycle_of else ():
        top = next(reversed(tree.ancestors(queue.parent)), None)
        if top in cycle_of:
            found.setdefault(cycle_of[top], []).append(queue)
    return found


@rule("QC414")
def queue_stopped(cluster: Cluster) -> Iterator[Finding]:
    """Report queues that are stopped in the repository."""
    for queue in cluster.queues:
        if queue.is_stopped:
            drained = "; its running workloads are evicted" if queue.stop_policy is StopPolicy.HOLD_AND_DRAIN else ""
            lent = "; others still borrow its quota" if loans_of(cluster).main(queue) else ""
            message = f"{queue.name} is stopped ({queue.stop_policy}) and admits nothing{drained}{lent}"
            yield finding(queue.place.at("spec", "stopPolicy"), message).about(queue.id)
    for local in cluster.local_queues:
        if local.is_stopped:
            unmanaged = "; jobs without a queue label now start unmanaged" if local.name == "default" else ""
            message = (
                f"LocalQueue {local.id.full_name} is stopped ({local.stop_policy}) and accepts no workload{unmanaged}"
            )
            yield finding(local.place.at("spec", "stopPolicy"), message).about(local.id)
