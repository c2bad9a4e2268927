"""Labels, selectors, taints and tolerations, with the exact semantics of kube-scheduler and of label selectors.

Source: k8s.io/component-helpers `scheduling/corev1`, k8s.io/apimachinery `labels`.
"""

from __future__ import annotations

from qcheck.cluster.quantity import integer
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

Labels = dict[str, str]
HARD_EFFECTS = ("NoSchedule", "NoExecute")
EQUAL = ("Equal", "")
"""Operators of tolerations that compare values for equality."""
DISCOVERED_LABELS = (
    "nvidia.com/", "amd.com/", "beta.amd.com/", "gpu.intel.com/", "gpu.nvidia.com/", "feature.node.kubernetes.io/",
    "node.coreweave.cloud/", "backend.coreweave.cloud/", "ib.coreweave.cloud/", "ds.coreweave.com/",
    "oci.oraclecloud.com/", "topology.k8s.aws/", "cloud.google.com/gce-topology", "network.topology.nvidia.com/",
    "fabric.topograph.run/", "accelerator.topograph.run/", "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/",
    "sagemaker.amazonaws.com/", "karpenter.k8s.aws/instance-", "eks.amazonaws.com/instance-", "karpenter.azure.com/sku-",
    "karpenter.k8s.gcp/instance-",
)  # fmt: skip
"""Prefixes of labels that agents, autoscalers and clouds add to nodes, with values that no pool definition contains."""


class Requirement(Value):
    """One expression of a selector: `key operator values`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels satisfy the expression (In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte).

        NotIn also holds if the label is absent.
        """
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt" | "Gte" | "Lte":
                return self._compares(value)
        return False

    def _compares(self, value: str | None) -> bool:
        bound = integer(self.values[0]) if len(self.values) == 1 else None
        found = integer(value)
        if bound is None or found is None:
            return False
        return {"Gt": found > bound, "Lt": found < bound, "Gte": found >= bound, "Lte": found <= bound}[self.operator]

    def __str__(self) -> str:
        if self.operator in ("Exists", "DoesNotExist"):
            return self.key if self.operator == "Exists" else f"!{self.key}"
        return f"{self.key} {self.operator} [{', '.join(self.values)}]"


class LabelSelector(Value):
    """A `metav1.LabelSelector`. An empty selector selects everything; the holder interprets an absent one (None)."""

    match_labels: Labels
    expressions: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(labels.get(k) == v for k, v in self.match_labels.items()) and all(
            e.matches(labels) for e in self.expressions
        )


class NodeSelectorTerm(Value):
    """One term of a required node affinity; all of its expressions must match. An empty term matches nothing."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str], node_name: str | None) -> bool:
        if not self.expressions and not self.fields:
            return False
        field_values = {} if node_name is None else {"metadata.name": node_name}
        return all(e.matches(labels) for e in self.expressions) and all(f.matches(field_values) for f in self.fields)


class NodeSelection(Value):
    """The demands of a pod on its node's labels: nodeSelector and required node affinity (terms are alternatives)."""

    selector: Labels
    terms: tuple[NodeSelectorTerm, ...] | None = None

    def matches(self, labels: Mapping[str, str], node_name: str | None = None) -> bool:
        if any(labels.get(k) != v for k, v in self.selector.items()):
            return False
        return self.terms is None or any(t.matches(labels, node_name) for t in self.terms)

    @property
    def ask(self) -> Hashable:
        """Return the demands as a comparable value."""
        return tuple(self.selector.items()), self.terms

    @property
    def keys(self) -> set[str]:
        """The label keys that the selection refers to."""
        return set(self.selector) | {e.key for t in self.terms or () for e in t.expressions}


class Taint(Value):
    key: str
    value: str = ""
    effect: str = "NoSchedule"

    @property
    def is_hard(self) -> bool:
        """Return whether the taint keeps pods off a node; PreferNoSchedule does not."""
        return self.effect in HARD_EFFECTS

    def __str__(self) -> str:
        return f"{self.key}{'=' if self.value else ''}{self.value}:{self.effect}"


class Toleration(Value):
    """A toleration. An empty key (with Exists) tolerates every key, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    @property
    def ask(self) -> Hashable:
        """Return the toleration as a comparable value."""
        return self.key, self.operator, self.value, self.effect

    def tolerates(self, taint: Taint) -> bool:
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        match self.operator:
            case "Exists":
                return True
            case "Equal" | "":
                return bool(self.key) and self.value == taint.value
            case "Lt" | "Gt":
                return self._compares(taint.value)
        return False

    def _compares(self, value: str) -> bool:
        found, bound = integer(value), integer(self.value)
        if found is None or bound is None:
            return False
        return found < bound if self.operator == "Lt" else found > bound


def untolerated(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> tuple[Taint, ...]:
    """Return the hard taints that none of the tolerations covers."""
    if not taints:
        return ()
    covered = {taint for taint, _ in tolerated(taints, tolerations)}
    return tuple(t for t in taints if t.is_hard and t not in covered)


def tolerated(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> Iterator[tuple[Taint, int]]:
    """Yield the tolerated hard taints, each with the index of the first toleration that covers it."""
    by_value: dict[tuple[str, str | None], list[int]] = {}
    for at, each in enumerate(tolerations):
        by_value.setdefault((each.key, each.value if each.operator in EQUAL else None), []).append(at)
    for taint in taints if by_value else ():
        if taint.is_hard:
            ways = [(taint.key, taint.value), (taint.key, None), ("", None)]
            found = [next((at for at in by_value.get(w, ()) if tolerations[at].tolerates(taint)), None) for w in ways]
            first = min((at for at in found if at is not None), default=None)
            if first is not None:
                yield taint, first


def is_discovered(key: str) -> bool:
    """Return whether a label may exist only on running nodes."""
    return key.startswith(DISCOVERED_LABELS)
