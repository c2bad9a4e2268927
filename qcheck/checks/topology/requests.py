"""QC514, QC515: the consequences of a topology request, or of its absence."""

from __future__ import annotations

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.checks.topology.levels import annotation_place
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.cluster.workloads import TopologyRequest
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.kueue.admission import decide
from qcheck.schedulers.kueue.flavor_eligibility import asks_topology, is_topology_only
from qcheck.schedulers.kueue.gates import TOPOLOGY, is_on
from qcheck.schedulers.kueue.workload_classes import representative

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, ResourceFlavor
    from qcheck.cluster.workloads import PodSet, Workload


class SkippedFlavor(Value):
    """Workloads of a queue that could use a topology flavor if they requested it.

    `used`: the flavor they get instead.
    """

    queue: ClusterQueue
    flavor: ResourceFlavor
    used: str | None
    workloads: tuple[Workload, ...] = ()


@rule("QC514")
def topology_flavor_skipped(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads without a topology request in queues that mix topology flavors and others."""
    queues = {q.name for q in cluster.queues if is_on(cluster, TOPOLOGY) and _mixes(cluster, q)}
    verdicts = [v for v in verdicts_of(cluster) if v.decision.cluster_queue in queues]
    found: dict[tuple[str, str, str | None], SkippedFlavor] = {}
    by_class: dict[int, SkippedFlavor | None] = {}
    for verdict in verdicts:
        alike = id(representative(cluster, verdict.workload))
        if alike not in by_class:
            by_class[alike] = _skipped(cluster, verdict)
        skipped = by_class[alike]
        if skipped is not None:
            key = (skipped.queue.name, skipped.flavor.name, skipped.used)
            known = found.setdefault(key, skipped)
            found[key] = replace(known, workloads=(*known.workloads, verdict.workload))
    asking = {v.decision.cluster_queue for v in verdicts if any(map(asks_topology, v.workload.pod_sets))}
    for each in found.values():
        if each.used is None or each.queue.name not in asking:
            yield _finding(each)


def _mixes(cluster: Cluster, queue: ClusterQueue) -> bool:
    """Return whether some flavor of a queue has a topology, and workloads must request it."""
    has_topology = any(f.name in cluster.flavor and cluster.flavor[f.name].topology for f in queue.flavors())
    return has_topology and not is_topology_only(cluster, queue)


def _skipped(cluster: Cluster, verdict: Verdict) -> SkippedFlavor | None:
    """Return the topology flavor that a workload misses, if it precedes the flavor it gets or it gets none."""
    workload, queue = verdict.workload, cluster.queue.get(verdict.decision.cluster_queue or "")
    if queue is None or any(map(asks_topology, workload.pod_sets)):
        return None
    asked = decide(cluster, replace(workload, pod_sets=tuple(map(_asking, workload.pod_sets))))
    got = [name for a in asked.assigned for name in a.flavor_names if cluster.flavor[name].topology]
    if not asked.admitted or not got:
        return None
    used = next((n for a in verdict.decision.assigned for n in a.flavor_names), None) if verdict.admitted else None
    if verdict.admitted is None or (used is not None and not _stands_before(queue, got[0], used)):
        return None
    return SkippedFlavor(queue, cluster.flavor[got[0]], used)


def _asking(pod_set: PodSet) -> PodSet:
    return replace(pod_set, topology=TopologyRequest(pod_set.template.place, unconstrained=True))


def _stands_before(queue: ClusterQueue, first: str, second: str) -> bool:
    orders = [[f.name for f in g.flavors] for g in queue.groups]
    return any(first in o and second in o and o.index(first) < o.index(second) for o in orders)


def _finding(skipped: SkippedFlavor) -> Finding:
    queue, flavor, (first, *others) = skipped.queue, skipped.flavor, skipped.workloads
    who = str(first.id) + (f" and {plural(len(others), 'other workload')}" if others else "")
    verb = "ask" if others else "asks"
    if skipped.used is None:
        result = f"{queue.name} never admits {'them' if others else 'it'}, although flavor {flavor.name} has room"
    else:
        result = f"{queue.name} skips flavor {flavor.name} and always uses {skipped.used}"
    found = finding(first.pod_sets[0].template.place.key(), f"{who} {verb} for no topology: {result}").about(first.id)
    for other in others:
        found = found.near(other.pod_sets[0].template.place.key(), f"{other.id} too")
    found = found.near(
        flavor.place.at("spec", "topologyName"), f"{flavor.name} is only for pods that ask for a topology"
    )
    plain = next((f for f in queue.flavors() if f.name == skipped.used), None)
    if plain is not None:
        found = found.near(plain.quotas[0].place, f"used instead: {plain.name}")
    return found.with_data(queue=queue.name, flavor=flavor.name, used=skipped.used)


@rule("QC515")
def topology_per_pod_set(cluster: Cluster) -> Iterator[Finding]:
    """Report workloads with several pod sets that each require their own domain."""
    for workload in cluster.workloads if is_on(cluster, TOPOLOGY) else ():
        if not workload.queue:
            continue
        required = [(p, p.topology) for p in workload.pod_sets if p.count and p.topology and p.topology.required]
        parts = {asked.group or f"alone {number}" for number, (_, asked) in enumerate(required)}
        if len(parts) > 1:
            levels = names(dict.fromkeys(asked.required or "" for _, asked in required))
            (first, at), *others = required
            found = finding(
                annotation_place(at, "required-topology"),
                f"the pod sets {names(p.name for p, _ in required)} of {workload.id} each require one domain of {levels}, "
                "and may get different ones",
                first.name,
            ).about(workload.id)
            for pod_set, asked in others:
                found = found.near(annotation_place(asked, "required-topology"), pod_set.name)
            yield found.with_data(podSets=[p.name for p, _ in required])
