"""Groups `scheduling.run.ai` and `kai.scheduler`: the objects of KAI Scheduler."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from math import isfinite

from qcheck.cluster import kai
from qcheck.cluster.kai import Dimension
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.shared_fields import metadata, object_id, place

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.cluster.objects import Object
    from qcheck.documents.cursor import Cursor

RUNTIMES = ("preempt", "reclaim")
"""The two ways in which a running job is stopped, each with its own minimum runtime."""
MISPLACED = ("usageQueryTimeout", "queryResolution", "extraParams")
"""Settings of the usage database that are read from `usageParams.extraParams` only."""


def number(at: Cursor) -> Fraction | None:
    """Return a plain number, exactly as it is written in decimal; None if the value is not a finite double."""
    if isinstance(at.data, bool) or not isinstance(at.data, (int, float)):
        return None
    try:
        return Fraction(str(at.data)) if isfinite(at.data) else None
    except (OverflowError, ValueError):
        return None


def queue(root: Cursor) -> Object:
    spec = root["spec"]
    priority = spec["priority"].integer()
    return kai.KaiQueue(
        object_id(root),
        place(root),
        *metadata(root),
        parent=spec.text_at("parentQueue"),
        terms={d: _terms(d, spec["resources"][d.value]) for d in Dimension},
        priority=100 if priority is None else priority,
        min_runtimes=_min_runtimes(spec),
        created=_seconds(root["metadata"].text_at("creationTimestamp")),
    )


def _seconds(time: str) -> int | None:
    """Return a creationTimestamp in seconds since the epoch."""
    try:
        return int(datetime.fromisoformat(time).timestamp()) if time else None
    except (ValueError, OverflowError):
        return None


def _terms(dimension: Dimension, at: Cursor) -> kai.KaiTerms:
    quota, limit, weight = (number(at[field]) or Fraction(0) for field in ("quota", "limit", "overQuotaWeight"))
    return kai.KaiTerms(dimension=dimension, place=place(at), written_quota=quota, written_limit=limit, weight=weight)


def _min_runtimes(at: Cursor) -> dict[str, str]:
    written = {kind: at[f"{kind}MinRuntime"].meant() for kind in RUNTIMES}
    return {kind: text for kind, text in written.items() if text is not None}


def pod_group(root: Cursor) -> Object:
    spec = root["spec"]
    return kai.KaiPodGroup(
        object_id(root),
        place(root),
        *metadata(root),
        queue=spec.text_at("queue"),
        min_member=spec["minMember"].count(),
        priority_class=spec.text_at("priorityClassName"),
        preemptibility=spec.text_at("preemptibility"),
        preemption_delay=spec["preemptionDelay"].meant(),
        topology=_topology_constraint(spec["topologyConstraint"]),
        sub_groups=tuple(_sub_group(s) for s in spec.items_at("subGroups")),
    )


def _sub_group(at: Cursor) -> kai.SubGroup:
    return kai.SubGroup(
        name=at.text_at("name"),
        place=place(at),
        parent=at["parent"].text(),
        min_member=at["minMember"].count(),
        topology=_topology_constraint(at["topologyConstraint"]),
    )


def _topology_constraint(at: Cursor) -> kai.TopologyConstraint | None:
    if not at.exists:
        return None
    return kai.TopologyConstraint(
        place=place(at),
        topology=at.text_at("topology"),
        required=at.text_at("requiredTopologyLevel"),
        preferred=at.text_at("preferredTopologyLevel"),
    )


def scheduling_shard(root: Cursor) -> Object:
    spec = root["spec"]
    return kai.SchedulingShard(
        object_id(root),
        place(root),
        *metadata(root),
        partition=spec.text_at("partitionLabelValue"),
        k=number(spec["kValue"]),
        arguments=spec["args"].strings(),
        plugins=_plugins(spec["plugins"]),
        actions=_plugins(spec["actions"]),
        min_runtimes=_min_runtimes(spec["minRuntime"]),
        placement=spec["placementStrategy"].strings(),
        usage=_usage(spec["usageDBConfig"]),
    )


def _plugins(at: Cursor) -> tuple[kai.KaiPlugin, ...]:
    return tuple(
        kai.KaiPlugin(
            name=name,
            place=place(each),
            is_enabled=each["enabled"].boolean() is not False,
            arguments=each["arguments"].strings() if each["arguments"].exists else None,
        )
        for name, each in at.mapping()
    )


def _usage(at: Cursor) -> kai.UsageSource | None:
    if not at.exists:
        return None
    return kai.UsageSource(
        place=place(at),
        client=at.text_at("clientType"),
        connections=tuple(f for f in ("connectionString", "connectionStringEnvVar") if at.text_at(f)),
        params=at["usageParams"].strings(),
        misplaced=tuple(name for name, _ in at.mapping() if name in MISPLACED),
        query=at["usageParams"]["extraParams"].strings(),
    )


def topology(root: Cursor) -> Object:
    levels = root["spec"].items_at("levels")
    named = tuple((level.text_at("nodeLabel"), level.text_at("alias")) for level in levels)
    return kai.KaiTopology(object_id(root), place(root), *metadata(root), levels=named)


def config(root: Cursor) -> Object:
    spec = root["spec"]
    common, prometheus = spec["global"], spec["prometheus"]
    return kai.KaiConfig(
        object_id(root),
        place(root),
        *metadata(root),
        gpu_sharing=spec["admission"]["gpuSharing"].boolean(),
        scheduler_name=common["schedulerName"].text(),
        queue_label=common["queueLabelKey"].text(),
        node_pool_label=common["nodePoolLabelKey"].text(),
        has_prometheus=prometheus["enabled"].boolean() or prometheus["externalPrometheusUrl"].exists,
    )


DECODERS: dict[str, Callable[[Cursor], Object]] = {
    "Queue": queue,
    "PodGroup": pod_group,
    "SchedulingShard": scheduling_shard,
    "Topology": topology,
    "Config": config,
}
