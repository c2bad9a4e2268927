"""QC209: flavors that one pod gets together."""

from __future__ import annotations

from itertools import combinations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.labels import NodeSelection
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kueue.cohort_tree import cohort_tree
from qcheck.schedulers.kueue.competitors import contention_of
from qcheck.supply.eligibility import select
from qcheck.supply.groups import NONE
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue import ClusterQueue, FlavorQuotas, ResourceFlavor, ResourceGroup


@rule("QC209")
def flavors_contradict(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors of two resource groups that no node can satisfy together."""
    for queue in cluster.queues:
        groups = [group for group in queue.groups if any(each.name in cluster.flavor for each in group.flavors)]
        for first, second in combinations(groups, 2):
            if _meet(cluster, queue, first, second):
                yield from _contradictions(cluster, queue, first, second)


def _meet(cluster: Cluster, queue: ClusterQueue, first: ResourceGroup, second: ResourceGroup) -> bool:
    """Return whether pods request resources of both groups; assumed if no workload of the queue is known."""
    mine = contention_of(cluster).workloads_of.get(queue.name)
    return not mine or any(
        asked & set(first.covered) and asked & set(second.covered)
        for w in mine
        for p in w.pod_sets
        for asked in ({r for r, n in p.template.amounts().items() if n},)
    )


def _contradictions(
    cluster: Cluster, queue: ClusterQueue, first: ResourceGroup, second: ResourceGroup
) -> Iterator[Finding]:
    """Report two groups once: an error if no pair of their flavors works, a warning if some pair does not."""
    able = [
        (a, b)
        for a in first.flavors
        for b in second.flavors
        if a.name in cluster.flavor and b.name in cluster.flavor and _has_quota(cluster, queue, a, b)
    ]
    wrong = [(a, b, why) for a, b in able if (why := _why(cluster, cluster.flavor[a.name], cluster.flavor[b.name]))]
    if not wrong:
        return
    a, b, why = wrong[0]
    some = len(wrong) < len(able)
    rest = f" (as {len(wrong)} of {len(able)} pairs of flavors do)" if some else ""
    found = finding(
        b.name_place,
        f"a pod of {queue.name} that asks for {names(first.covered)} and for {names(second.covered)} gets the flavors "
        f"{a.name} and {b.name} together, and {why}{rest}",
    ).about(queue.id)
    found = found.near(a.name_place, f"flavor {a.name}")
    for name in (a.name, b.name):
        found = found.near(cluster.flavor[name].place.at("spec", "nodeLabels").key(), f"labels of {name}")
    yield found.at_most(Severity.WARNING if some else Severity.ERROR).with_data(
        queue=queue.name, flavors=[a.name, b.name]
    )


def _has_quota(cluster: Cluster, queue: ClusterQueue, first: FlavorQuotas, second: FlavorQuotas) -> bool:
    return all(any(cohort_tree(cluster).queue_potential(queue.name, q.key) for q in f.quotas) for f in (first, second))


def _why(cluster: Cluster, first: ResourceFlavor, second: ResourceFlavor) -> str | None:
    for key in sorted(first.node_labels.keys() & second.node_labels.keys()):
        mine, theirs = first.node_labels[key], second.node_labels[key]
        if mine != theirs:
            return f"the label {key} cannot have both values, {mine} and {theirs}"
    if not (supply_of(cluster).matches(first.name) and supply_of(cluster).matches(second.name)):
        return None
    both = {**first.node_labels, **second.node_labels}
    fits = any(
        select(NodeSelection(both), c.labels, c.varying) != NONE for g in supply_of(cluster).groups for c in g.classes
    )
    unclear = any(not g.classes for g in supply_of(cluster).groups)
    return None if fits or unclear else "no node carries the labels of both"
