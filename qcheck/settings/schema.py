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
from qcheck.settings import ClusterScope, Render, RuleChoice, Settings
from qcheck.settings.patterns import is_pattern
from qcheck.settings.quick import declared
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

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, defer_build=True, use_attribute_docstrings=True
    )


class RenderPart(Part):
    """One kustomization or chart, rendered by the kustomize or helm that is installed."""

    kustomize: Path | None = None
    """Directory with a kustomization file."""
    helm: Path | None = None
    """Directory of a chart, with its dependencies vendored."""
    values: list[Path] = []
    """Helm values files, later ones winning."""
    release: str | None = None
    """Helm's release name."""
    namespace: str | None = None
    """Namespace of the release."""

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


AUTO = "auto"
Renders = list[RenderPart] | Literal["auto"]


class ReservePart(Part):
    """Capacity that queues shall not promise: per node, or in total over the pools."""

    pools: list[str] = ["*"]
    """Names of node pools, as glob patterns."""
    per_node: Amounts = {}
    """Amounts kept free on each node."""
    total: Amounts = {}
    """Amounts kept free over all these pools together."""
    reason: str
    """What the capacity is kept for."""

    def value(self) -> Reserve:
        return Reserve(tuple(self.pools), base_units(self.per_node), base_units(self.total), self.reason)


class CapacityPart(Part):
    """How nodes are counted."""

    autoscaled: Literal["max", "min", "desired"] = "max"
    """The size that an autoscaled pool counts as."""
    reserves: list[ReservePart] = []
    """Capacity that queues shall not promise."""
    virtual_resources: list[str] = []
    """Resources without nodes behind them, as glob patterns."""

    def value(self) -> Policy:
        return Policy(
            autoscaled=self.autoscaled if "autoscaled" in self.model_fields_set else None,
            reserves=tuple(r.value() for r in self.reserves),
            virtual_resources=tuple(self.virtual_resources),
        )


class ShapePart(Part):
    """Pods that must be placeable, `pods` of them at once."""

    name: str
    """Name of the shape in findings."""
    requests: Amounts
    """Requests of one pod."""
    flavors: list[str] = []
    """Flavors on which the pods must be placeable; all that have the resources if left out."""
    pods: Annotated[int, Field(ge=1)] | None = None
    """How many pods must be placeable at once."""
    level: str | None = None
    """Topology level within which all of them must fit."""

    def value(self) -> Shape:
        return Shape(self.name, base_units(self.requests), tuple(self.flavors), self.pods, self.level)


class QueuesPart(Part):
    """Which cluster queues are meant to keep their quota, and which to live on what is left; glob patterns."""

    reserved: list[str] = []
    """Cluster queues that own their quota and do not borrow, as glob patterns."""
    shared: list[str] = []
    """Cluster queues that live on what others leave, as glob patterns."""


class RulesPart(Part):
    """Which rules count; by id, name, or prefix such as QC1."""

    select: list[str] = []
    """Only these rules; all if left out."""
    ignore: list[str] = []
    """Not these rules."""
    severity: dict[str, Severity] = {}
    """Severity by rule, instead of the rule's own."""
    params: dict[str, dict[str, str | int | list[str]]] = {}
    """Parameters by rule."""

    def value(self) -> RuleChoice:
        return RuleChoice(tuple(self.select), tuple(self.ignore), dict(self.severity), self.params)


class KaiPart(Part):
    """What holds for KAI Scheduler and stands in no manifest."""

    version: ReleaseText = str(KaiPolicy().version)
    """KAI release that the clusters run."""
    gpu_sharing: bool | None = None
    """Whether pods may ask for fractions of GPUs."""
    full_hierarchy_fairness: bool | None = None
    """Off: queues without a parent take no part, and departments mean nothing."""
    scheduler_name: str | None = None
    """`schedulerName` of KAI's pods, where it is not the usual one."""
    queue_label: str | None = None
    """Label by which pods name their queue, where it is not the usual one."""
    node_pool_label: str | None = None
    """Label by which nodes, queues and pods name their shard, where it is not the usual one."""

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
    """Volcano release that the clusters run."""
    scheduler: Path | None = None
    """File with the configuration of its scheduler, bare or in its ConfigMap."""

    def value(self) -> VolcanoPolicy:
        return VolcanoPolicy(release(self.version), self.scheduler)


