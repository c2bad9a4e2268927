"""QC912 to QC914: settings of KAI's schedulers that have no effect, or an unintended one."""

from __future__ import annotations

import re

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.problems import is_refused
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.durations import go_seconds
from qcheck.cluster.kai import KaiPlugin, KaiQueue, SchedulingShard, UsageSource
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kai.shards import FALSE, FULL_HIERARCHY, Shard, shards_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place

FLAGS = frozenset(
    {
        "allow-consolidating-reclaim", "burst", "cpu-worker-node-label-key", "default-staleness-grace-period",
        "detailed-fit-errors", "enable-profiler", "full-hierarchy-fairness", "gpu-worker-node-label-key", "leader-elect",
        "listen-address", "log-json", "max-consolidation-preemptees", "metrics-namespace", "mig-worker-node-label-key",
        "namespace", "nodepool-label-key", "num-of-status-recording-workers", "partition-label-value",
        "plugin-server-port", "profiler-port", "pyroscope-address", "pyroscope-block-profiler-rate",
        "pyroscope-mutex-profiler-rate", "qps", "queue-label-key", "resource-reservation-app-label",
        "restrict-node-scheduling", "schedule-csi-storage", "schedule-period", "scheduler-conf", "scheduler-name",
        "stuck-in-releasing-threshold", "update-pod-eviction-condition", "use-scheduling-signatures", "v", "version",
    }
)  # fmt: skip
"""The scheduler's command-line flags in KAI 0.17; other names in a shard's args are silently ignored."""
PLUGINS = frozenset(
    {
        "predicates", "proportion", "priority", "nodeavailability", "resourcetype", "podaffinity", "elastic", "kubeflow",
        "ray", "subgrouporder", "taskorder", "nominatednode", "dynamicresources", "minruntime", "topology", "snapshot",
        "sg-nodelocalgreedy", "sg-multinodegang", "gpupack", "gpuspread", "nodeplacement", "gpusharingorder", "numa",
        "reflectjoborder",
    }
)  # fmt: skip
ACTIONS = frozenset({"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"})
ARGUMENTS = {
    "proportion": ("kValue", "relcaimerSaturationMultiplier"),
    "minruntime": ("defaultPreemptMinRuntime", "defaultReclaimMinRuntime", "reclaimResolveMethod"),
}
"""The arguments of the plugins that divide among queues; `relcaimer` is KAI's own spelling."""
WINDOWS = ("sliding", "tumbling", "cron")
BROKEN_WINDOWS = ((0, 12), (0, 17))
"""The first and the last release in which only the sliding window yields data."""
GO_DURATIONS = ("halfLifePeriod", "fetchInterval", "stalenessPeriod", "waitTimeout")
PROMETHEUS = re.compile(r"0|(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?")


@rule("QC912")
def argument_ignored(cluster: Cluster) -> Iterator[Finding]:
    """Report arguments of a shard that nothing reads, or that replace others."""
    for shard in cluster.kai_shards:
        at = shard.place.at("spec")
        yield from _unknown(shard.arguments, FLAGS, at.at("args"), "scheduler flag", "it is ignored")
        yield from _unknown((p.name for p in shard.plugins), PLUGINS, at.at("plugins"), "plugin", "it has no effect")
        yield from _unknown((a.name for a in shard.actions), ACTIONS, at.at("actions"), "action", "it has no effect")
        for plugin in shard.plugins:
            yield from _arguments(plugin)
        yield from _replaced(shard)
        yield from _switched_off(shard)


def _unknown(given: Iterable[str], known: frozenset[str], place: Place, what: str, effect: str) -> Iterator[Finding]:
    for name in given:
        if name not in known:
            near = nearest(name, known)
            found = finding(place.at(name).key(), f"KAI has no {what} {name}: {effect}")
            found = found.fixed_by(f"Write {near}.") if near else found.fixed_by("Remove it.")
            yield found.with_data(name=name, nearest=near)


def _arguments(plugin: KaiPlugin) -> Iterator[Finding]:
    known = ARGUMENTS.get(plugin.name)
    if known is None or plugin.arguments is None:
        return
    for name, value in plugin.arguments.items():
        place = plugin.place.at("arguments", name)
        if name not in known:
            near = _meant(name, known)
            found = finding(place.key(), f"plugin {plugin.name} has no argument {name}: it is ignored")
            is_history = near == "kValue"
            found = found.at_least(Severity.ERROR) if is_history else found
            yield found.fixed_by(f"Write {near}." if near else f"Use {' or '.join(known)}.").with_data(
                name=name, nearest=near
            )
        elif plugin.name == "proportion":
            yield from _number(name, value, place)


