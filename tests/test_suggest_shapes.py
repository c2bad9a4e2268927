"""`qcheck suggest` where a workload cannot run: other pods, more quota, free devices, and what is rejected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from manifests import FLAVOR, cluster_queue_by_lines, local_queue

from qcheck.api import audit
from qcheck.cli.entrypoint import run

POOL = """apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec:
  count: %(nodes)d
  labels: {gpu: h100}
  allocatable: {cpu: 96, memory: 900Gi, pods: 110, nvidia.com/gpu: 8}
"""
BASE = "---\n".join([FLAVOR, POOL, cluster_queue_by_lines("%(quota)d"), local_queue("lab", queue="research"), ""])
JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: lab, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  parallelism: %(pods)d  # at once
  completions: 40
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/x
        resources:
          limits:
            nvidia.com/gpu: %(devices)d  # per pod
"""
JOB_SET = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train, namespace: lab, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  suspend: true
  replicatedJobs:
  - name: workers
    replicas: %(replicas)d  # of two pods
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          spec:
            restartPolicy: Never
            containers:
            - {name: main, image: example.com/x, resources: {limits: {nvidia.com/gpu: 8}}}
"""
DAEMON_SET = """---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: burn-in, namespace: system}
spec:
  selector: {matchLabels: {app: burn-in}}
  template:
    metadata: {labels: {app: burn-in}}
    spec:
      priorityClassName: system-node-critical
      containers:
      - {name: main, image: example.com/x, resources: {limits: {nvidia.com/gpu: 1}}}
"""


def suggested(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *words: str) -> dict[str, Any]:
    (folder / "all.yaml").write_text(text)
    run(["suggest", str(folder), "--format", "json", *words])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def edits(found: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    return [(a["kind"], [(e["old"], e["new"]) for e in a["edits"]]) for a in found["alternatives"]]


def test_a_job_beyond_its_quota_gets_more_quota_fewer_pods_or_smaller_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BASE % {"nodes": 10, "quota": 64} + JOB % {"pods": 10, "devices": 8}
    found = suggested(tmp_path, capsys, text)
    assert edits(found) == [("quota", [("64", "80")]), ("shape", [("8", "6")]), ("shape", [("10", "8")])]
    assert "run 8 pods of main at once instead of 10" in found["alternatives"][2]["words"]
    for number in (1, 2, 3):
        (tmp_path / "all.yaml").write_text(text)
        assert run(["suggest", str(tmp_path), "--write", "--pick", str(number)]) == 0
        assert not [f for f in audit([str(tmp_path)]).findings if f.severity == "error"]
        assert "# per pod" in (tmp_path / "all.yaml").read_text()


def test_more_quota_than_nodes_is_rejected_with_the_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = suggested(tmp_path, capsys, BASE % {"nodes": 8, "quota": 64} + JOB % {"pods": 10, "devices": 8})
    assert edits(found)[:2] == [("shape", [("8", "4")]), ("shape", [("10", "8")])]
    (rejected,) = [r for r in found["rejected"] if "raise nominalQuota of research" in r["edit"]]
    assert "QC101" in rejected["why"]
    assert "64" in rejected["why"]


def test_a_raised_memory_quota_is_worded_as_it_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queue = """apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu, memory]
    flavors:
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 64}, {name: memory, nominalQuota: 3000}]}
"""
    parts = [FLAVOR, POOL % {"nodes": 10}, queue, local_queue("lab", queue="research"), JOB % {"pods": 2, "devices": 8}]
    text = "---\n".join(parts).replace("          limits:", "          requests: {memory: 600Gi}\n          limits:")
    found = suggested(tmp_path, capsys, text)
    raised = [a for a in found["alternatives"] if a["kind"] == "quota"]
    assert [(a["words"].rpartition(" ")[2], a["edits"][0]["new"]) for a in raised] == [("1200Gi", "1200Gi")]


def test_pods_of_seven_where_a_daemon_set_takes_the_eighth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = suggested(tmp_path, capsys, BASE % {"nodes": 4, "quota": 28} + JOB % {"pods": 3, "devices": 8} + DAEMON_SET)
    kinds = edits(found)
    assert ("shape", [("8", "7")]) in kinds
    assert ("daemonset", [("1", "0")]) in kinds
    smaller = found["alternatives"][kinds.index(("shape", [("8", "7")]))]
    assert smaller["words"] == "let Job lab/train ask for 7 nvidia.com/gpu per pod instead of 8"


def test_more_and_smaller_pods_use_what_the_larger_ones_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = suggested(
        tmp_path, capsys, BASE % {"nodes": 10, "quota": 70} + JOB % {"pods": 8, "devices": 8} + DAEMON_SET
    )
    assert ("shape", [("8", "9"), ("8", "7")]) in edits(found)


def test_a_job_set_changes_by_whole_replicas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = suggested(tmp_path, capsys, BASE % {"nodes": 5, "quota": 40} + JOB_SET % {"replicas": 4})
    assert ("shape", [("4", "2")]) in edits(found)
    assert any("run 4 pods of workers at once instead of 8" in a["words"] for a in found["alternatives"])


def test_kept_quota_is_not_raised_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BASE % {"nodes": 10, "quota": 64} + JOB % {"pods": 10, "devices": 8}
    found = suggested(tmp_path, capsys, text, "--keep", "research")
    assert {a["kind"] for a in found["alternatives"]} == {"shape"}
    assert [r["why"] for r in found["rejected"]] == ["the quota of research is kept"]
    kept = text.replace("# per pod", "# qcheck: keep")
    assert edits(suggested(tmp_path, capsys, kept)) == [("quota", [("64", "80")]), ("shape", [("10", "8")])]


def test_the_workload_that_needs_its_quota_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = BASE.partition("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue")[2].partition("---\n")[0]
    second = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue" + other % {"quota": 40}
    text = BASE % {"nodes": 14, "quota": 80} + JOB % {"pods": 10, "devices": 8} + "---\n"
    found = suggested(tmp_path, capsys, text + second.replace("name: research", "name: batch"))
    assert edits(found)[0] == ("quota", [("40", "32")])
    (rejected,) = found["rejected"]
    assert rejected["edit"] == "lower the quota of research from 80 to 72 nvidia.com/gpu"
    assert rejected["why"].startswith("Job lab/train would never be admitted")


def test_only_pods_that_ask_for_more_are_made_smaller(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        BASE % {"nodes": 4, "quota": 32}
        + """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: lab, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: example.com/x, resources: {limits: {nvidia.com/gpu: 1}}}]}}
    Worker:
      replicas: 2
      template: {spec: {containers: [{name: pytorch, image: example.com/x, resources: {limits: {nvidia.com/gpu: 12}}}]}}
