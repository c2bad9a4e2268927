"""What may stand in qcheck.yaml, and how it becomes `Settings`. The JSON Schema of `qcheck schema config` is made from it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from qcheck.cluster.nodes import Machine
from qcheck.cluster.policy import KaiPolicy, Policy, Release, Reserve, Shape, VolcanoPolicy
from qcheck.cluster.quantity import amount, parse_quantity
from qcheck.cluster.value import replace
from qcheck.documents.limits import DEFAULT as DEFAULT_LIMITS
from qcheck.documents.limits import Limits
from qcheck.settings import ClusterScope, Render, Settings
from qcheck.settings.patterns import is_pattern
from qcheck.settings.quick import declared, folders
from qcheck.settings.readers import leaves_root


def _below_root(path: str) -> str:
    if leaves_root(path):
        raise ValueError(f"{path!r} leaves the folder of the settings file; put the file further up instead")
    return path


def _is_pattern(pattern: str) -> str:
    if not is_pattern(pattern):
        raise ValueError(f"{pattern!r} is no pattern as in a .gitignore")
    return pattern


def _known_resource_amount(value: str | int) -> str | int:
    parse_quantity(value)
    return value


Path = Annotated[str, AfterValidator(_below_root)]
Pattern = Annotated[Path, AfterValidator(_is_pattern)]
Quantity = Annotated[str | int, AfterValidator(_known_resource_amount)]
Amounts = dict[str, Quantity]
Severity = Literal["error", "warning", "note"]
ReleaseText = Annotated[
    str, Field(pattern=r"^v?[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]+)?$", description='Such as "0.19"; in quotes.')
]


class Part(BaseModel):
    """Camel-case keys, unknown ones refused, no silent conversion of types."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, defer_build=True)


class RenderPart(Part):
    """One kustomization or chart, rendered by the kustomize or helm that is installed."""

    kustomize: Path | None = None
    helm: Path | None = None
    values: list[Path] = []
    release: str | None = None
    namespace: str | None = None

    @model_validator(mode="after")
    def one_tool(self) -> Self:
        if (self.kustomize is None) == (self.helm is None):
            raise ValueError("name either kustomize or helm")
        if self.kustomize is not None and (self.values or self.release or self.namespace):
            raise ValueError("values, release and namespace belong to helm")
        return self

    def value(self) -> Render:
        tool = "helm" if self.kustomize is None else "kustomize"
        return Render(tool, self.kustomize or self.helm or ".", tuple(self.values), self.release, self.namespace)


class ReservePart(Part):
    """Capacity that queues shall not promise: per node, or in total over the pools."""

    pools: list[str] = ["*"]
    per_node: Amounts = {}
    total: Amounts = {}
    reason: str

    def value(self) -> Reserve:
        return Reserve(tuple(self.pools), base_units(self.per_node), base_units(self.total), self.reason)


class CapacityPart(Part):
    """How nodes are counted."""

    autoscaled: Literal["max", "min", "desired"] = Field(
        default="max", description="What an autoscaled pool counts as."
    )
    reserves: list[ReservePart] = []
    virtual_resources: list[str] = Field(
        default=[], description="Resources without nodes behind them, as glob patterns."
    )


class ShapePart(Part):
    """Pods that must be placeable, `pods` of them at once."""

    name: str
    requests: Amounts
    flavors: list[str] = []
    pods: Annotated[int, Field(ge=1)] | None = None
    level: str | None = Field(default=None, description="The topology level within which all of them must fit.")

    def value(self) -> Shape:
        return Shape(self.name, base_units(self.requests), tuple(self.flavors), self.pods, self.level)


class QueuesPart(Part):
    """Which cluster queues are meant to keep their quota, and which to live on what is left; glob patterns."""

    reserved: list[str] = []
    shared: list[str] = []


class RulesPart(Part):
    """Which rules count; by id, name, or prefix such as QC1."""

    select: list[str] = []
    ignore: list[str] = []
    severity: dict[str, Severity] = {}
    params: dict[str, dict[str, str | int | list[str]]] = {}


class KaiPart(Part):
    """What holds for KAI Scheduler and stands in no manifest."""

    version: ReleaseText = str(KaiPolicy().version)
    gpu_sharing: bool | None = Field(default=None, description="Whether pods may ask for fractions of GPUs.")
    full_hierarchy_fairness: bool | None = Field(
        default=None, description="Off: queues without a parent take no part, and departments mean nothing."
    )
    scheduler_name: str | None = None
    queue_label: str | None = None
    node_pool_label: str | None = None

    def value(self) -> KaiPolicy:
        return KaiPolicy(
            version=release(self.version),
            gpu_sharing=self.gpu_sharing,
            full_hierarchy=self.full_hierarchy_fairness,
            scheduler_name=self.scheduler_name,
            queue_label=self.queue_label,
            node_pool_label=self.node_pool_label,
        )


class VolcanoPart(Part):
    """What holds for Volcano and stands in no manifest."""

    version: ReleaseText = str(VolcanoPolicy().version)
    scheduler: Path | None = Field(
        default=None, description="The file with the configuration of its scheduler, bare or in its ConfigMap."
    )

    def value(self) -> VolcanoPolicy:
        return VolcanoPolicy(release(self.version), self.scheduler)


