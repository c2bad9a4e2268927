"""The identity of a Kubernetes object and its place in a document."""

from __future__ import annotations

from qcheck.cluster.place import Place
from qcheck.cluster.value import Value

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"
"""The label with a namespace's name that the API server adds to every namespace."""


class ObjectId(Value):
    """Identity in a cluster. `group` is "" for the core group; `namespace` is None for cluster-scoped objects."""

    group: str
    version: str
    kind: str
    name: str
    namespace: str | None = None

    @property
    def is_generated(self) -> bool:
        """Return whether the server completes the name (`generateName`), so that no other object shares it."""
        return self.name.endswith("*") or not self.name

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.kind} {self.full_name}"


class Object(Value):
    """Base of all decoded objects. `place` is the document; `place.at("spec", ...)` points inside it."""

    id: ObjectId
    place: Place
    labels: dict[str, str]
    annotations: dict[str, str]

    @property
    def name(self) -> str:
        return self.id.name

    @property
    def namespace(self) -> str:
        """The namespace of a namespaced object; `default` if the manifest omits it."""
        return self.id.namespace or "default"

    @property
    def name_place(self) -> Place:
        return self.place.at("metadata", "name")


class Other(Object):
    """An object of a kind that is not decoded further; it still exists."""


class Namespace(Object):
    """A namespace; the API server adds the label `kubernetes.io/metadata.name`."""


class Generator(Object):
    """A policy by which the cluster creates objects that are in no file; `kinds` are the kinds of these objects."""

    kinds: tuple[str, ...]
