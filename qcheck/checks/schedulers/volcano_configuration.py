"""QC954, QC955, QC959, QC964: the effects of the scheduler's configuration on Volcano's queues."""

from __future__ import annotations

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.durations import go_seconds
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import HIERARCHY_KEY, HIERARCHY_KEYS, VolcanoJob
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.volcano.queues import Queues, queues_of
from qcheck.schedulers.volcano.webhook import PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place
    from qcheck.cluster.volcano import SchedulerPlugin, VolcanoQueue

PLUGINS = (
    "binpack", "capacity", "cdp", "conformance", "deviceshare", "drf", "extender", "gang", "network-topology-aware",
    "nodegroup", "nodeorder", "numa-aware", "overcommit", "pdb", "predicates", "priority", "proportion",
    "rescheduling", "resource-strategy-fit", "resourcequota", "sla", "task-topology", "tdm", "usage",
)  # fmt: skip
"""The plugins that are built into Volcano's scheduler."""

DURATIONS = {
    "sla": ("sla-waiting-time", "no job has a waiting time"),
    "tdm": ("tdm.evict.period", "the plugin uses 1m"),
    "rescheduling": ("interval", "the plugin uses 5m"),
}
"""The duration argument of each plugin, and the effect of an invalid value."""


@rule("QC954")
def field_ignored(cluster: Cluster) -> Iterator[Finding]:
    """Report fields that no plugin reads, and switches and plugins that the scheduler does not have."""
    queues = queues_of(cluster)
    scheduler = queues.scheduler
    if not scheduler.by_capacity:
        users = [(q, q.place_of("deserved")) for q in queues.declared if q.amounts["deserved"]]
        reads = "proportion divides by weight" if scheduler.by_weight else "no plugin divides the cluster"
        yield from _unread(
            queues, users, "deserved", f"the capacity plugin is disabled and {reads}", "turn on capacity"
        )
    if scheduler.by_capacity and not scheduler.by_weight:
        users = [(q, q.place.at("spec", "weight")) for q in queues.declared if q.weight != 1]
        yield from _unread(queues, users, "weight", "the capacity plugin uses deserved", "write deserved amounts")
    drf = scheduler.plugin("drf")
    if drf is None or not drf.is_on(HIERARCHY_KEY, default=False):
        users = [(q, q.place.at("metadata", "annotations", PATH)) for q in queues.declared if PATH in q.annotations]
        why = f"only drf with {HIERARCHY_KEY} reads it"
        yield from _unread(queues, users, f"annotation {PATH}", why, "write spec.parent and enable capacity")
    yield from _switches(queues)
    yield from _unreadable(queues)


def _unread(
    queues: Queues, users: list[tuple[VolcanoQueue, Place]], field: str, why: str, instead: str
) -> Iterator[Finding]:
    """Report a field that is not read, once for all queues that set it."""
    if not users:
        return
    (first, place), *others = users
    listed = names(q.name for q, _ in users)
    message = f"{field} of {listed} is not read: {why}{_assumption(queues)}"
    found = finding(place, message)
    for queue, other in others:
        found = found.near(other, f"also in {queue.name}")
    found = found.near(queues.scheduler.place, "this configuration")
    yield (
        found.about(first.id)
        .with_data(field=field, queues=[q.name for q, _ in users])
        .fixed_by(f"Remove {field}, or {instead}.")
    )


def _assumption(queues: Queues) -> str:
    return " (no configuration of the scheduler was read; the chart's default is assumed)" if queues.is_assumed else ""


def _switches(queues: Queues) -> Iterator[Finding]:
    scheduler = queues.scheduler
    for plugin in scheduler.plugins:
        if plugin.place is None:
            continue
        if plugin.name not in PLUGINS:
            near = nearest(plugin.name, PLUGINS)
            message = f"the scheduler has no plugin {plugin.name} and starts without it"
            own = "" if near else ", unless it is a custom plugin"
            found = finding(plugin.place.at("name"), f"{message}{own}")
            file = (
                f"For a custom plugin, put {plugin.name}.so into the directory of --plugins-dir; otherwise remove it."
            )
            found = found.fixed_by(f"Write {near}.") if near else found.fixed_by(file).at_most(Severity.NOTE)
            yield _of_scheduler(queues, found.with_data(field="plugin", nearest=near))
        for key in HIERARCHY_KEYS:
            if key != HIERARCHY_KEY and key in plugin.options and HIERARCHY_KEY not in plugin.options:
                message = f"the scheduler reads {HIERARCHY_KEY}, not {key}; qcheck assumes {HIERARCHY_KEY}"
                found = (
                    finding(plugin.place.at(key).key(), message)
                    .at_most(Severity.NOTE)
                    .fixed_by(f"Write {HIERARCHY_KEY}.")
                )
                yield _of_scheduler(queues, found.with_data(field=key))


