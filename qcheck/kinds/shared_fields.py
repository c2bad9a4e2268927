"""Converts the parts that many kinds share from cursors to the model's values, and caches those of equal content.

A value of the wrong type reads as absent, because the validator already reports it.
"""

from __future__ import annotations

from functools import lru_cache, wraps
from marshal import dumps

from qcheck.cluster.labels import LabelSelector, NodeSelection, NodeSelectorTerm, Requirement, Taint, Toleration
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.quantity import Quantity, QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from qcheck.cluster.labels import Labels
    from qcheck.cluster.pods import Quantities
    from qcheck.documents.cursor import Cursor

    T = TypeVar("T")

CLUSTER_SCOPED = frozenset(
    {
        "ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "AdmissionCheck", "ProvisioningRequestConfig",
        "WorkloadPriorityClass", "MultiKueueConfig", "MultiKueueCluster", "Node", "Namespace", "PriorityClass",
        "RuntimeClass", "CustomResourceDefinition", "ClusterTrainingRuntime", "ClusterPolicy",
        "SchedulingShard", "HyperNode",
    }
)  # fmt: skip
CLUSTER_SCOPED_OF_GROUP = frozenset(
    {("scheduling.run.ai", "Queue"), ("kai.scheduler", "Config"), ("scheduling.volcano.sh", "Queue")}
    | {("karpenter.sh", "NodePool"), ("karpenter.sh", "NodeClaim"), ("karpenter.k8s.aws", "EC2NodeClass")}
    | {("karpenter.azure.com", "AKSNodeClass"), ("compute.coreweave.com", "NodePool")}
    | {("cloud.google.com", "ComputeClass"), ("eksctl.io", "ClusterConfig")}
)
"""Cluster-scoped kinds whose names other groups use for namespaced kinds."""
MOST, LARGEST = 2000, 2000
"""The maximum number of cached values of one kind, and the maximum size of their input in bytes."""
WITHOUT_REFERENCES = 2
"""The last version of the marshal format in which equal data has equal bytes."""


def place(at: Cursor) -> Place:
    return Place(at.document, at.route)


def object_id(root: Cursor) -> ObjectId:
    """Return the identity of a document. `generateName` replaces a missing name, with a `*` for the server's suffix."""
    metadata = root["metadata"]
    name = metadata.text_at("name") or metadata["name"].meant() or ""
    if not name and (generated := metadata.text_at("generateName")):
        name = f"{generated}*"
    return _identity(root.text_at("apiVersion"), root.text_at("kind"), name, metadata.text_at("namespace"))


@lru_cache(maxsize=4096)
def _identity(api_version: str, kind: str, name: str, namespace: str) -> ObjectId:
    """Return an identity. Cached, because each stage of a run asks for it again."""
    group, _, version = api_version.rpartition("/")
    is_clusters = kind in CLUSTER_SCOPED or (group, kind) in CLUSTER_SCOPED_OF_GROUP
    return ObjectId(
        group=group, version=version, kind=kind, name=name, namespace=None if is_clusters else namespace or "default"
    )


def text_list(at: Cursor) -> tuple[str, ...]:
    return tuple(t for c in at.items() if (t := c.text()) is not None)


def quantity(at: Cursor) -> Quantity | None:
    return _parsed(at.data)


def quantity_at(at: Cursor, key: str) -> Quantity | None:
    """Return `quantity(at[key])`, without creating a cursor."""
    return _parsed(at.data.get(key) if isinstance(at.data, dict) else None)


def _parsed(value: object) -> Quantity | None:
    try:
        return parse_quantity(value)
    except QuantityError:
        return None


def quantities(at: Cursor) -> Quantities:
    """Return quantities by resource name, without those that are invalid."""
    if not isinstance(at.data, dict):
        return {}
    return {k: q for k, value in at.data.items() if (q := _parsed(value)) is not None}


def requirements(at: Cursor) -> tuple[Requirement, ...]:
    """Return `matchExpressions`, `matchFields` or Karpenter's `requirements`."""
    return tuple(Requirement(e.text_at("key"), e.text_at("operator"), text_list(e["values"])) for e in at.items())


def label_selector(at: Cursor) -> LabelSelector | None:
    """Return a label selector; None if it is absent, which differs from an empty selector."""
    if not isinstance(at.data, dict):
        return None
    return LabelSelector(at["matchLabels"].strings(), requirements(at["matchExpressions"]))


def node_selection(spec: Cursor) -> NodeSelection:
    """Return the nodeSelector and required node affinity of a pod spec."""
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms: tuple[NodeSelectorTerm, ...] | None = None
    if isinstance(required.data, dict):
        terms = tuple(
            NodeSelectorTerm(requirements(t["matchExpressions"]), requirements(t["matchFields"]))
            for t in required.items_at("nodeSelectorTerms")
        )
    return NodeSelection(spec["nodeSelector"].strings(), terms)


def taints(at: Cursor) -> tuple[Taint, ...]:
    return tuple(Taint(t.text_at("key"), t.text_at("value"), t.text_at("effect")) for t in at.items())


def tolerations(at: Cursor) -> tuple[Toleration, ...]:
    return tuple(
        Toleration(t.text_at("key"), t.text_at("operator") or "Equal", t.text_at("value"), t.text_at("effect"))
        for t in at.items()
    )


def metadata(root: Cursor) -> tuple[Labels, Labels]:
    """Return the labels and annotations of an object or template."""
    at = root["metadata"]
    return at.strings_at("labels"), at.strings_at("annotations")


def by_content(read: Callable[[Cursor], T]) -> Callable[[Cursor], T]:
    """Return a reader that returns the same value for equal data; `read` must depend only on the data.

    `marshal` distinguishes values that Python considers equal: 1, 1.0 and True, and the order of keys. It cannot
    encode a value that is known only to Terraform.
    """
    known: dict[bytes, T] = {}

    @wraps(read)
    def remembered(at: Cursor) -> T:
        try:
            content = dumps(at.data, WITHOUT_REFERENCES)  # type: ignore[arg-type]
        except ValueError:
            return read(at)
        if content in known:
            return known[content]
        found = read(at)
        if len(known) < MOST and len(content) <= LARGEST:
            known[content] = found
        return found

    return remembered
