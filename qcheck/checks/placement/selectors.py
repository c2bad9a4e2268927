"""QC201, QC206, QC207, QC210, QC211: selectors and labels that do not match."""

from __future__ import annotations

from qcheck.answers.verdicts import verdicts_of
from qcheck.checks.capacity.arithmetic import names, plural
from qcheck.checks.registry import rule
from qcheck.cluster.problems import NODES
from qcheck.cluster.quota_pool import SchedulerName
from qcheck.cluster.resources import is_compute
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.table import promises_of
from qcheck.supply.eligibility import pool_match
from qcheck.supply.groups import ALL
from qcheck.supply.supply import is_reachable, supply_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.labels import NodeSelection, Requirement
    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.quota_pool import QuotaPool
    from qcheck.cluster.reasons import ReasonCause
    from qcheck.supply.groups import Match, NodeClass, NodeGroup, Varying

_BY_LABELS: frozenset[ReasonCause] = frozenset({"selector", "affinity"})
"""Causes of workloads whose selectors exclude every flavor."""


@rule("QC201")
def flavor_matches_no_nodes(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors in use whose labels no node has: the nearest pool and what differs."""
    unclear = any(not g.classes for g in supply_of(cluster).groups)  # a machine type may have labels of its own
    for flavor, quotas in promises_of(cluster).used_pools:
        if supply_of(cluster).matches(flavor.key) or not flavor.node_labels:
            continue
        if any(shard.place == flavor.place for shard in cluster.kai_shards):  # QC920 reports declared shards
            continue
        if flavor.scheduler is SchedulerName.VOLCANO:  # QC961 reports node groups
            continue
        largest = max(quotas, key=lambda q: (is_compute(q.resource), q.promised))
        near = _nearest(cluster, flavor.node_labels)
        place = flavor.labels_place
        message = f"{flavor.title} selects no node: {_labels(flavor.node_labels)}"
        found = finding(place.key(), message)
        if near is not None:
            group, differing = near
            found = finding(place.at(differing[0]), f"{message}; {_difference(flavor, group, differing)}")
            found = found.near(_label_place(group, differing[0]), f"{group.name} {_has(group, differing[0])}")
            value = _carried(group).get(differing[0])
            if value is not None and len(differing) == 1:
                key = differing[0]
                words = f"Write {value} instead of {flavor.node_labels[key]} for {key} in {flavor.title}."
                found = found.offering(place.at(key), value, words)
        yield (
            found.near(largest.place, "quota without nodes")
            .likely(unclear or not cluster.has_all(NODES))
            .with_data(flavor=flavor.name, nearest=near[0].name if near else None)
        )


def _labels(labels: Mapping[str, str]) -> str:
    return names(f"{k}={v}" for k, v in labels.items())


def _nearest(cluster: Cluster, wanted: Mapping[str, str]) -> tuple[NodeGroup, list[str]] | None:
    """Return the group that differs in the fewest labels, and least in spelling, if it has any of the keys."""
    best: tuple[NodeGroup, list[str]] | None = None
    fewest, alike = len(wanted), -1
    for group in supply_of(cluster).groups:
        carried = _carried(group)
        differing = sorted((k for k, v in wanted.items() if carried.get(k) != v), key=lambda k: k not in carried)
        if not 0 < len(differing) <= fewest or not any(k in carried for k in wanted):
            continue
        alike = alike if len(differing) == fewest else -1
        likeness = _likeness(wanted[differing[0]], carried.get(differing[0], ""), alike)
        if likeness > alike:
            best, fewest, alike = (group, differing), len(differing), likeness
    return best


def _likeness(wanted: str, carried: str, least: int) -> int:
    """Return the similarity of two values of a label, in percent, or an upper bound if that is not above `least`."""
    from difflib import SequenceMatcher  # 0.7 ms

    matcher = SequenceMatcher(None, wanted, carried)
    most = round(100 * matcher.quick_ratio())
    return round(100 * matcher.ratio()) if most > least else most


def _carried(group: NodeGroup) -> Mapping[str, str]:
    return group.classes[0].labels if group.classes else group.pool.labels if group.pool else {}


def _difference(flavor: QuotaPool, group: NodeGroup, keys: list[str]) -> str:
    key = keys[0]
    more = f" (and {plural(len(keys) - 1, 'other label')})" if len(keys) > 1 else ""
    wanted = f"but the {flavor.word} requires {flavor.node_labels[key]}{more}"
    return f"the nearest is {group.name}, which {_has(group, key)}, {wanted}"


def _has(group: NodeGroup, key: str) -> str:
    value = _carried(group).get(key)
    return f"has no label {key}" if value is None else f"has {key}={value}"


def _label_place(group: NodeGroup, key: str) -> Place:
    """Return the place of a group's label, or the group itself."""
    root = group.nodes[0].place if group.nodes else group.place
    for steps in (
        ("metadata", "labels", key),
        ("spec", "labels", key),
        ("spec", "template", "metadata", "labels", key),
    ):
        if root.at(*steps).exists:
            return root.at(*steps)
    return group.place


@rule("QC206")
def nodes_without_flavor(cluster: Cluster) -> Iterator[Finding]:
    """Report accelerator nodes that no flavor selects."""
    if not cluster.quota_pools:
        return
    words = " or ".join(dict.fromkeys(p.word for p in cluster.quota_pools.values()))
    selected = {m.group.name for key in cluster.quota_pools for m in supply_of(cluster).matches(key)} | _meant(cluster)
    for group in supply_of(cluster).groups:
        devices = sorted({r for c in group.classes for r, n in c.machine.allocatable.items() if n and is_compute(r)})
        if devices and group.name not in selected and group.ceiling != 0:
            most = group.ceiling if group.ceiling is not None else "any number of"
            found = finding(
                group.place,
                f"no {words} selects the nodes of {group.name}, which have {names(devices)} "
                f"({most} {'node' if most == 1 else 'nodes'})",
            )
            if not cluster.flavors:
                found = found.fixed_by(
                    f"Let a {words} select them, or declare their purpose under `reserves` in the settings."
                )
            yield found.with_data(pool=group.name)


def _meant(cluster: Cluster) -> set[str]:
    """Return groups that a flavor misses by a label; QC201 already names them."""
    missing = (f for f, _ in promises_of(cluster).used_pools if not supply_of(cluster).matches(f.key))
    return {near[0].name for f in missing if (near := _nearest(cluster, f.node_labels)) is not None}


@rule("QC207")
def flavor_mixes_machines(cluster: Cluster) -> Iterator[Finding]:
    """Report flavors with accelerator quota on different machines, except other schedulers' pools of all nodes."""
    for flavor, quotas in promises_of(cluster).used_pools:
        if flavor.scheduler is not SchedulerName.KUEUE and not flavor.node_labels:
            continue
        devices = sorted({q.resource for q in quotas if is_compute(q.resource)})
        matches = supply_of(cluster).matches(flavor.key)
        groups = [m.group for m in matches if m.group.is_known and _is_surely_selected(flavor, m)]
        kinds: dict[str, NodeGroup] = {}
        for group in groups:
            for node_class in group.classes:
                if any(node_class.machine.allocatable.get(d, 0) for d in devices):
                    kinds.setdefault(_kind(node_class, devices), group)
        if devices and len(kinds) > 1:
            found = finding(
                flavor.labels_place.key(),
                f"{flavor.title} spans {plural(len(kinds), 'kind')} of machine: {names(kinds)}",
            )
            for kind, group in kinds.items():
                found = found.near(group.place, f"{group.name}: {kind}")
            yield found.with_data(flavor=flavor.name, kinds=list(kinds))


def _is_surely_selected(flavor: QuotaPool, match: Match) -> bool:
    """Return whether the flavor's labels are known to be on some node.

    A label that only running nodes show may be what distinguishes the machines.
    """
    return match.how_many == ALL or any(pool_match(flavor, c.labels, _listed(c.varying)) for c in match.group.classes)


def _listed(varying: Varying) -> Varying:
    """Return the labels whose values are listed."""
    return {key: values for key, values in varying.items() if values}


def _kind(node_class: NodeClass, devices: list[str]) -> str:
    """Return a machine's kind as workloads notice it: devices, their model, and memory to about 64 GiB."""
    machine = node_class.machine
    have = " + ".join(f"{n} x {d}" for d in devices if (n := machine.whole(d)))
    model, memory = machine.model or machine.instance_type, machine.whole("memory") >> 36
    if model:
        return f"{have} {model}"
    return f"{have}, about {memory * 64} GiB" if memory else have


@rule("QC210")
def selector_points_nowhere(cluster: Cluster) -> Iterator[Finding]:
    """Report queued or accelerator workloads whose own selection matches no node; QC601 reports rejected ones."""
    if any(not g.is_known for g in supply_of(cluster).groups):
        return
    causes = {v.workload.id: {r.cause for r in v.decision.reasons} for v in verdicts_of(cluster) if v.admitted is False}
    for workload in cluster.workloads:
        if not _BY_LABELS.isdisjoint(causes.get(workload.id, ())):
            continue
        for pod_set in workload.pod_sets:
            template = pod_set.template
            counts = workload.queue or any(is_compute(r) and n for r, n in template.amounts().items())
            if counts and template.selection.keys and not is_reachable(cluster, template):
                of = f"{workload.id} (pod set {pod_set.name})" if len(workload.pod_sets) > 1 else str(workload.id)
                found = _matches_nothing(cluster, template, of).about(workload.id)
                yield found.likely(not cluster.has_all(NODES))


def _matches_nothing(cluster: Cluster, template: PodTemplate, of: str) -> Finding:
    """Return the finding on pods whose selection matches no node, with the nearest nodes."""
    place, selection = _selection_place(template.place), template.selection
    message = f"no node matches the {_selection_words(template.place)} of {of}: {_demands(selection)}"
    near = _nearest(cluster, selection.selector) if selection.terms is None else None
    if near is None or not near[1]:
        return finding(place, message)
    group, differing = near
    found = finding(place, f"{message}; the nearest is {group.name}, which {_has(group, differing[0])}")
    return found.near(_label_place(group, differing[0]), f"{group.name} {_has(group, differing[0])}")


def _demands(selection: NodeSelection) -> str:
    """Return a node selection in words; terms are alternatives."""
    terms = [" and ".join(map(_expression, (*t.expressions, *t.fields))) for t in selection.terms or ()]
    either = [" or ".join(filter(None, terms))]
    return names([*(f"{k}={v}" for k, v in selection.selector.items()), *filter(None, either)])


def _expression(asked: Requirement) -> str:
    return f"{asked.key} {asked.operator}" + (f" ({', '.join(asked.values)})" if asked.values else "")


def _selection_place(spec: Place) -> Place:
    selector = spec.at("nodeSelector")
    return (selector if selector.exists else spec.at("affinity", "nodeAffinity")).key()


def _selection_words(spec: Place) -> str:
    return "nodeSelector" if spec.at("nodeSelector").exists else "required node affinity"


@rule("QC211")
def daemonset_selects_nothing(cluster: Cluster) -> Iterator[Finding]:
    """Report DaemonSets whose node selection matches no node."""
    if any(not g.is_known for g in supply_of(cluster).groups):
        return
    for daemon_set in cluster.daemon_sets:
        if daemon_set.template.selection.keys and not is_reachable(cluster, daemon_set.template):
            found = _matches_nothing(cluster, daemon_set.template, f"DaemonSet {daemon_set.name}")
            yield found.about(daemon_set.id).likely(not cluster.has_all(NODES))