def _meant(name: str, known: tuple[str, ...]) -> str | None:
    """Return the argument that a misspelled one resembles; the documentation has its own name for the multiplier."""
    if "multiplier" in name.lower():
        return "relcaimerSaturationMultiplier"
    by_lower = {k.lower(): k for k in known}
    return by_lower.get(name.lower().replace("-", "").replace("_", "")) or nearest(name, known)


def _number(name: str, value: str, place: Place) -> Iterator[Finding]:
    least, otherwise = (0.0, "0, which means no history") if name == "kValue" else (1.0, "1")
    try:
        amount = float(value)
    except ValueError:
        found = finding(place, f"{name} {value!r} is not a number: KAI uses 1").with_data(name=name, written=value)
        yield found.at_least(Severity.ERROR) if name == "kValue" else found
        return
    if amount < least:
        yield (
            finding(place, f"{name} {value} is below {least:g}: KAI uses {otherwise}").with_data(
                name=name, written=value
            )
        )


def _replaced(shard: SchedulingShard) -> Iterator[Finding]:
    """Report arguments of a plugin that replace what the shard's own fields would pass to it."""
    proportion, min_runtime = shard.plugin("proportion"), shard.plugin("minruntime")
    if proportion and proportion.arguments is not None and shard.k is not None and "kValue" not in proportion.arguments:
        message = (
            f"shard {shard.name} sets kValue {float(shard.k):g}, but the arguments of plugin proportion replace it: KAI "
            "uses 1"
        )
        found = finding(proportion.place.at("arguments").key(), message).near(
            shard.place.at("spec", "kValue"), "has no effect"
        )
        yield (
            found.about(shard.id)
            .at_least(Severity.ERROR)
            .fixed_by("Add kValue to the arguments.")
            .with_data(shard=shard.name, lost="kValue")
        )
    if min_runtime and min_runtime.arguments is not None:
        for kind in shard.min_runtimes:
            name = f"default{kind.capitalize()}MinRuntime"
            if name not in min_runtime.arguments:
                field = f"minRuntime.{kind}MinRuntime"
                message = f"shard {shard.name} sets {field}, but the arguments of plugin minruntime replace it"
                found = finding(min_runtime.place.at("arguments").key(), message).about(shard.id)
                found = found.near(shard.place.at("spec", "minRuntime", f"{kind}MinRuntime"), "has no effect")
                yield found.fixed_by(f"Add {name} to the arguments.").with_data(shard=shard.name, lost=name)


def _switched_off(shard: SchedulingShard) -> Iterator[Finding]:
    if shard.arguments.get(FULL_HIERARCHY) in FALSE:
        message = (
            f"shard {shard.name} disables {FULL_HIERARCHY}: KAI ignores queues without a parent and the quotas of "
            "departments"
        )
        yield (
            finding(shard.place.at("spec", "args", FULL_HIERARCHY), message).about(shard.id).with_data(shard=shard.name)
        )
    for plugin in shard.plugins:
        if plugin.name == "proportion" and not plugin.is_enabled:
            message = f"shard {shard.name} disables plugin proportion: no quota, limit or fair share applies in it"
            found = finding(plugin.place.at("enabled"), message).about(shard.id).at_least(Severity.ERROR)
            yield found.with_data(shard=shard.name)
    for action in shard.actions:
        if action.name == "reclaim" and not action.is_enabled:
            message = f"shard {shard.name} disables action reclaim: no queue can reclaim its quota from others"
            found = finding(action.place.at("enabled"), message).about(shard.id)
            yield found.with_data(shard=shard.name)


@rule("QC913")
def history_never_read(cluster: Cluster) -> Iterator[Finding]:
    """Report shards with a usage database that is never read because of its settings; QC003 reports rejected values."""
    for shard in cluster.kai_shards:
        if shard.usage is not None:
            may_connect = not cluster.kai_configs or cluster.kai_configs[0].has_prometheus
            for place, why, fix in _unread(shard.usage, cluster.policy.kai.release, may_connect):
                message = f"shard {shard.name} never reads past usage: {why}"
                found = finding(place, message).about(shard.id).fixed_by(fix)
                if place is shard.usage.place or not is_refused(cluster, place):
                    yield found.with_data(shard=shard.name, field=str(place.route[-1]))