"""
    )
    found = suggested(tmp_path, capsys, text)
    assert edits(found) == [("shape", [("12", "8")])]


def test_more_nodes_for_pods_that_do_not_fit_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = suggested(tmp_path, capsys, BASE % {"nodes": 2, "quota": 16} + JOB % {"pods": 3, "devices": 5})
    assert edits(found) == [("nodes", [("2", "3")]), ("shape", [("5", "4")]), ("shape", [("3", "2")])]


def test_divisions_leave_workloads_what_they_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = BASE.partition("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue")[2].partition("---\n")[0]
    second = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue" + other % {"quota": 40}
    text = BASE % {"nodes": 14, "quota": 80} + JOB % {"pods": 10, "devices": 8} + "---\n"
    text += second.replace("name: research", "name: batch")
    for mode in ("proportional", "fill"):
        found = suggested(tmp_path, capsys, text, "--mode", mode)
        assert edits(found)[0] == ("quota", [("40", "32")])


def test_a_quota_is_not_lowered_and_raised_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pods of two jobs and the quotas of flavors that share nodes are too large: each step may undo another."""
    text = (Path(__file__).parent / "data" / "two-jobs-and-shared-nodes.yaml").read_text()
    (tmp_path / "all.yaml").write_text(text)
    run(["suggest", str(tmp_path), "--format", "json"])
    alternatives = json.loads(capsys.readouterr().out)["alternatives"]
    assert len(alternatives) > 1
    assert all(edit["old"] != edit["new"] for each in alternatives for edit in each["edits"])