class AcceleratorPart(Part):
    model: str | None = None
    nvlink_domain: Annotated[int, Field(ge=1)] | None = None


class InstanceTypePart(Part):
    """A machine type that the catalogue does not know, or knows otherwise."""

    allocatable: Amounts = Field(description="What the scheduler may hand out per node.")
    accelerator: AcceleratorPart = AcceleratorPart()
    labels: dict[str, str] = {}

    def value(self, name: str, source: str) -> Machine:
        return replace(
            declared(name, base_units(self.allocatable), source),
            model=self.accelerator.model,
            nvlink_domain=self.accelerator.nvlink_domain,
            labels=self.labels,
        )


class LimitsPart(Part):
    """Bounds on what is read; passing one is a finding that names it."""

    bytes: Annotated[int, Field(ge=1, description="Size of a file.")] = DEFAULT_LIMITS.bytes
    depth: Annotated[int, Field(ge=1, le=500)] = DEFAULT_LIMITS.depth
    aliases: Annotated[int, Field(ge=0)] = DEFAULT_LIMITS.aliases
    documents: Annotated[int, Field(ge=1)] = DEFAULT_LIMITS.documents
    render_seconds: Annotated[int, Field(ge=1)] = Settings().render_seconds

    def value(self) -> Limits:
        return Limits(self.bytes, self.depth, self.aliases, self.documents)


class ClusterPart(Part):
    """The files and renders of one cluster, and what differs from the settings above."""

    include: list[Pattern] = []
    exclude: list[Pattern] = []
    render: list[RenderPart] = []
    kueue: ReleaseText | None = None
    complete: bool | None = None

    @model_validator(mode="after")
    def something(self) -> Self:
        if not self.include and not self.render:
            raise ValueError("a cluster needs include or render")
        return self

    def value(self, name: str, common: SettingsPart, root: str) -> ClusterScope:
        policy = common.policy(self.kueue, self.complete)
        return scope(name, self.include, [*common.exclude, *self.exclude], self.render, policy, root)


class SettingsPart(Part):
    """qcheck.yaml"""

    version: Literal[1] = 1
    kueue: ReleaseText = str(Release())
    complete: bool = Field(default=True, description="Everything is in this repository: a missing object is missing.")
    profile: Literal["reserved-and-shared"] | None = None
    clusters: dict[str, ClusterPart] = {}
    exclude: list[Pattern] = []
    render: list[RenderPart] = []
    capacity: CapacityPart = CapacityPart()
    shapes: list[ShapePart] = []
    queues: QueuesPart = QueuesPart()
    rules: RulesPart = RulesPart()
    kai: KaiPart = KaiPart()
    volcano: VolcanoPart = VolcanoPart()
    instance_types: dict[str, InstanceTypePart] = {}
    limits: LimitsPart = LimitsPart()
    baseline: Path | None = None
    crds: list[Path] = Field(default=[], description="Files of CustomResourceDefinitions that hold in every cluster.")

    @model_validator(mode="after")
    def clusters_or_all(self) -> Self:
        if self.clusters and self.render:
            raise ValueError("with clusters, each render belongs to one of them")
        return self

    def policy(self, kueue: str | None = None, complete: bool | None = None) -> Policy:
        return Policy(
            kueue=release(kueue or self.kueue),
            complete=self.complete if complete is None else complete,
            autoscaled=self.capacity.autoscaled,
            reserves=tuple(r.value() for r in self.capacity.reserves),
            virtual_resources=tuple(self.capacity.virtual_resources),
            shapes=tuple(s.value() for s in self.shapes),
            reserved_queues=tuple(self.queues.reserved),
            shared_queues=tuple(self.queues.shared),
            profile=self.profile,
            kai=self.kai.value(),
            volcano=self.volcano.value(),
        )

    def scopes(self, root: str) -> tuple[ClusterScope, ...]:
        if not self.clusters:
            instead = folders(part.value() for part in self.render)
            return (scope("default", ["**"], [*self.exclude, *instead], self.render, self.policy(), root),)
        return tuple(part.value(name, self, root) for name, part in self.clusters.items())

    def value(self, path: str, root: str) -> Settings:
        return Settings(
            path=path,
            root=root,
            policy=self.policy(),
            scopes=self.scopes(root),
            select=tuple(self.rules.select),
            ignore=tuple(self.rules.ignore),
            severity=dict(self.rules.severity),
            params=self.rules.params,
            instance_types={name: part.value(name, path) for name, part in self.instance_types.items()},
            limits=self.limits.value(),
            render_seconds=self.limits.render_seconds,
            baseline=self.baseline,
            crds=tuple(self.crds),
        )


def base_units(amounts: Amounts) -> dict[str, int]:
    """Quantities as integers in base units: milli-cpu, bytes, devices."""
    return {resource: amount(resource, parse_quantity(text)) for resource, text in amounts.items()}


def scope(
    name: str, include: list[str], exclude: list[str], render: list[RenderPart], policy: Policy, root: str
) -> ClusterScope:
    return ClusterScope(name, tuple(include), tuple(exclude), tuple(r.value() for r in render), policy, root)


def release(text: str) -> Release:
    major, minor = text.lstrip("v").split(".")[:2]
    return Release(int(major), int(minor))


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of a settings file."""
    schema = SettingsPart.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck settings"}
