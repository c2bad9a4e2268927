"""The keys of qcheck.yaml: each defined once, with its type, its default and its meaning.

`build.py` turns these parts into `Settings`. The JSON Schema of `qcheck schema config` and `keys.json`, by which
typical settings are read without pydantic, are generated from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from qcheck.cluster.policy import KaiPolicy, Release, VolcanoPolicy
from qcheck.documents.limits import DEFAULT as DEFAULT_LIMITS
from qcheck.settings import Settings, validators

Text = Annotated[str, AfterValidator(validators.not_blank)]
Path = Annotated[Text, AfterValidator(validators.below_root)]
Pattern = Annotated[str, AfterValidator(validators.pattern_below_root), AfterValidator(validators.a_pattern)]
Quantity = Annotated[str | int, AfterValidator(validators.a_quantity)]
Amounts = dict[Text, Quantity]
SomeAmounts = Annotated[Amounts, AfterValidator(validators.not_empty)]
Price = Annotated[int | float, AfterValidator(validators.a_price)]
FormatVersion = Annotated[Literal[1], BeforeValidator(validators.version_number)]
Severity = Literal["error", "warning", "note"]
ReleaseText = Annotated[
    str, Field(pattern=r"^v?[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]+)?$", description='Such as "0.19"; in quotes.')
]


class SettingsModel(BaseModel):
    """Camel-case keys, unknown ones refused, no silent conversion of types."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", strict=True, defer_build=True, use_attribute_docstrings=True
    )
    together: ClassVar[tuple[Callable[[Any], Any], ...]] = ()
    """Checks of the keys together, functions of `validators.py`."""

    @model_validator(mode="after")
    def fits_together(self) -> Self:
        for check in self.together:
            check(self)
        return self


class RenderPart(SettingsModel):
    """One kustomization or chart, rendered by the installed kustomize or helm."""

    together = (validators.one_tool,)

    kustomize: Path | None = None
    """Directory with a kustomization file."""
    helm: Path | None = None
    """Directory of a chart, with its dependencies vendored."""
    values: list[Path] = []
    """Helm values files; later ones override earlier ones."""
    release: Text | None = None
    """Helm's release name."""
    namespace: Text | None = None
    """Namespace of the release."""


Renders = list[RenderPart] | Literal["auto"]


class ReservePart(SettingsModel):
    """Capacity that queues must not promise, per node or in total over the pools."""

    together = (validators.reserves_something,)

    pools: Annotated[list[Text], AfterValidator(validators.not_empty)] = ["*"]
    """Names of node pools, as glob patterns."""
    per_node: Amounts = {}
    """Amounts kept free on each node."""
    total: Amounts = {}
    """Amounts kept free over all these pools together."""
    reason: Text
    """The purpose of the reserve."""


class CapacityPart(SettingsModel):
    """The counting of nodes."""

    autoscaled: Literal["max", "min", "desired"] = "max"
    """The size at which an autoscaled pool counts."""
    reserves: list[ReservePart] = []
    """Capacity that queues must not promise."""
    virtual_resources: list[Text] = []
    """Resources without nodes behind them, as glob patterns."""


class ShapePart(SettingsModel):
    """Pods that must fit, `pods` of them at once."""

    together = (validators.no_empty_choice,)

    name: Text
    """Name of the shape in findings."""
    requests: SomeAmounts
    """Requests of one pod."""
    flavors: list[Text] = []
    """Flavors on which the pods must fit; default: all that have the resources."""
    pods: Annotated[int, Field(ge=1)] | None = None
    """Number of pods that must fit at once."""
    level: Text | None = None
    """Topology level within which all of them must fit."""


class QueuesPart(SettingsModel):
    """Cluster queues that own their quota, and those that use idle quota; glob patterns."""

    reserved: list[Text] = []
    """Cluster queues that own their quota and do not borrow, as glob patterns."""
    shared: list[Text] = []
    """Cluster queues that use quota that others leave idle, as glob patterns."""


class RulesPart(SettingsModel):
    """The choice of rules, by id, name, or prefix such as QC1."""

    together = (validators.no_empty_choice,)

    select: list[Text] = []
    """Only these rules; default: all."""
    ignore: list[Text] = []
    """Skip these rules."""
    severity: dict[Text, Severity] = {}
    """Severity by rule, instead of the rule's own."""
    params: dict[Text, dict[Text, str | int | list[str]]] = {}
    """Parameters by rule."""


class KaiPart(SettingsModel):
    """Facts about KAI Scheduler that no manifest contains."""

    version: ReleaseText = str(KaiPolicy().version)
    """KAI release that the clusters run."""
    gpu_sharing: bool | None = None
    """True if pods may request fractions of GPUs."""
    full_hierarchy_fairness: bool | None = None
    """If false, queues without a parent are ignored, and so are departments."""
    scheduler_name: Text | None = None
    """`schedulerName` of KAI's pods, if it is not the default."""
    queue_label: Text | None = None
    """Label by which pods name their queue, if it is not the default."""
    node_pool_label: Text | None = None
    """Label by which nodes, queues and pods name their shard, if it is not the default."""