def _unread(usage: UsageSource, release: tuple[int, int], is_connected: bool) -> Iterator[tuple[Place, str, str]]:
    """Yield what keeps usage from being read; `is_connected`: the operator may fill in a connection."""
    if usage.client and usage.client != "prometheus":
        why = f"clientType {usage.client} is not supported; only prometheus is"
        yield usage.place.at("clientType"), why, "Write clientType: prometheus."
    if len(usage.connections) > 1 or not (usage.connections or is_connected):
        why = (
            "both connectionString and connectionStringEnvVar are set"
            if usage.connections
            else "no connectionString is set"
        )
        place = usage.place.at("connectionString") if usage.connections else usage.place
        fix = f"{'Keep' if usage.connections else 'Set'} one of connectionString and connectionStringEnvVar."
        yield place, f"{why}, and exactly one is required", fix
    yield from _windows(usage, release)
    for field in GO_DURATIONS:
        text = usage.params.get(field)
        if text is not None and go_seconds(text) is None:
            why = f"{field} {text!r} is not a Go duration such as 168h or 1h30m"
            yield (
                usage.params_place.at(field),
                why,
                "Write hours, minutes and seconds: Go durations have no days or weeks.",
            )
    size = usage.params.get("windowSize")
    if size is not None and not (PROMETHEUS.fullmatch(size) and size):
        why = f"windowSize {size!r} is not a Prometheus duration"
        yield usage.params_place.at("windowSize"), why, "Write a duration such as 1w or 168h."


def _windows(usage: UsageSource, release: tuple[int, int]) -> Iterator[tuple[Place, str, str]]:
    kind = usage.params.get("windowType")
    if kind is None or kind == "sliding":
        return
    place = usage.params_place.at("windowType")
    if kind not in WINDOWS:
        yield place, f"windowType {kind} is not one of {names(WINDOWS)}: the scheduler crashes", "Write sliding."
    elif BROKEN_WINDOWS[0] <= release <= BROKEN_WINDOWS[1]:
        why = (
            f"with windowType {kind} releases 0.12 to 0.17 send a query that Prometheus rejects, wait for waitTimeout and "
            "continue without history"
        )
        yield place, why, "Write windowType: sliding."
    elif kind == "tumbling" and "tumblingWindowStartTime" not in usage.params and release > BROKEN_WINDOWS[1]:
        yield place, "windowType tumbling needs tumblingWindowStartTime", "Add tumblingWindowStartTime."


@rule("QC914")
def protection_ineffective(cluster: Cluster) -> Iterator[Finding]:
    """Report minimum run times that KAI cannot read or ignores."""
    for queue in cluster.kai_queues:
        for kind, text in queue.min_runtimes.items():
            if go_seconds(text) is None:
                yield _unreadable(str(queue.id), kind, text, queue.min_runtime_place(kind)).about(queue.id)
    for shard in cluster.kai_shards:
        for kind, text in shard.min_runtimes.items():
            if go_seconds(text) is None:
                place = shard.place.at("spec", "minRuntime", f"{kind}MinRuntime")
                yield _unreadable(str(shard.id), kind, text, place).about(shard.id)
    for view in shards_of(cluster):
        if not _looks_at_leaves(view):
            yield from _overlooked(view)


def _unreadable(who: str, kind: str, text: str, place: Place) -> Finding:
    message = f"{who} has {kind}MinRuntime {text!r}, which is not a Go duration: KAI cannot read the object"
    found = finding(place, message).at_least(Severity.ERROR).fixed_by("Write a duration such as 30m or 1h30m.")
    return found.with_data(written=text)


def _looks_at_leaves(shard: Shard) -> bool:
    plugin = shard.spec.plugin("minruntime") if shard.spec else None
    return plugin is not None and (plugin.arguments or {}).get("reclaimResolveMethod") == "queue"


def _overlooked(shard: Shard) -> Iterator[Finding]:
    """Report reclaimMinRuntime of a queue below a department, which does not apply against other departments."""
    departments = shard.children("")
    for queue in shard.queues:
        path = shard.path(queue.name)
        written = queue.min_runtimes.get("reclaim")
        if written is None or not queue.parent or path[-1].parent or len(departments) < 2:
            continue
        if "reclaim" not in path[-1].min_runtimes and go_seconds(written):
            yield _ineffective(shard, queue, path[-1], written)


def _ineffective(shard: Shard, queue: KaiQueue, top: KaiQueue, written: str) -> Finding:
    others = names(q.name for q in shard.children("") if q is not top)
    message = (
        f"queue {queue.name} has reclaimMinRuntime {written}, but against jobs of {others} only the value of its topmost "
        f"queue {top.name} counts, and it sets none: jobs are evicted at once"
    )
    return (
        finding(queue.min_runtime_place("reclaim"), message)
        .near(top.name_place, f"topmost queue of {queue.name}")
        .about(queue.id)
        .fixed_by(f"Set reclaimMinRuntime in {top.name}, or reclaimResolveMethod: queue in the plugin minruntime.")
        .with_data(queue=queue.name, top=top.name)
    )
