"""QC956, QC961: parents and node groups of Volcano's queues that do not exist."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.missing_references import Reference, by_name, missing, users
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import HIERARCHY_KEY, NODE_GROUP_LABEL, NODE_GROUPS
from qcheck.findings.finding import Finding, finding
from qcheck.schedulers.volcano.jobs import gangs_of
from qcheck.schedulers.volcano.nodes import declared_groups
from qcheck.schedulers.volcano.queues import Queues, queues_of
from qcheck.schedulers.volcano.stored_queue import Check
from qcheck.schedulers.volcano.webhook import misplaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.volcano import VolcanoQueue
    from qcheck.schedulers.volcano.jobs import VolcanoGang

KIND = "Queue"
AFFINITIES = (
    ("nodeGroupAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "required"),
    ("nodeGroupAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "preferred"),
    ("nodeGroupAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "forbidden"),
    ("nodeGroupAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "avoided"),
)


@rule("QC956")
def hierarchy_broken(cluster: Cluster) -> Iterator[Finding]:
    """Report parents that have no effect, do not exist or form a cycle, and jobs in queues that have children."""
    queues = queues_of(cluster)
    yield from _flat(queues)
    yield from _missing(cluster, queues)
    for cycle in queues.cycles:
        yield _cycle(queues, cycle)
    for queue in queues.declared:
        for violation in misplaced(queues.stored[queue.name], queues.stored):
            if violation.check is Check.PARENT_IS_SELF:
                message = f"queue {queue.name} is its own parent; the API server rejects it"
                yield finding(queue.parent_place, message)
            elif violation.check is Check.DEPTH and not any(queue.name in c for c in queues.cycles):
                yield _too_deep(queue, violation.found, violation.bound)
    yield from _jobs_inside(cluster, queues)


def _flat(queues: Queues) -> Iterator[Finding]:
    """Report parents if the division has no hierarchy."""
    having = [q for q in queues.declared if q.is_below_another and queues.exists(q.parent)]
    if queues.is_tree or not having:
        return
    first, *others = having
    plugin = queues.scheduler.plugin("capacity")
    why = f"the capacity plugin runs without {HIERARCHY_KEY}" if plugin else "the capacity plugin is disabled"
    assumed = " (no configuration was read; the chart's default is assumed)" if queues.is_assumed else ""
    message = f"queue {first.name} has the parent {first.parent}, but {why}{assumed}: parents have no effect"
    found = finding(first.parent_place, message)
    for queue in others:
        found = found.near(queue.parent_place, f"{queue.name} below {queue.parent}")
    found = found.near(plugin.place if plugin else queues.scheduler.place, "this configuration")
    yield found.likely(queues.is_assumed).about(first.id).with_data(queues=[q.name for q in having])


def _missing(cluster: Cluster, queues: Queues) -> Iterator[Finding]:
    uses = [Reference(q.parent, q.parent_place, q.id) for q in queues.declared if q.is_below_another]
    for name, each in by_name(uses).items():
        if not queues.exists(name):
            stops = "; if they exist anyway, the capacity plugin schedules no queue at all" if queues.is_tree else ""
            yield missing(cluster, KIND, each, queues.queue, f"the API server rejects {users(each)}{stops}")


def _cycle(queues: Queues, cycle: tuple[str, ...]) -> Finding:
    first, *others = (queues.queue[name] for name in cycle)
    message = f"queues {names(cycle)} form a cycle of parents: they get no share, and their jobs never start"
    found = finding(first.parent_place, message)
    for queue in others:
        found = found.near(queue.parent_place, f"{queue.name} below {queue.parent}")
    return found.with_data(cycle=list(cycle))


def _too_deep(queue: VolcanoQueue, depth: int, bound: int) -> Finding:
    message = f"queue {queue.name} is {depth} levels below root; the API server rejects more than {bound}"
    return finding(queue.parent_place, message).with_data(depth=depth, bound=bound)


def _jobs_inside(cluster: Cluster, queues: Queues) -> Iterator[Finding]:
    """Report each queue that has children and is named by jobs."""
    inside: dict[str, list[VolcanoGang]] = {}
    for gang in gangs_of(cluster):
        if queues.children(gang.queue):
            inside.setdefault(gang.queue, []).append(gang)
    for name, gangs in inside.items():
        passing = [g for g in gangs if not g.is_job]
        first = (passing or gangs)[0]
        below = names(q.name for q in queues.children(name))
        message = f"{first.id} names queue {name}, which has children ({below}): {_effect(queues, bool(passing))}"
        found = finding(first.queue_place, message).about(first.id)
        for gang in gangs:
            if gang is not first:
                found = found.near(gang.queue_place, f"{gang.id} too")
        known = queues.queue.get(name)
        found = found.near(known.name_place if known else None, "this queue")
        yield found.with_data(queue=name, jobs=len(gangs))


def _effect(queues: Queues, passes: bool) -> str:
    if passes and queues.is_tree:
        return "the capacity plugin then schedules no queue at all"
    return "the scheduler runs jobs only in queues without children" if passes else "the API server rejects the job"


@rule("QC961")
def node_group_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Report node groups without nodes, and node groups while their plugin is off."""
    queues = queues_of(cluster)
    having = [(q, *t) for q in queues.declared for t in _named(q)]
    if queues.scheduler.plugin(NODE_GROUPS) is None:
        yield from _plugin_off(queues, having)
        return
    known = declared_groups(cluster)
    by_group: dict[str, list[tuple[VolcanoQueue, Place]]] = {}
    for queue, group, place, excludes in having:
        if not excludes:
            by_group.setdefault(group, []).append((queue, place))
    for group, uses in by_group.items():
        if known is not None and group not in known and cluster.has_nodes:
            yield _unknown(cluster, group, uses, known)
    yield from _unplaced(cluster, queues)


