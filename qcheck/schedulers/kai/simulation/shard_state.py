"""A shard as the setting of a run: its nodes, its division and its past usage."""

from __future__ import annotations

from fractions import Fraction

from qcheck.cluster.durations import go_seconds, prometheus_seconds
from qcheck.cluster.kai import Dimension
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.schedulers.kai.history import Window
from qcheck.schedulers.kai.shards import RESOURCES, double, number_or
from qcheck.schedulers.kai.shares import what_there_is
from qcheck.schedulers.kai.simulation.gang import DIMENSIONS
from qcheck.schedulers.kai.simulation.run import ShardState
from qcheck.schedulers.kai.simulation.usage_history import Past
from qcheck.supply.supply import supply_of

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kai import UsageSource
    from qcheck.schedulers.kai.shards import Shard

WEEK = Fraction(604_800)
MINUTE = Fraction(60)
"""KAI's defaults for the window and for the interval at which it reads past usage."""


def shard_state_of(cluster: Cluster, shard: Shard, eviction_delay: int) -> ShardState:
    """Return the state of a shard."""
    spec = shard.spec
    proportion = spec.plugin("proportion") if spec else None
    arguments = (proportion.arguments if proportion else None) or {}
    return ShardState(
        tree=shard.hierarchy,
        total=tuple(double(what_there_is(cluster, shard, dimension)) for dimension in DIMENSIONS),
        nodes=tuple(float(gpus) for gpus in _nodes(shard)),
        k=shard.k,
        past=_past(cluster, shard),
        multiplier=max(1.0, number_or(arguments.get("relcaimerSaturationMultiplier"), 1.0)),
        reclaims=spec is None or spec.runs("reclaim"),
        preempts=spec is None or spec.runs("preempt"),
        eviction_delay=eviction_delay,
    )


def seconds_per_sample(shard: Shard) -> int:
    """Return the interval, in seconds, at which the shard's scheduler reads past usage."""
    usage = shard.spec.usage if shard.spec else None
    return max(1, int(_length(usage, "fetchInterval", MINUTE))) if usage else 1


def _nodes(shard: Shard) -> list[int]:
    gpu = RESOURCES[Dimension.GPU]
    return [group.lowest(gpu) for group in shard.groups for _ in range(group.static)]


def _past(cluster: Cluster, shard: Shard) -> Past | None:
    """Return the past usage if the shard reads it; it is measured relative to the whole cluster."""
    usage = shard.spec.usage if shard.spec else None
    if usage is None or not shard.k or usage.params.get("windowType", "sliding") != "sliding":
        return None
    step = seconds_per_sample(shard)
    half_life = _length(usage, "halfLifePeriod", Fraction(0))
    window = Window(
        size=max(1, int(_length(usage, "windowSize", WEEK) / step)),
        half_life=float(half_life / step) if half_life > 0 else None,
    )
    groups = supply_of(cluster).groups
    capacity = (sum(group.static_supply(RESOURCES[dimension]) for group in groups) for dimension in DIMENSIONS)
    return Past(window, tuple(double(amount) for amount in capacity))


def _length(usage: UsageSource, name: str, default: Fraction) -> Fraction:
    text = usage.params.get(name, "")
    found = go_seconds(text) or prometheus_seconds(text)
    return default if found is None else found
