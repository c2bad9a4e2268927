"""QC912: settings of KAI's schedulers that have no effect, or an unintended one."""

from __future__ import annotations

import re

from qcheck.checks.problems import is_refused
from qcheck.checks.registry import rule
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.durations import go_seconds
from qcheck.cluster.kai import KaiPlugin, SchedulingShard
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import Finding, finding
from qcheck.findings.severity import Severity
from qcheck.schedulers.kai.shards import FALSE, FULL_HIERARCHY

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
DURATION_FLAGS = frozenset({"default-staleness-grace-period", "schedule-period", "stuck-in-releasing-threshold"})
NUMBER_FLAGS = frozenset(
    {
        "burst", "max-consolidation-preemptees", "num-of-status-recording-workers", "plugin-server-port",
        "pyroscope-block-profiler-rate", "pyroscope-mutex-profiler-rate", "qps", "v",
    }
)  # fmt: skip
WHOLE_NUMBER = re.compile(
    r"[+-]?(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|[1-9](?:_?\d)*|0)", re.ASCII
)
"""Whole numbers as Go's flags read them: in any base, with underscores between digits."""
SWITCHES = frozenset(
    {
        "allow-consolidating-reclaim", "detailed-fit-errors", "enable-profiler", "full-hierarchy-fairness",
        "leader-elect", "log-json", "restrict-node-scheduling", "schedule-csi-storage",
        "update-pod-eviction-condition", "use-scheduling-signatures", "version",
    }
)  # fmt: skip
SWITCH_VALUES = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
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
RESOLVE_METHODS = ("lca", "queue")
QUERY_OPTIONS = {"usageQueryTimeout": "10s", "queryResolution": "1m"}
"""The durations in `extraParams`, with their defaults."""


@rule("QC912")
def argument_ignored(cluster: Cluster) -> Iterator[Finding]:
    """Report arguments of a shard that nothing reads, or that replace others."""
    for shard in cluster.kai_shards:
        at = shard.place.at("spec")
        yield from _unknown(shard.arguments, FLAGS, at.at("args"), "scheduler flag", "it is ignored")
        yield from _unknown((p.name for p in shard.plugins), PLUGINS, at.at("plugins"), "plugin", "it has no effect")
        yield from _unknown((a.name for a in shard.actions), ACTIONS, at.at("actions"), "action", "it has no effect")
        yield from _bad_flags(shard)
        for plugin in shard.plugins:
            yield from _arguments(plugin)
        yield from _query_options(cluster, shard)
        yield from _replaced(shard)
        yield from _switched_off(shard)


def _unknown(given: Iterable[str], known: frozenset[str], place: Place, what: str, effect: str) -> Iterator[Finding]:
    for name in given:
        if name not in known:
            near = nearest(name, known)
            found = finding(place.at(name).key(), f"KAI has no {what} {name}: {effect}")
            found = found.fixed_by(f"Write {near}.") if near else found.fixed_by("Remove it.")
            yield found.with_data(name=name, nearest=near)


def _bad_flags(shard: SchedulingShard) -> Iterator[Finding]:
    """Report flags whose value keeps the shard's scheduler from starting."""
    for name, value in shard.arguments.items():
        if name in DURATION_FLAGS and go_seconds(value) is None:
            wanted, fix = "a Go duration", "Write a duration such as 90s or 1h30m."
        elif name in NUMBER_FLAGS and not WHOLE_NUMBER.fullmatch(value):
            wanted, fix = "a whole number", "Write a whole number."
        elif name in SWITCHES and value not in SWITCH_VALUES:
            wanted, fix = "true or false", "Write true or false."
        else:
            continue
        message = f"{name} {value!r} is not {wanted}: the scheduler of shard {shard.name} does not start"
        found = finding(shard.place.at("spec", "args", name), message).about(shard.id).at_least(Severity.ERROR)
        yield found.fixed_by(fix).with_data(name=name, written=value)


def _query_options(cluster: Cluster, shard: SchedulingShard) -> Iterator[Finding]:
    """Report durations in the usage query that KAI cannot parse. QC003 reports values that the API server rejects."""
    usage = shard.usage
    if usage is None:
        return
    for name, default in QUERY_OPTIONS.items():
        value, place = usage.query.get(name), usage.params_place.at("extraParams", name)
        if value is not None and go_seconds(value) is None and not is_refused(cluster, place):
            found = finding(place, f"{name} {value!r} is not a Go duration, so KAI uses the default {default}").about(
                shard.id
            )
            found = found.fixed_by("Write a duration such as 30s or 1m.")
            yield found.with_data(name=name, written=value)


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
        elif name == "reclaimResolveMethod" and value not in RESOLVE_METHODS:
            found = finding(place, f"{name} {value!r} is neither {' nor '.join(RESOLVE_METHODS)}, so KAI uses lca")
            yield found.fixed_by("Write lca or queue.").with_data(name=name, written=value)


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
