"""Made-up names in place of those that people chose, the same one for the same name, so that findings stay the same.

Names of objects, label values, and label and annotation keys outside the domains of public projects are replaced;
resource names, quantities, machine types, regions and zones are kept.
"""

from __future__ import annotations

import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.cursor import as_mapping

if TYPE_CHECKING:
    Object = dict[str, object]

PUBLIC = re.compile(
    r"(^|\.)(kubernetes\.io|k8s\.io|x-k8s\.io|k8s\.aws|nvidia\.com|amd\.com|intel\.com|amazonaws\.com|google\.com|azure\.com"
    r"|oraclecloud\.com|coreweave\.com|karpenter\.sh|eksctl\.io|openshift\.io|kai\.scheduler|run\.ai|volcano\.sh|ray\.io"
    r"|kubeflow\.org|gardener\.cloud|qcheck\.dev|azure\.com)(/|$)"
)
"""Domains of widely used label keys."""
KEPT_NAMES = frozenset(
    {"default", "kube-system", "kube-public", "kube-node-lease", "kueue-system", "kueue-manager-config", "main",
     "system-cluster-critical", "system-node-critical", "volcano-system", "volcano-scheduler-configmap"}
)  # fmt: skip
KEPT_VALUES = re.compile(
    r"(^|/)(os|arch|instance-type|zone|region|gke-accelerator.*|capacity-?type|metadata\.name|managed|gpu\..*|nodes-per-.*)$"
    r"|^(nvidia|amd)\.com/"
)
"""Label keys whose values describe a machine."""
WORDS = frozenset({"", "true", "false"})
LABELS = frozenset({"labels", "matchLabels", "nodeLabels", "nodeSelector", "annotations"})
KEYS = frozenset({"key", "nodeLabel", "topologyKey"})
"""Fields whose value is a label key."""
NO_NAMES = frozenset({"apiVersion", "kind", "type", "status", "reason", "operator", "effect", "phase", "apiGroup"})
"""Fields whose values are Kubernetes' own words."""
FREE = frozenset({"image", "generateName"})
TOKEN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def redacted(objects: dict[str, list[Object]]) -> dict[str, list[Object]]:
    """Return the objects under other names."""
    names = _Names(objects)
    return {kind: [names.entries(each) for each in found] for kind, found in objects.items()}


def _words(kind: str) -> str:
    """Return `cluster-queue` for `ClusterQueue`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind).lower()


class _Names:
    """The replacements of names, none of which is the name of another object."""

    def __init__(self, objects: dict[str, list[Object]]) -> None:
        self.made: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        own = [
            (name, what)
            for kind, found in objects.items()
            for each in found
            for field, what in (("namespace", "namespace"), ("name", _words(kind)))
            if isinstance(name := as_mapping(each.get("metadata")).get(field), str)
        ]
        self.taken = {name for name, _ in own}
        for name, what in own:
            self.of(name, what)

    def of(self, name: str, what: str) -> str:
        if name in KEPT_NAMES or name in WORDS:
            return name
        while name not in self.made:
            self.counts[what] = count = self.counts.get(what, 0) + 1
            if (made := f"{what}-x{count}") not in self.taken:
                self.made[name] = made
        return self.made[name]

    def key(self, key: str) -> str:
        """Return the replacement of a label or annotation key."""
        domain, slash, _ = key.partition("/")
        if slash and PUBLIC.search(domain + "/"):
            return key
        return f"{'example.com/' * bool(slash)}{self.of(key, 'label')}"

    def value(self, key: str, value: object) -> object:
        if not isinstance(value, str):
            return self.inside(value, key)
        if value in self.made:
            return self.made[value]
        if KEPT_VALUES.search(key) or value.isdigit():
            return value
        return self.key(value) if "/" in value else self.of(value, "value")

    def inside(self, value: object, field: str) -> object:
        if isinstance(value, dict):
            if field in LABELS:
                return {self.key(k): self.value(k, v) for k, v in value.items()}
            return self.entries(value)
        if isinstance(value, list):
            return [self.inside(v, field) for v in value]
        return self.text(value, field) if isinstance(value, str) else value

    def entries(self, value: Object) -> Object:
        key = value.get("key")
        if isinstance(key, str) and ("operator" in value or "effect" in value):
            found = {f: self.inside(v, f) for f, v in value.items() if f not in ("value", "values")}
            found |= {"value": self.value(key, value["value"])} if "value" in value else {}
            values = value.get("values")
            return found | ({"values": [self.value(key, v) for v in values]} if isinstance(values, list) else {})
        return {f: self.inside(v, f) for f, v in value.items()}

    def text(self, text: str, field: str) -> str:
        if field in NO_NAMES or text in WORDS:
            return text
        if field in FREE:
            return "redacted"
        if field in KEYS:
            return self.key(text)
        if text in self.made:
            return self.made[text]
        return (
            TOKEN.sub(lambda m: self.made.get(m[0], m[0]), text) if " " in text or "\n" in text or "/" in text else text
        )
