"""`check`, `capacity` and `admit` give one answer: what one of them says of a cluster, the others do not contradict."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from qcheck.answers.capacity import capacity_lines
from qcheck.answers.verdict import Verdict
from qcheck.api import admit, audit
from qcheck.findings.result import Result

GPU = "nvidia.com/gpu"
TAINT = {"key": "reserved", "effect": "NoSchedule"}


class Wing(NamedTuple):
    """A flavor with nodes of its own, and a queue with all of its quota."""

    nodes: int
    size: int
    tainted: int
    quota: int
    tolerates: bool
    pods: int
    each: int


WINGS = st.builds(
    Wing,
    nodes=st.integers(0, 3),
    size=st.sampled_from([1, 2, 4, 8]),
    tainted=st.integers(0, 2),
    quota=st.integers(0, 20),
    tolerates=st.booleans(),
    pods=st.integers(1, 6),
    each=st.sampled_from([1, 2, 3, 4, 8]),
)


def kueue(kind: str, name: str, spec: dict[str, Any], namespace: str | None = None) -> dict[str, Any]:
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}


def job(name: str, queue: str, pods: int, each: int) -> dict[str, Any]:
    container = {"name": "main", "image": "train", "resources": {"limits": {GPU: each}}}
    labels = {"kueue.x-k8s.io/queue-name": queue}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team", "labels": labels},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def objects(wings: list[Wing]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}]
    for at, wing in enumerate(wings):
        name = f"wing-{at}"
        tolerations = [{"key": "reserved", "operator": "Exists"}] if wing.tolerates else []
        found.append(kueue("ResourceFlavor", name, {"nodeLabels": {"wing": name}, "tolerations": tolerations}))
        flavor = {"name": name, "resources": [{"name": GPU, "nominalQuota": wing.quota}]}
        groups = [{"coveredResources": [GPU], "flavors": [flavor]}]
        found.append(kueue("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups}))
        found.append(kueue("LocalQueue", name, {"clusterQueue": name}, "team"))
        found += [node(f"{name}-{n}", name, wing.size, n < wing.tainted) for n in range(wing.nodes)]
        found.append(job(f"{name}-some", name, wing.pods, wing.each))
        if wing.quota:
            found.append(job(f"{name}-all", name, wing.quota, 1))
    # Beside them a node without GPUs, so that the nodes are known.
    return [*found, node("other", "none", 0, is_tainted=False)]


def node(name: str, wing: str, gpus: int, is_tainted: bool) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "wing": wing}},
        "spec": {"taints": [TAINT]} if is_tainted else {},
        "status": {
            "allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", **({GPU: str(gpus)} if gpus else {})},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def answers(wings: list[Wing]) -> tuple[Result, dict[str, Verdict]]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "all.yaml"
        file.write_text("\n---\n".join(json.dumps(o) for o in objects(wings)))
        verdicts = {v.workload.name: v for _, v in admit([str(file)], []).verdicts}
        return audit([str(file)]), verdicts


@settings(max_examples=25, deadline=None)
@given(st.lists(WINGS, min_size=1, max_size=2))
def test_the_three_commands_agree(wings: list[Wing]) -> None:
    result, verdicts = answers(wings)
    found = [(f, f.rule.id) for f in result.findings if f.severity == "error" and f.rule is not None]
    errors = {f.object.name: rule for f, rule in found if f.object is not None}
    lines = {line.flavor: line for line in capacity_lines(result.clusters[0]) if line.resource == GPU}
    for at, wing in enumerate(wings):
        name = f"wing-{at}"
        usable = wing.size * (wing.nodes if wing.tolerates else max(0, wing.nodes - wing.tainted))
        some = verdicts[f"{name}-some"]
        assert (some.decision.admitted is True) == (wing.pods * wing.each <= wing.quota)
        for verdict in (some, verdicts.get(f"{name}-all", some)):
            assert not (verdict.runs and verdict.workload.name in errors)
            if verdict.decision.admitted is False:
                assert errors.get(verdict.workload.name) == "QC601"
        if wing.quota:
            assert verdicts[f"{name}-all"].runs is (wing.quota <= usable)
            headroom = lines[name].headroom
            assert headroom is not None
            assert (headroom < 0) == (wing.quota > wing.size * wing.nodes)
            broken = {rule for f, rule in found if f"flavor {name} " in f.message}
            assert (headroom < 0) == bool(broken & {"QC101", "QC201"})
