"""The example clusters of Volcano: one that is wrong on purpose, and the same put right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from qcheck.api import admit, audit
from qcheck.pipeline.gather import gather
from qcheck.schedulers.table import promises_of
from qcheck.settings import Settings
from qcheck.settings.load import load_settings

CLUSTERS = Path(__file__).resolve().parent.parent / "fixtures" / "clusters"
WRONG, RIGHT = str(CLUSTERS / "volcano-lab"), str(CLUSTERS / "volcano-lab-fixed")
FOUND = {
    "QC104": 1, "QC505": 1, "QC951": 1, "QC953": 1, "QC954": 1, "QC955": 1, "QC956": 1, "QC957": 1, "QC960": 1, "QC961": 1,
}  # fmt: skip
"""The findings of the wrong one that are no notes."""

NODES = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  count: 4
  labels: {{volcano.sh/nodegroup-name: {name}}}
  taints: [{{key: nvidia.com/gpu, effect: NoSchedule}}]
  allocatable: {{cpu: "100", memory: 1000Gi, nvidia.com/gpu: {gpus}, pods: "110"}}
  accelerator: {{model: {name}}}
---
"""
QUEUE = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec:
  deserved: {{cpu: "100", memory: 1000Gi, nvidia.com/gpu: {gpus}}}
{affinity}---
"""
AFFINITY = "  affinity: {{nodeGroupAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{}]}}}}\n"
SCHEDULER = """\
actions: "enqueue, allocate, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: conformance}, {name: predicates}, {name: capacity}, NODEGROUP{name: nodeorder}]
"""


def queue(name: str, gpus: int, group: str = "") -> str:
    return QUEUE.format(name=name, gpus=gpus, affinity=AFFINITY.format(group) if group else "")


def folder_of(tmp_path: Path, queues: str, by_group: bool) -> str:
    nodes = NODES.format(name="large", gpus=8) + NODES.format(name="small", gpus=1)
    plugin = "{name: nodegroup, arguments: {strict: false}}, " if by_group else ""
    (tmp_path / "nodes.yaml").write_text(nodes, encoding="utf-8")
    (tmp_path / "queues.yaml").write_text(queues, encoding="utf-8")
    (tmp_path / "scheduler.yaml").write_text(SCHEDULER.replace("NODEGROUP", plugin), encoding="utf-8")
    return str(tmp_path)


def test_every_fault_is_found_once() -> None:
    found = Counter(f.rule.id for f in audit([WRONG]).findings if f.rule and f.severity != "note")
    assert found == FOUND


def test_the_fixed_lab_has_no_findings_and_its_jobs_run() -> None:
    assert [f.message for f in audit([RIGHT]).findings] == []
    judged = admit([f"{RIGHT}/jobs"], [RIGHT])
    assert {v.workload.name: (v.admitted, v.runs) for _, v in judged.verdicts} == {
        "pretrain": (True, True),
        "align": (True, True),
        "render": (True, True),
    }


@pytest.mark.parametrize(
    ("queues", "by_group", "pools"),
    [
        (queue("a", 8), False, {"volcano/all"}),
        (queue("a", 8, "large"), False, {"volcano/all"}),
        (queue("a", 8, "large"), True, {"volcano/large"}),
        (queue("a", 8, "large") + queue("b", 1), True, {"volcano/all", "volcano/large"}),
        (queue("a", 8, "large, small"), True, {"volcano/all", "volcano/large", "volcano/small"}),
    ],
    ids=["no affinity", "the plugin is off", "kept to one", "one is not", "kept to two"],
)
def test_pools_are_the_node_groups_and_all_nodes_if_some_queue_may_use_them(
    queues: str, by_group: bool, pools: set[str], tmp_path: Path
) -> None:
    (cluster,) = gather([folder_of(tmp_path, queues, by_group)], Settings()).clusters
    assert set(cluster.quota_pools) == pools
    assert {pool for pool, _ in promises_of(cluster).cells} <= pools


@pytest.mark.parametrize(
    ("queues", "by_group"),
    [(queue("a", 8) + queue("b", 1), False), (queue("a", 8, "large") + queue("b", 1) + queue("c", 1, "small"), True)],
    ids=["all nodes", "a group within all nodes"],
)
def test_queues_over_several_machines_are_no_fault(queues: str, by_group: bool, tmp_path: Path) -> None:
    assert [f.message for f in audit([folder_of(tmp_path, queues, by_group)]).findings if f.severity != "note"] == []


@pytest.mark.parametrize("count", ["{min: 0}", '"0x1"'], ids=["autoscaled without a ceiling", "no number"])
def test_weights_divide_nodes_without_number(count: str, tmp_path: Path) -> None:
    """What is there without limit is enough for every queue, and its division comes to an end."""
    nodes = NODES.format(name="large", gpus=8).replace("count: 4", f"count: {count}")
    capability = "  capability: {nvidia.com/gpu: 16}\n"
    queues = QUEUE.format(name="a", gpus=16, affinity=capability) + queue("b", 16)
    folder = folder_of(tmp_path, queues, by_group=False)
    (tmp_path / "scheduler.yaml").unlink()
    (tmp_path / "nodes.yaml").write_text(nodes, encoding="utf-8")
    assert "QC963" not in {f.rule.id for f in audit([folder]).findings if f.rule}


@pytest.mark.parametrize(
    ("old", "new"),
    [("nvidia.com/gpu: 48", 'nvidia.com/gpu: "-5"'), ("{name: vision}", "[]"), ("{name: vision}", "{name: llm}")],
    ids=["a negative amount", "no names", "one name twice"],
)
def test_no_rule_stops_at_queues_that_the_api_server_refuses(old: str, new: str, tmp_path: Path) -> None:
    for file in Path(WRONG).rglob("*.yaml"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert "QC000" not in {f.rule.id for f in audit([str(tmp_path)]).findings if f.rule}


JOB_IN_A_HYPER_NODE = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: lab}
spec:
  schedulerName: volcano
  queue: q
  minAvailable: 1
  networkTopology: {mode: hard, highestTierAllowed: 40}
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        containers: [{name: main, image: train, resources: {limits: {nvidia.com/gpu: 8}}}]
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: only}
status:
  allocatable: {cpu: "100", memory: 1000Gi, nvidia.com/gpu: "8", pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""


def hyper_node(tier: int) -> str:
    """A hyper node with the next lower one as a member twice, or with the only node."""
    members = [{"type": "HyperNode", "selector": {"exactMatch": {"name": f"tier-{tier - 1}"}}}] * 2
    if tier == 1:
        members = [{"type": "Node", "selector": {"exactMatch": {"name": "only"}}}]
    spec = {"tier": tier, "members": members}
    return f"apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {{name: tier-{tier}}}\nspec: {spec}\n"


def test_hyper_nodes_with_several_ways_to_a_node(tmp_path: Path) -> None:
    """There are 2^39 ways from the widest one to the node."""
    scheduler = SCHEDULER.replace("NODEGROUP", "{name: network-topology-aware}, ")
    objects = [queue("q", 16), NODE, JOB_IN_A_HYPER_NODE, *map(hyper_node, range(1, 41))]
    (tmp_path / "all.yaml").write_text("---\n".join(objects), encoding="utf-8")
    (tmp_path / "scheduler.yaml").write_text(scheduler, encoding="utf-8")
    ((_, verdict),) = admit([str(tmp_path / "all.yaml")], [str(tmp_path)]).verdicts
    assert verdict.runs


@pytest.mark.parametrize(
    ("release", "tier", "highest", "runs"),
    [
        ("1.15", None, "1", None),
        ("1.13", None, "1", None),
        ("1.15", 1, "1", True),
        ("1.15", 2, "1", False),
        ("1.14", 0, "1", True),
        ("1.13", 2, "1", False),
    ],
    ids=["discovered?", "discovered by an older one?", "in its tier", "no such tier", "whole cluster", "older"],
)
def test_a_hard_topology_needs_a_hyper_node(
    tmp_path: Path, release: str, tier: int | None, highest: str, runs: bool | None
) -> None:
    """From 1.14 on, the whole cluster counts as a hyper node above all others."""
    job = JOB_IN_A_HYPER_NODE.replace("highestTierAllowed: 40", f"highestTierAllowed: {highest}")
    leaf = hyper_node(1).replace("'tier': 1", f"'tier': {tier}").replace("'only'", "'only'" if tier else "'none'")
    files = {
        "all.yaml": "---\n".join([queue("q", 16), NODE, job, *([] if tier is None else [leaf])]),
        "scheduler.yaml": SCHEDULER.replace("NODEGROUP", "{name: network-topology-aware}, "),
        "qcheck.yaml": f'volcano: {{version: "{release}"}}\n',
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    ((_, verdict),) = admit([str(tmp_path / "all.yaml")], [str(tmp_path)], load_settings(str(tmp_path))).verdicts
    assert verdict.runs is runs