def _unreadable(queues: Queues) -> Iterator[Finding]:
    """Report duration arguments of plugins that are not valid durations."""
    for plugin in queues.scheduler.plugins:
        name, otherwise = DURATIONS.get(plugin.name, ("", ""))
        value = plugin.arguments.get(name)
        if value is not None and plugin.place is not None and go_seconds(value) is None:
            message = f"{name} {value!r} is not a Go duration, so {otherwise}"
            found = finding(plugin.place.at("arguments", name), message).fixed_by(
                "Write a duration such as 30m or 1h30m."
            )
            yield _of_scheduler(queues, found.with_data(field=name, written=value))


def _of_scheduler(queues: Queues, found: Finding) -> Finding:
    holder = queues.scheduler.object
    return found if holder is None else found.about(holder)


@rule("QC955")
def reclaim_off(cluster: Cluster) -> Iterator[Finding]:
    """Report promises that depend on an action that the scheduler does not perform."""
    queues = queues_of(cluster)
    scheduler = queues.scheduler
    if scheduler.actions_place is None:
        return
    lent = [q for q in queues.leaves if q.amounts["deserved"]]
    if scheduler.by_capacity and lent and not scheduler.reclaims:
        listed = names(q.name for q in lent)
        message = (
            f"others may use idle deserved amounts of {listed} and keep them, because the action reclaim is disabled"
        )
        found = finding(scheduler.actions_place, message).fixed_by("Add reclaim to the actions.")
        for queue in lent:
            found = found.near(queue.place_of("deserved"), f"deserved by {queue.name}")
        yield _of_scheduler(queues, found.with_data(missing="reclaim", queues=[q.name for q in lent]))
    yield from _priorities(cluster, queues)


def _priorities(cluster: Cluster, queues: Queues) -> Iterator[Finding]:
    """Report jobs of several priorities in one queue if no action lets the higher one preempt the lower."""
    if queues.scheduler.preempts or queues.scheduler.actions_place is None:
        return
    by_queue: dict[str, dict[str, VolcanoJob]] = {}
    for job in cluster.workloads:
        if isinstance(job, VolcanoJob) and job.job_pod_priority_class:
            by_queue.setdefault(job.volcano_queue, {}).setdefault(job.job_pod_priority_class, job)
    for queue, classes in by_queue.items():
        values = {cluster.priority_class[c].value for c in classes if c in cluster.priority_class}
        if len(values) > 1:
            listed = names(sorted(classes))
            message = (
                f"jobs of queue {queue} have the priorities {listed}; without the action preempt, these only order them"
            )
            found = finding(queues.scheduler.actions_place, message).at_most(Severity.WARNING)
            for name, job in sorted(classes.items()):
                found = found.near(job.priority_class_place, f"{name} for {job.id}")
            yield _of_scheduler(queues, found.with_data(missing="preempt", queue=queue))


@rule("QC959")
def two_quota_plugins(cluster: Cluster) -> Iterator[Finding]:
    """Report that both plugins that divide the cluster are enabled."""
    queues = queues_of(cluster)
    pair = [queues.scheduler.plugin(name) for name in ("proportion", "capacity")]
    placed = [p for p in pair if p is not None and p.place is not None]
    if len(placed) == 2:
        first, second = sorted(placed, key=lambda p: (p.tier, queues.scheduler.plugins.index(p)))
        message = "proportion and capacity are both enabled: every job must fit the division of both"
        yield _of_scheduler(queues, finding(_at(second), message).near(_at(first), f"{first.name} is enabled here"))


def _at(plugin: SchedulerPlugin) -> Place:
    assert plugin.place is not None
    return plugin.place.at("name")


@rule("QC964")
def victims_before_quota(cluster: Cluster) -> Iterator[Finding]:
    """Report that conformance chooses victims in a tier before the plugin that knows the quota."""
    queues = queues_of(cluster)
    scheduler = queues.scheduler
    conformance = scheduler.plugin("conformance")
    quota = [p for p in (scheduler.plugin("capacity"), scheduler.plugin("proportion")) if p is not None]
    if conformance is None or conformance.place is None or not quota:
        return
    first = min(quota, key=lambda p: p.tier)
    if not (scheduler.reclaims or scheduler.preempts) or conformance.tier >= first.tier:
        return
    if not (conformance.is_on("enableReclaimable") or conformance.is_on("enablePreemptable")):
        return
    message = (
        f"conformance is in tier {conformance.tier + 1} and {first.name} in tier {first.tier + 1}: "
        f"victims are chosen before quota is checked, so pods within their queue's deserved amount are evicted"
    )
    found = finding(_at(conformance), message).near(
        _at(first), f"{first.name} is evaluated only after tier {first.tier}"
    )
    yield _of_scheduler(queues, found.near(scheduler.actions_place, f"actions {', '.join(scheduler.actions)}"))