def _named(queue: VolcanoQueue) -> Iterator[tuple[str, Place, bool]]:
    """Yield each node group that a queue names, its place, and whether the queue avoids it."""
    for side, strength, field in AFFINITIES:
        groups = getattr(queue.terms, field) if queue.terms else ()
        for index, group in enumerate(groups):
            yield group, queue.place.at("spec", "affinity", side, strength, index), side == "nodeGroupAntiAffinity"


def _plugin_off(queues: Queues, having: list[tuple[VolcanoQueue, str, Place, bool]]) -> Iterator[Finding]:
    if not having:
        return
    (first, group, place, _), *others = having
    assumed = " (no configuration was read; the chart's default is assumed)" if queues.is_assumed else ""
    message = f"queue {first.name} asks for node group {group}, but the plugin {NODE_GROUPS} is disabled{assumed}"
    found = finding(place, message).likely(queues.is_assumed).about(first.id)
    for queue, other, at, _ in others:
        found = found.near(at, f"{queue.name}: {other}")
    yield found.near(queues.scheduler.place, "this configuration").with_data(plugin=NODE_GROUPS)


def _unknown(cluster: Cluster, group: str, uses: list[tuple[VolcanoQueue, Place]], known: frozenset[str]) -> Finding:
    (first, place), *others = uses
    listed = f"the nodes are in {names(sorted(known))}" if known else f"no node has the label {NODE_GROUP_LABEL}"
    found = finding(place, f"queue {first.name} asks for node group {group}, but {listed}").about(first.id)
    for queue, other in others:
        found = found.near(other, f"{queue.name} asks for it too")
    near = nearest(group, known)
    if near:
        found = found.fixed_by(f"Write {near} instead of {group}, or label nodes {NODE_GROUP_LABEL}: {group}.")
    return found.likely(not cluster.has_all("Node")).with_data(group=group, nearest=near)


def _unplaced(cluster: Cluster, queues: Queues) -> Iterator[Finding]:
    """Report queues without node groups, which the plugin keeps off grouped nodes and, if strict, off all others."""
    known = declared_groups(cluster)
    if not queues.is_strict or not known:
        return
    without = [q for q in queues.leaves if (t := queues.node_terms(q.name)) is not None and t.is_empty]
    if without:
        first, *others = without
        message = (
            f"queue {first.name} names no node group, but the plugin {NODE_GROUPS} is strict: no node accepts its pods"
        )
        found = finding(first.name_place, message)
        for queue in others:
            found = found.near(queue.name_place, f"{queue.name} names none either")
        yield found.with_data(queues=[q.name for q in without])
