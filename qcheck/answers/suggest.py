"""Proposals for a finding: edits that may resolve it."""

from __future__ import annotations

from qcheck.answers.node_proposals import groups_of, more_nodes, without_daemon_sets
from qcheck.answers.proposals import Proposal, Way
from qcheck.answers.quota_proposals import lower_quotas
from qcheck.answers.verdicts import verdicts_of
from qcheck.answers.workload_changes import WorkloadChange, changes
from qcheck.cluster.edits import How
from qcheck.cluster.place import follow
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.cluster.quota_pool import pool_name
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.views import answered_once, view
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.answers.constraints import Constraints
    from qcheck.answers.verdict import Verdict
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.edits import Edit
    from qcheck.findings.finding import Finding
    from qcheck.supply.groups import NodeGroup

OVERDRAFT, WHOLE_NODES = "QC101", "QC505"
VOLCANO_SUMS = ("QC951", "QC952")
QUOTAS = ("QC107", "QC410", "QC504", "QC902", "QC903", "QC953", *VOLCANO_SUMS)
JOB_NEVER_STARTS = "QC960"
LABELS = ("QC201", "QC210", "QC513")
"""Rules whose fixes write an amount of quota, and rules whose fixes write a label; all others change a name."""
MOST_WORKLOADS = 20
"""The number of a finding's workloads that are changed together."""


def proposals(cluster: Cluster, found: Finding, constraints: Constraints) -> Iterator[Proposal]:
    """Yield edits that may resolve a finding: of the rule, of quotas, of nodes, and of workloads that do not run."""
    rule = found.rule.id if found.rule else ""
    yield from _offered(found, rule)
    if rule == OVERDRAFT:
        yield from lower_quotas(cluster, found, constraints)
    if rule in (OVERDRAFT, *VOLCANO_SUMS):
        yield from more_nodes(
            _groups(cluster, found), str(found.data["resource"]), _difference(found, "reserved", "supply")
        )
    if rule == JOB_NEVER_STARTS and "limit" in found.data:
        resource = str(found.data["resource"])
        groups = [g for g in supply_of(cluster).groups if g.advertises(resource)]
        yield from more_nodes(groups, resource, _difference(found, "requested", "limit"))
    if rule in (OVERDRAFT, WHOLE_NODES, *VOLCANO_SUMS):
        yield from without_daemon_sets(_groups(cluster, found), str(found.data["resource"]))
    yield from _changed_workloads(cluster, found)


def _groups(cluster: Cluster, found: Finding) -> list[NodeGroup]:
    """Return the groups of nodes that a finding names, or those of the pools that it names."""
    named, pools = found.data.get("nodeGroups"), found.data.get("flavors", [found.data.get("flavor")])
    if isinstance(named, list):
        return [g for g in supply_of(cluster).groups if g.name in named]
    return groups_of(
        cluster, [key for key in cluster.quota_pools if isinstance(pools, list) and pool_name(key) in pools]
    )


def _difference(found: Finding, larger: str, smaller: str) -> int:
    """Return by how much one amount of a finding exceeds another."""
    more, less = found.data[larger], found.data[smaller]
    return more - less if isinstance(more, int) and isinstance(less, int) else 0


def _offered(found: Finding, rule: str) -> Iterator[Proposal]:
    """Yield the edits that the finding itself offers."""
    for fix in found.fixes:
        if all(e.how is How.REPLACE for e in fix.edits):
            way = _way_of(rule, fix.edits)
            words = fix.description.rstrip(".")
            values = tuple((e.place, e.text) for e in fix.edits)
            yield Proposal(way, values, f"{words[:1].lower()}{words[1:]}")


def _way_of(rule: str, edits: Sequence[Edit]) -> Way:
    """Return the way of a rule's edit. Amounts that it raises are bounds: of a queue, or of the queues above it."""
    if rule in LABELS:
        return Way.LABEL
    if rule not in (*QUOTAS, JOB_NEVER_STARTS):
        return Way.NAME
    if any(map(_raises, edits)):
        return Way.RAISE_QUOTA
    return Way.FEWER_PODS if rule == JOB_NEVER_STARTS else Way.LOWER_QUOTA


def _raises(edit: Edit) -> bool:
    """Return whether an edit replaces an amount by a larger one."""
    try:
        was = parse_quantity(follow(edit.place.origin.data, edit.place.route))
        return parse_quantity(edit.text).nanos > was.nanos
    except QuantityError:
        return False


def _changed_workloads(cluster: Cluster, found: Finding) -> Iterator[Proposal]:
    """Yield the changes of the finding's workloads that do not run, one way at a time for all of them."""
    verdicts = _concerned(cluster, found)
    if not verdicts or len(verdicts) > MOST_WORKLOADS:
        return
    by_way: dict[Way, list[tuple[Verdict, WorkloadChange]]] = {}
    for verdict in verdicts:
        for way, change in _written(cluster, verdict):
            by_way.setdefault(way, []).append((verdict, change))
    for way, some in by_way.items():
        if len({id(v) for v, _ in some}) == len(verdicts):
            values = dict(value for _, change in some for value in change.values)
            yield Proposal(way, tuple(values.items()), "; ".join(_worded(v, c) for v, c in some))


@answered_once
def _written(cluster: Cluster, verdict: Verdict) -> list[tuple[Way, WorkloadChange]]:
    """Return the changes of a workload that replace values. Cached, because several findings may name the workload."""
    return [(c.way, c) for c in changes(cluster, verdict) if c.way is not None and c.values]


def _worded(verdict: Verdict, change: WorkloadChange) -> str:
    return (
        change.words if change.way in (Way.RAISE_QUOTA, Way.ADD_NODES) else f"let {verdict.workload.id} {change.words}"
    )


def _concerned(cluster: Cluster, found: Finding) -> list[Verdict]:
    """Return the verdicts on the workloads that a finding is about or names and that do not run."""
    asking = found.data.get("asking")
    names = dict.fromkeys((str(found.object), *(map(str, asking) if isinstance(asking, list) else ())))
    by_name = _not_running(cluster)
    return [v for name in names for v in by_name.get(name, ())]


@view
def _not_running(cluster: Cluster) -> dict[str, list[Verdict]]:
    """Return the verdicts on workloads that do not run, by workload id."""
    by_name: dict[str, list[Verdict]] = {}
    for verdict in verdicts_of(cluster):
        if verdict.runs is False:
            by_name.setdefault(str(verdict.workload.id), []).append(verdict)
    return by_name
