"""Conversion of the parts of a settings file, as `schema.py` describes them, to `Settings`, without I/O or pydantic."""

from __future__ import annotations

from qcheck.cluster.nodes import Certainty, Machine
from qcheck.cluster.policy import KaiPolicy, Policy, Release, Reserve, Shape, VolcanoPolicy
from qcheck.cluster.quantity import amount, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.limits import Limits
from qcheck.settings import ClusterScope, Render, RuleChoice, Settings
from qcheck.settings.validators import AUTO

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from qcheck.cluster.policy import Counted
    from qcheck.settings import schema


def settings_of(part: schema.SettingsPart, path: str, root: str) -> Settings:
    """Return the settings in the file `path`, whose paths are relative to `root`."""
    types = part.instance_types.items()
    return Settings(
        path=path,
        root=root,
        scopes=_scopes(part, root),
        policy=_policy(part),
        rules=_choice(part.rules),
        instance_types={name: _machine(described, name, path) for name, described in types},
        limits=_limits(part.limits),
        render_seconds=part.limits.render_seconds,
        baseline=part.baseline,
        crds=tuple(part.crds),
    )


def _scopes(part: schema.SettingsPart, root: str) -> tuple[ClusterScope, ...]:
    if part.clusters:
        found = (_scope(own, name, part, root) for name, own in part.clusters.items())
        return tuple(replace(s, renders_all=s.renders_all or (part.render == AUTO and not s.render)) for s in found)
    everything = ClusterScope(
        name="default",
        exclude=tuple(part.exclude),
        render=_renders(part.render),
        renders_all=part.render == AUTO,
        policy=_policy(part),
        root=root,
    )
    return (everything,)


def _scope(part: schema.ClusterSettingsPart, name: str, common: schema.SettingsPart, root: str) -> ClusterScope:
    return ClusterScope(
        name=name,
        include=tuple(part.include),
        exclude=(*common.exclude, *part.exclude),
        render=_renders(part.render),
        renders_all=part.render == AUTO,
        policy=_own_policy(part, _policy(common)),
        rules=_choice(part.rules),
        root=root,
    )


def _renders(written: schema.Renders) -> tuple[Render, ...]:
    """Return the renders that are named; none for `auto`."""
    return () if isinstance(written, str) else tuple(map(_render, written))


def _render(part: schema.RenderPart) -> Render:
    return Render(
        tool="helm" if part.kustomize is None else "kustomize",
        path=part.kustomize or part.helm or ".",
        values=tuple(part.values),
        release=part.release,
        namespace=part.namespace,
    )


def _policy(part: schema.SettingsPart) -> Policy:
    return Policy(
        kueue=release(part.kueue),
        complete=part.complete,
        autoscaled=_autoscaled(part.capacity),
        reserves=tuple(map(_reserve, part.capacity.reserves)),
        virtual_resources=tuple(part.capacity.virtual_resources),
        shapes=tuple(map(_shape, part.shapes)),
        reserved_queues=tuple(part.queues.reserved),
        shared_queues=tuple(part.queues.shared),
        shares=dict(part.shares),
        profile=part.profile,
        prices=_prices(part.prices),
        kai=_kai(part.kai),
        volcano=VolcanoPolicy(release(part.volcano.version), part.volcano.scheduler),
    )


def _prices(written: Mapping[str, float]) -> dict[str, Fraction]:
    if not written:
        return {}
    from fractions import Fraction  # 2.5 ms

    return {name: Fraction(str(price)) for name, price in written.items()}


def _own_policy(part: schema.ClusterSettingsPart, common: Policy) -> Policy:
    """Return the policy of a cluster: the common one with the cluster's overrides."""
    own = part.capacity
    return replace(
        common,
        kueue=common.kueue if part.kueue is None else release(part.kueue),
        complete=common.complete if part.complete is None else part.complete,
        autoscaled=_autoscaled(own) or common.autoscaled,
        reserves=(*common.reserves, *map(_reserve, own.reserves)),
        virtual_resources=(*common.virtual_resources, *own.virtual_resources),
        shapes=(*common.shapes, *map(_shape, part.shapes)),
        reserved_queues=(*common.reserved_queues, *part.queues.reserved),
        shared_queues=(*common.shared_queues, *part.queues.shared),
        shares={**common.shares, **part.shares},
    )


def _autoscaled(part: schema.CapacityPart) -> Counted | None:
    """Return the size if it is written; None for the default, which others may override."""
    return part.autoscaled if "autoscaled" in part.model_fields_set else None


def _reserve(part: schema.ReservePart) -> Reserve:
    return Reserve(
        pools=tuple(part.pools),
        per_node=base_units(part.per_node),
        total=base_units(part.total),
        reason=part.reason,
    )


def _shape(part: schema.ShapePart) -> Shape:
    return Shape(
        name=part.name,
        requests=base_units(part.requests),
        flavors=tuple(part.flavors),
        pods=part.pods,
        level=part.level,
    )


def _choice(part: schema.RulesPart) -> RuleChoice:
    return RuleChoice(tuple(part.select), tuple(part.ignore), dict(part.severity), part.params)


def _kai(part: schema.KaiPart) -> KaiPolicy:
    return KaiPolicy(
        version=release(part.version),
        gpu_sharing=part.gpu_sharing,
        full_hierarchy=part.full_hierarchy_fairness,
        scheduler_name=part.scheduler_name,
        queue_label=part.queue_label,
        node_pool_label=part.node_pool_label,
    )


def _machine(part: schema.InstanceTypePart, name: str, source: str) -> Machine:
    """Return a machine type from the settings: unstated cpu and memory are unknown, not zero."""
    allocatable = base_units(part.allocatable)
    return Machine(
        instance_type=name,
        allocatable=allocatable,
        sure=dict.fromkeys(allocatable, Certainty.DECLARED),
        unknown=frozenset({"cpu", "memory"} - set(allocatable)),
        model=part.accelerator.model,
        nvlink_domain=part.accelerator.nvlink_domain,
        labels=part.labels,
        source=source,
    )


def _limits(part: schema.LimitsPart) -> Limits:
    return Limits(
        bytes=part.bytes, depth=part.depth, aliases=part.aliases, documents=part.documents, values=part.values
    )


def base_units(amounts: schema.Amounts) -> dict[str, int]:
    """Return quantities as integers in base units: milli-cpu, bytes, devices."""
    return {resource: amount(resource, parse_quantity(text)) for resource, text in amounts.items()}


def release(text: str) -> Release:
    major, minor = text.lstrip("v").split(".")[:2]
    return Release(int(major), int(minor))