class AcceleratorPart(Part):
    """The accelerators of a machine type."""

    model: str | None = None
    """Model, such as H100."""
    nvlink_domain: Annotated[int, Field(ge=1)] | None = None
    """Accelerators that one NVLink domain joins."""


class InstanceTypePart(Part):
    """A machine type that the catalogue does not know, or knows otherwise."""

    allocatable: Amounts
    """Amounts per node that the scheduler may hand out."""
    accelerator: AcceleratorPart = AcceleratorPart()
    """The accelerators of the machine."""
    labels: dict[str, str] = {}
    """Labels that such nodes carry."""

    def value(self, name: str, source: str) -> Machine:
        return replace(
            declared(name, base_units(self.allocatable), source),
            model=self.accelerator.model,
            nvlink_domain=self.accelerator.nvlink_domain,
            labels=self.labels,
        )


class LimitsPart(Part):
    """Bounds on what is read; passing one is a finding that names it."""

    bytes: Annotated[int, Field(ge=1)] = DEFAULT_LIMITS.bytes
    """Size of a file in bytes."""
    depth: Annotated[int, Field(ge=1, le=500)] = DEFAULT_LIMITS.depth
    """Levels of nesting in a document."""
    aliases: Annotated[int, Field(ge=0)] = DEFAULT_LIMITS.aliases
    """Nodes that YAML aliases of a document stand for."""
    documents: Annotated[int, Field(ge=1)] = DEFAULT_LIMITS.documents
    """Documents in a file."""
    render_seconds: Annotated[int, Field(ge=1)] = Settings().render_seconds
    """Seconds that one run of kustomize or helm may take."""

    def value(self) -> Limits:
        return Limits(self.bytes, self.depth, self.aliases, self.documents)


class ClusterPart(Part):
    """The files and renders of one cluster, and what differs from the settings above."""

    include: list[Pattern] = []
    """Files of the cluster, as patterns like those of a .gitignore."""
    exclude: list[Pattern] = []
    """Files that do not belong to it."""
    render: Renders = []
    """Kustomizations and charts of the cluster; `auto`: every root among its files."""
    kueue: ReleaseText | None = None
    """Kueue release that the cluster runs."""
    complete: bool | None = None
    """Whether every object of the cluster is in this repository."""
    capacity: CapacityPart = CapacityPart()
    """How its nodes are counted: its lists add to those above, its single values win."""
    shapes: list[ShapePart] = []
    """Pods that must be placeable in this cluster too."""
    queues: QueuesPart = QueuesPart()
    """Its reserved and shared queues, besides those above."""
    rules: RulesPart = RulesPart()
    """Rules of this cluster: its lists add to those above, its single values win."""

    @model_validator(mode="after")
    def something(self) -> Self:
        if not self.include and (not self.render or self.render == AUTO):
            raise ValueError("a cluster needs include or render")
        return self

    def value(self, name: str, common: SettingsPart, root: str) -> ClusterScope:
        return ClusterScope(
            name=name,
            include=tuple(self.include),
            exclude=(*common.exclude, *self.exclude),
            render=renders(self.render),
            renders_all=self.render == AUTO,
            policy=self.policy(common),
            rules=self.rules.value(),
            root=root,
        )

    def policy(self, common: SettingsPart) -> Policy:
        """The common policy with what differs here."""
        base, own = common.policy(), self.capacity.value()
        return replace(
            base,
            kueue=base.kueue if self.kueue is None else release(self.kueue),
            complete=base.complete if self.complete is None else self.complete,
            autoscaled=own.autoscaled or base.autoscaled,
            reserves=(*base.reserves, *own.reserves),
            virtual_resources=(*base.virtual_resources, *own.virtual_resources),
            shapes=(*base.shapes, *(s.value() for s in self.shapes)),
            reserved_queues=(*base.reserved_queues, *self.queues.reserved),
            shared_queues=(*base.shared_queues, *self.queues.shared),
        )


