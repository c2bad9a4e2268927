"""QC913 and QC914: ineffective settings of KAI's usage history and of its protection of running jobs."""

from __future__ import annotations

import re

from qcheck.checks.capacity.arithmetic import names
from qcheck.checks.problems import is_refused
from qcheck.checks.registry import rule
from qcheck.cluster.durations import go_seconds, is_long_duration
from qcheck.cluster.kai import KaiQueue, SchedulingShard, UsageSource
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kai.shards import Shard, shards_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.place import Place

DEFAULT_RUNTIMES = ("defaultPreemptMinRuntime", "defaultReclaimMinRuntime")
WINDOWS = ("sliding", "tumbling", "cron")
BROKEN_WINDOWS = ((0, 12), (0, 17))
"""The first and the last release that read usage only with a sliding window."""
GO_DURATIONS = ("halfLifePeriod", "fetchInterval", "stalenessPeriod", "waitTimeout")
PROMETHEUS = re.compile(r"0|(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?")


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
    """Yield the settings that keep usage from being read. `is_connected`: the operator may set a connection."""
    if usage.client and usage.client != "prometheus":
        why = f"clientType {usage.client} is not supported; only prometheus is"
        yield usage.place.at("clientType"), why, "Write clientType: prometheus."
    if len(usage.connections) > 1 or not (usage.connections or is_connected):
        why = (
            "both connectionString and connectionStringEnvVar are set"
            if usage.connections
            else "neither connectionString nor connectionStringEnvVar is set"
        )
        place = usage.place.at("connectionString") if usage.connections else usage.place
        fix = f"{'Keep' if usage.connections else 'Set'} only one of connectionString and connectionStringEnvVar."
        yield place, f"{why}, and exactly one is required", fix
    yield from _windows(usage, release)
    for field in GO_DURATIONS:
        text = usage.params.get(field)
        if text is not None and go_seconds(text) is None:
            why = f"{field} {text!r} is not a Go duration such as 168h or 1h30m"
            yield (
                usage.params_place.at(field),
                why,
                "Write the duration in hours, minutes and seconds, such as 168h: Go durations have no days or weeks.",
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
            f"with windowType {kind}, releases 0.12 to 0.17 send a query that Prometheus rejects, wait until waitTimeout "
            "has passed, and continue without history"
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
        yield from _default_runtimes(shard)
    for view in shards_of(cluster):
        if not _looks_at_leaves(view):
            yield from _overlooked(view)


def _default_runtimes(shard: SchedulingShard) -> Iterator[Finding]:
    """Report default run times in the plugin's arguments that KAI replaces by 0s."""
    plugin = shard.plugin("minruntime")
    if plugin is None:
        return
    for name, text in (plugin.arguments or {}).items():
        if name in DEFAULT_RUNTIMES and text and (not is_long_duration(text) or text.startswith("-")):
            why = "is negative" if is_long_duration(text) else "is not a duration"
            found = finding(plugin.place.at("arguments", name), f"{name} {text!r} {why}, so KAI uses 0s")
            found = found.about(shard.id).at_least(Severity.ERROR)
            yield found.fixed_by("Write a duration such as 30m or 1h30m.").with_data(written=text)


def _unreadable(who: str, kind: str, text: str, place: Place) -> Finding:
    message = f"{who} has {kind}MinRuntime {text!r}, which is not a Go duration: KAI cannot read the object"
    found = finding(place, message).at_least(Severity.ERROR).fixed_by("Write a duration such as 30m or 1h30m.")
    return found.with_data(written=text)


def _looks_at_leaves(shard: Shard) -> bool:
    plugin = shard.spec.plugin("minruntime") if shard.spec else None
    return plugin is not None and (plugin.arguments or {}).get("reclaimResolveMethod") == "queue"


def _overlooked(shard: Shard) -> Iterator[Finding]:
    """Report queues below a department whose reclaimMinRuntime does not protect against other departments."""
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
        f"queue {queue.name} has reclaimMinRuntime {written}, but KAI evicts its jobs immediately for jobs of {others}: "
        f"between topmost queues, it uses the value of {top.name}, which has none"
    )
    return (
        finding(queue.min_runtime_place("reclaim"), message)
        .near(top.name_place, f"topmost queue of {queue.name}")
        .about(queue.id)
        .fixed_by(f"Set reclaimMinRuntime in {top.name}, or reclaimResolveMethod: queue in the plugin minruntime.")
        .with_data(queue=queue.name, top=top.name)
    )