class VolcanoPart(SettingsModel):
    """Facts about Volcano that no manifest contains."""

    version: ReleaseText = str(VolcanoPolicy().version)
    """Volcano release that the clusters run."""
    scheduler: Path | None = None
    """File with the configuration of its scheduler, bare or in its ConfigMap."""


class AcceleratorPart(SettingsModel):
    """The accelerators of a machine type."""

    model: Text | None = None
    """Model, such as H100."""
    nvlink_domain: Annotated[int, Field(ge=1)] | None = None
    """Accelerators in one NVLink domain."""


class InstanceTypePart(SettingsModel):
    """A machine type that is missing from the catalogue or differs from it."""

    allocatable: SomeAmounts
    """Amounts per node that the scheduler may assign."""
    accelerator: AcceleratorPart = AcceleratorPart()
    """The accelerators of the machine."""
    labels: dict[Text, str] = {}
    """Labels that such nodes carry."""


class LimitsPart(SettingsModel):
    """Limits on the input; exceeding one is a finding that names it."""

    bytes: Annotated[int, Field(ge=1)] = DEFAULT_LIMITS.bytes
    """Size of a file in bytes."""
    depth: Annotated[int, Field(ge=1, le=500)] = DEFAULT_LIMITS.depth
    """Levels of nesting in a document."""
    aliases: Annotated[int, Field(ge=0)] = DEFAULT_LIMITS.aliases
    """Nodes to which the YAML aliases of a document expand."""
    documents: Annotated[int, Field(ge=1)] = DEFAULT_LIMITS.documents
    """Documents in a file, and items of a List."""
    values: Annotated[int, Field(ge=1)] = DEFAULT_LIMITS.values
    """Values in a file, by its line ends and commas."""
    render_seconds: Annotated[int, Field(ge=1)] = Settings().render_seconds
    """Seconds that one run of kustomize or helm may take."""


class ClusterSettingsPart(SettingsModel):
    """The files and rendered sources of one cluster, and its own settings."""

    together = (validators.has_inputs,)

    include: list[Pattern] = []
    """Files of the cluster, as patterns like those of a .gitignore."""
    exclude: list[Pattern] = []
    """Files that do not belong to the cluster."""
    render: Renders = []
    """Kustomizations and charts of the cluster; `auto`: every root among its files."""
    kueue: ReleaseText | None = None
    """Kueue release that the cluster runs."""
    complete: bool | None = None
    """True if every object of the cluster is in this repository."""
    capacity: CapacityPart = CapacityPart()
    """The counting of its nodes: lists add to the global ones, single values override them."""
    shapes: list[ShapePart] = []
    """Pods that must also fit in this cluster."""
    queues: QueuesPart = QueuesPart()
    """Its reserved and shared queues, in addition to the global ones."""
    shares: dict[Text, Annotated[int, Field(ge=0)]] = {}
    """Weights of its queues, in addition to the global ones."""
    rules: RulesPart = RulesPart()
    """Rules of this cluster: lists add to the global ones, single values override them."""


class SettingsPart(SettingsModel):
    """qcheck.yaml"""

    together = (validators.clusters_or_renders, validators.no_empty_choice)

    editor_schema: Annotated[str | None, Field(alias="$schema")] = None
    """The address of the schema of this file, for editors; qcheck does not read it."""
    version: FormatVersion = 1
    """Version of this format."""
    kueue: ReleaseText = str(Release())
    """Kueue release that the clusters run."""
    complete: bool = True
    """True if every object is in this repository, so that a missing object is an error."""
    profile: Literal["reserved-and-shared"] | None = None
    """Pattern whose rules are strict."""
    clusters: dict[Text, ClusterSettingsPart] = {}
    """Clusters by name; without any, all inputs are one cluster."""
    exclude: list[Pattern] = []
    """Files that belong to no cluster."""
    render: Renders = []
    """Kustomizations and charts of the one cluster; `auto`: every root found, in each cluster that has no `render`."""
    capacity: CapacityPart = CapacityPart()
    """The counting of nodes in every cluster."""
    shapes: list[ShapePart] = []
    """Pods that must fit."""
    queues: QueuesPart = QueuesPart()
    """Reserved and shared queues."""
    shares: dict[Text, Annotated[int, Field(ge=0)]] = {}
    """Weights by queue, by which `qcheck suggest --mode fill` divides the capacity of the nodes."""
    rules: RulesPart = RulesPart()
    """The choice of rules."""
    kai: KaiPart = KaiPart()
    """KAI Scheduler, which shares nodes or workloads with Kueue."""
    volcano: VolcanoPart = VolcanoPart()
    """Volcano, which shares nodes or workloads with Kueue."""
    instance_types: dict[Text, InstanceTypePart] = {}
    """Machine types that are missing from the catalogue or differ from it."""
    prices: dict[Text, Price] = {}
    """Prices per node and hour by machine type, in any currency."""
    limits: LimitsPart = LimitsPart()
    """Limits on the input."""
    baseline: Path | None = None
    """File of accepted findings."""
    crds: list[Path] = []
    """Files of CustomResourceDefinitions for every cluster."""


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of a settings file."""
    schema = SettingsPart.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck settings"}
