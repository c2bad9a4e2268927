"""QC010: unknown capacity that quota or queued workloads depend on."""

from __future__ import annotations

from qcheck import DOCS
from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.problems import of_problems
from qcheck.checks.registry import rule
from qcheck.checks.repelling_taints import keeps_off
from qcheck.cluster.problems import NODES, ProblemCode
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of, trees_of
from qcheck.supply.eligibility import hosts
from qcheck.supply.supply import is_reachable, supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.workloads import PodSet, Workload
    from qcheck.supply.groups import NodeGroup

MOST_NAMED = 3
FORMAT = f"{DOCS}/node-pools.md"


@rule("QC010")
def capacity_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Report quota without a comparable node pool, pools of unknown size or machines, and sources of further nodes."""
    yield from of_problems(cluster, ProblemCode.CAPACITY_UNKNOWN)
    for group in supply_of(cluster).groups:
        pool = group.pool
        if pool is not None and pool.why_unknown and _matters(cluster, group):
            what = "the capacity" if pool.count_unknown or not pool.machines else "not all"
            message = f"{what} of pool {pool.name} is {'' if what == 'not all' else 'not '}known: {pool.why_unknown}"
            yield finding(pool.unknown_place or pool.place, message)
    missed = [] if not cluster.has_nodes else list(_missed(cluster))
    yield from _elsewhere(cluster, missed)
    yield from _without_plain_nodes(cluster)
    if not cluster.has_nodes:
        yield from _nothing_to_compare(cluster)


def _matters(cluster: Cluster, group: NodeGroup) -> bool:
    """Return whether quota or a queued workload may depend on the nodes of a group."""
    supply = supply_of(cluster)
    for pool, _ in promises_of(cluster).used_pools:
        if any(match.group is group for match in supply.matches(pool.key)) and not keeps_off(cluster, pool, group):
            return True
    return any(
        host.labels_match
        for _, pod_set in _asking(cluster)
        for host in hosts(cluster, [group], pod_set.template, pod_set.template.amounts())
    )


def _asking(cluster: Cluster) -> Iterator[tuple[Workload, PodSet]]:
    """Yield pods that select nodes themselves and are queued or request accelerators."""
    for workload in cluster.workloads:
        for pod_set in workload.pod_sets:
            counts = workload.queue or any(is_compute(r) and n for r, n in pod_set.template.amounts().items())
            if counts and pod_set.template.selection.keys:
                yield workload, pod_set


def _missed(cluster: Cluster) -> Iterator[str]:
    """Yield the pools and workloads that match none of the nodes that were read."""
    supply = supply_of(cluster)
    for pool, _ in promises_of(cluster).used_pools:
        if not supply.matches(pool.key):
            yield f"{pool.title} selects none of those that were read"
    for workload, pod_set in _asking(cluster):
        if not is_reachable(cluster, pod_set.template):
            yield f"{workload.id} selects none of those that were read"


def _elsewhere(cluster: Cluster, missed: list[str]) -> Iterator[Finding]:
    """Report everything unread that may define nodes as one finding, if something depends on it."""
    unread = [u for u in cluster.unread if u.what and u.place is not None and u.may_define(NODES)]
    wanted = [r for p, cells in promises_of(cluster).used_pools for r in {c.resource for c in cells if c.promised}]
    if not unread or not (missed or wanted):
        return
    first, *others = unread
    assert first.place is not None
    sources = names(dict.fromkeys(u.what for u in unread), MOST_NAMED + 1)
    consequences = f"; {'; '.join(missed[:MOST_NAMED])}" if missed else ""
    found = finding(first.place, f"{sources} may define nodes that were not read{consequences}")
    for each in others[:MOST_NAMED]:
        found = found.near(each.place, f"{each.what} may too")
    yield found.fixed_by(
        "Add a Terraform plan or state (`terraform show -json`) or the nodes (`kubectl get nodes -o yaml`) to the paths, or "
        f"describe the pools in qcheck's own format: {FORMAT}"
    )


def _without_plain_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors that also select the nodes for system pods, if every node that was read repels these pods.

    If some source of nodes was not read, the finding on that source is enough.
    """
    supply = supply_of(cluster)
    for pool, cells in promises_of(cluster).used_pools if cluster.has_all(NODES) else ():
        held = [q for q in cells if q.promised and supply.may_be_on_plain_nodes(pool.key, q.resource)]
        if held:
            resources = names(sorted({q.resource for q in held}))
            yield finding(
                held[0].place,
                f"the quota of {resources} in {pool.title} cannot be checked: the flavor selects all nodes, but every "
                "node that was read has a taint that neither the flavor nor system pods tolerate, so the nodes for system "
                "pods were not read",
            ).fixed_by(f"Add the missing nodes to the paths (formats: {FORMAT}), or set spec.nodeLabels of the flavor.")


def _nothing_to_compare(cluster: Cluster) -> Iterator[Finding]:
    demands = promises_of(cluster).cells.items()
    held = [q for (_, r), quotas in demands for q in quotas if q.promised and not supply_of(cluster).is_virtual(r)]
    if held:
        many = sum(bool(n.admits) for t in trees_of(cluster) for n in t.nodes)
        yield finding(
            held[0].place,
            f"the quota of {many} queue{'s' * (many > 1)} cannot be checked: no node pool and no Node was read",
        ).fixed_by(f"Add node definitions or the output of `kubectl get nodes -o yaml` to the paths: {FORMAT}")