class SettingsPart(Part):
    """qcheck.yaml"""

    version: Literal[1] = 1
    """Version of this format."""
    kueue: ReleaseText = str(Release())
    """Kueue release that the clusters run."""
    complete: bool = True
    """Everything is in this repository: a missing object is missing."""
    profile: Literal["reserved-and-shared"] | None = None
    """Pattern whose rules are strict."""
    clusters: dict[str, ClusterPart] = {}
    """Clusters by name; without any, all inputs are one cluster."""
    exclude: list[Pattern] = []
    """Files that belong to no cluster."""
    render: Renders = []
    """Kustomizations and charts of the one cluster; `auto`: every root found, in each cluster that has no `render`."""
    capacity: CapacityPart = CapacityPart()
    """How the nodes of every cluster are counted."""
    shapes: list[ShapePart] = []
    """Pods that must be placeable."""
    queues: QueuesPart = QueuesPart()
    """Reserved and shared queues."""
    rules: RulesPart = RulesPart()
    """Rules that count."""
    kai: KaiPart = KaiPart()
    """KAI Scheduler, which shares nodes or workloads with Kueue."""
    volcano: VolcanoPart = VolcanoPart()
    """Volcano, which shares nodes or workloads with Kueue."""
    instance_types: dict[str, InstanceTypePart] = {}
    """Machine types that the catalogue does not know, or knows otherwise."""
    limits: LimitsPart = LimitsPart()
    """Bounds on what is read."""
    baseline: Path | None = None
    """File of accepted findings."""
    crds: list[Path] = []
    """Files of CustomResourceDefinitions that hold in every cluster."""

    @model_validator(mode="after")
    def clusters_or_all(self) -> Self:
        if self.clusters and self.render and self.render != AUTO:
            raise ValueError("with clusters, each render belongs to one of them")
        return self

    def policy(self) -> Policy:
        return replace(
            self.capacity.value(),
            kueue=release(self.kueue),
            complete=self.complete,
            shapes=tuple(s.value() for s in self.shapes),
            reserved_queues=tuple(self.queues.reserved),
            shared_queues=tuple(self.queues.shared),
            profile=self.profile,
            kai=self.kai.value(),
            volcano=self.volcano.value(),
        )

    def scopes(self, root: str) -> tuple[ClusterScope, ...]:
        if self.clusters:
            found = (part.value(name, self, root) for name, part in self.clusters.items())
            return tuple(replace(s, renders_all=s.renders_all or (self.render == AUTO and not s.render)) for s in found)
        return (
            ClusterScope(
                name="default",
                exclude=tuple(self.exclude),
                render=renders(self.render),
                renders_all=self.render == AUTO,
                policy=self.policy(),
                root=root,
            ),
        )

    def value(self, path: str, root: str) -> Settings:
        return Settings(
            path=path,
            root=root,
            scopes=self.scopes(root),
            policy=self.policy(),
            rules=self.rules.value(),
            instance_types={name: part.value(name, path) for name, part in self.instance_types.items()},
            limits=self.limits.value(),
            render_seconds=self.limits.render_seconds,
            baseline=self.baseline,
            crds=tuple(self.crds),
        )


def base_units(amounts: Amounts) -> dict[str, int]:
    """Quantities as integers in base units: milli-cpu, bytes, devices."""
    return {resource: amount(resource, parse_quantity(text)) for resource, text in amounts.items()}


def renders(written: Renders) -> tuple[Render, ...]:
    """The renders that are named; none for `auto`."""
    return () if written == AUTO else tuple(part.value() for part in written if isinstance(part, RenderPart))


def release(text: str) -> Release:
    major, minor = text.lstrip("v").split(".")[:2]
    return Release(int(major), int(minor))


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of a settings file."""
    schema = SettingsPart.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck settings"}
