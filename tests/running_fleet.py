"""The example fleet as a running cluster would show it: every object, a Node for each node of its pools, and defaults."""

from __future__ import annotations

import copy
from typing import Any

from ruamel.yaml import YAML
from rule_cases import FIXTURES

FLEET = FIXTURES / "clusters" / "research-fleet"
Object = dict[str, Any]


def objects() -> list[Object]:
    """What the files define, node pools left out."""
    found: list[Object] = []
    for path in sorted(FLEET.rglob("*.yaml")):
        for document in YAML(typ="safe").load_all(path.read_text()):
            found += document["items"] if document.get("kind") == "List" else [document]
    return [o for o in found if not o["apiVersion"].startswith("qcheck.dev/")]


def pools() -> list[Object]:
    documents = [d for path in sorted(FLEET.rglob("*.yaml")) for d in YAML(typ="safe").load_all(path.read_text())]
    return [d for d in documents if d["apiVersion"].startswith("qcheck.dev/")]


def nodes() -> list[Object]:
    """A Node for each node of the pools."""
    return [_node(pool, number) for pool in pools() for number in range(pool["spec"]["count"])]


def _node(pool: Object, number: int) -> Object:
    spec, name = pool["spec"], f"{pool['metadata']['name']}-{number}"
    figures = {resource: str(amount) for resource, amount in spec["allocatable"].items()}
    labels = {
        **spec.get("labels", {}),
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    status = {"allocatable": figures, "capacity": figures, "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": copy.deepcopy(spec.get("taints", []))},
        "status": status,
    }


def as_served(found: Object) -> Object:
    """An object as the API server of Kueue's CRDs gives it back: defaults filled in, quantities canonical."""
    served: Object = copy.deepcopy(found)
    served["metadata"] |= {"uid": "1", "resourceVersion": "5", "managedFields": [{"manager": "kubectl"}]}
    if served["kind"] == "ClusterQueue":
        spec = served["spec"]
        spec.setdefault("queueingStrategy", "BestEffortFIFO")
        spec.setdefault("stopPolicy", "None")
        spec["flavorFungibility"] = {
            "whenCanBorrow": "MayStopSearch",
            "whenCanPreempt": "TryNextFlavor",
            **spec.get("flavorFungibility", {}),
        }
        given = spec.get("preemption", {})
        spec["preemption"] = {
            "withinClusterQueue": "Never",
            "reclaimWithinCohort": "Never",
            **given,
            "borrowWithinCohort": {"policy": "Never", **given.get("borrowWithinCohort", {})},
        }
        for cell in [r for g in spec["resourceGroups"] for f in g["flavors"] for r in f["resources"]]:
            cell |= {key: str(cell[key]) for key in ("nominalQuota", "borrowingLimit", "lendingLimit") if key in cell}
        served["status"] = {"pendingWorkloads": 0, "flavorsUsage": []}
    if served["kind"] == "LocalQueue":
        served["spec"].setdefault("stopPolicy", "None")
    return served


def running() -> list[Object]:
    """The whole cluster."""
    system = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "system-node-critical"},
    }
    return [*(as_served(o) for o in objects()), *nodes(), {**system, "value": 2000001000}]
