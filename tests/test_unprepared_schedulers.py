"""Repositories that nobody prepared, with queues of KAI or Volcano."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_unprepared import NODES, RELEASE, said

from qcheck.api import audit
from qcheck.cli.entrypoint import run as front

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {deserved: {nvidia.com/gpu: 24}, guarantee: {resource: {nvidia.com/gpu: 24}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  schedulerName: volcano
  queue: research
  tasks:
    - name: worker
      replicas: 4
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: trainer, resources: {limits: {nvidia.com/gpu: 8}}}]}
"""
MORE_NODES = 'module "gpu_nodes" {\n  source = "example/gpu-pool/aws"\n}\n'


def test_nodes_that_were_not_read_may_be_volcanos_too(repository: Path) -> None:
    files = {"nodes.yaml": NODES, "queue.yaml": VOLCANO}
    assert said(repository, files, "QC951", "QC960") == [("QC951", "error"), ("QC960", "error")]
    assert said(repository, {"main.tf": MORE_NODES}, "QC951", "QC960") == [("QC951", "warning")]


KAI_QUEUE = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: NAME}
spec:
  parentQueue: PARENT
  resources:
    gpu: {quota: 2, limit: LIMIT, overQuotaWeight: 1}
    cpu: {quota: -1, limit: -1, overQuotaWeight: 1}
    memory: {quota: -1, limit: -1, overQuotaWeight: 1}
"""
KAI_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kai.scheduler/queue: research}}
spec:
  template:
    metadata: {labels: {kai.scheduler/queue: research}}
    spec:
      restartPolicy: Never
      schedulerName: kai-scheduler
      containers: [{name: main, image: trainer, resources: {limits: {nvidia.com/gpu: 8}}}]
"""


@pytest.mark.parametrize(("limit", "is_told"), [("-1", False), ("4", True)])
def test_without_nodes_only_a_written_limit_is_too_small(
    repository: Path, capsys: pytest.CaptureFixture[str], limit: str, is_told: bool
) -> None:
    queue = KAI_QUEUE.replace("NAME", "research").replace("PARENT", "all").replace("LIMIT", limit)
    top = KAI_QUEUE.replace("NAME", "all").replace("  parentQueue: PARENT\n", "").replace("LIMIT", "-1")
    (repository / "all.yaml").write_text("---\n".join([top, queue, KAI_JOB]))
    assert front(["shares", "."]) == 0
    told = capsys.readouterr().out
    assert "no node was read" in told
    assert ("more than it can ever hold" in told) is is_told
    assert front(["capacity", "."]) == 0
    told = capsys.readouterr().out
    assert "what nodes hold is not known" in told
    assert "unknown" in told
    assert "none selected" not in told


def test_no_share_of_what_no_node_has_is_told(repository: Path) -> None:
    asks = VOLCANO.replace("nvidia.com/gpu: 24", "cpu: 1").replace("nvidia.com/gpu", "aws.amazon.com/neuron")
    assert said(repository, {"nodes.yaml": NODES, "queue.yaml": asks, "main.tf": MORE_NODES}, "QC963") == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("", [("QC915", "warning")]),
        ("global: {gpuSharing: false}\n", [("QC915", "warning")]),
        ("global: {gpuSharing: true}\n", []),
        (RELEASE.replace("CHART", "kai-scheduler").replace("VALUES", "{global: {gpuSharing: true}}"), []),
        (RELEASE.replace("CHART", "other").replace("VALUES", "{global: {gpuSharing: true}}"), [("QC915", "warning")]),
    ],
    ids=["none", "off", "a file", "a release", "another chart"],
)
def test_values_of_the_chart_turn_gpu_sharing_on(
    repository: Path, values: str, expected: list[tuple[str, str]]
) -> None:
    pods = KAI_JOB.replace(
        "    metadata: {labels: {kai.scheduler/queue: research}}",
        '    metadata: {labels: {kai.scheduler/queue: research}, annotations: {gpu-fraction: "0.5"}}',
    ).replace(", resources: {limits: {nvidia.com/gpu: 8}}", "")
    queue = KAI_QUEUE.replace("NAME", "research").replace("PARENT", "default-parent-queue").replace("LIMIT", "-1")
    assert said(repository, {"all.yaml": f"{queue}---\n{pods}", "values.yaml": values}, "QC915") == expected


RAY = """\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray, namespace: team, labels: {kai.scheduler/queue: research}}
spec:
  headGroupSpec: {template: {spec: {containers: [{name: head, image: ray, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
"""


def test_the_ray_operator_may_set_the_scheduler(repository: Path) -> None:
    queue = KAI_QUEUE.replace("NAME", "research").replace("  parentQueue: PARENT\n", "").replace("LIMIT", "-1")
    job = KAI_JOB.replace("      schedulerName: kai-scheduler\n", "")
    assert said(repository, {"queue.yaml": queue, "job.yaml": job}, "QC907") == [("QC907", "error")]
    assert said(repository, {"job.yaml": RAY}, "QC907") == [("QC907", "warning")]
    named = RAY.replace("{containers", "{schedulerName: other, containers")
    assert said(repository, {"job.yaml": named}, "QC907") == [("QC907", "error")]


def test_an_unknown_plugin_may_be_a_custom_one(repository: Path) -> None:
    text = 'actions: "enqueue, allocate"\ntiers: [{plugins: [{name: gang}, {name: npu-v6}]}]\n'
    (repository / "scheduler.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: volcano-scheduler-configmap, namespace: volcano-system}\n"
        f"data:\n  volcano-scheduler.conf: |\n    {text.replace(chr(10), chr(10) + '    ').rstrip()}\n"
    )
    (repository / "queue.yaml").write_text(VOLCANO)
    (found,) = [f for f in audit(["."]).findings if f.rule and f.rule.id == "QC954" and "npu" in f.message]
    assert "unless it is a custom plugin" in found.message
    assert found.help is not None
    assert "npu-v6.so" in found.help


UNKNOWN_POOL = """\
resource "google_container_node_pool" "h100" {
  node_count = 3
  node_config {
    machine_type = "a3-highgpu-8g"
  }
}
"""


def test_a_pool_of_unknown_capacity_is_named_and_proves_no_limit(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = KAI_QUEUE.replace("NAME", "research").replace("PARENT", "all").replace("LIMIT", "-1")
    top = KAI_QUEUE.replace("NAME", "all").replace("  parentQueue: PARENT\n", "").replace("LIMIT", "-1")
    (repository / "all.yaml").write_text("---\n".join([top, queue, KAI_JOB]))
    (repository / "pools.tf").write_text(UNKNOWN_POOL)
    assert front(["shares", "."]) == 0
    told = capsys.readouterr().out
    assert "the capacity of h100 is not known, and counts as 0" in told
    assert "more than it can ever hold" not in told


def test_without_flavors_only_the_pod_template_can_tolerate_a_taint(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = KAI_QUEUE.replace("NAME", "research").replace("PARENT", "all").replace("LIMIT", "-1")
    top = KAI_QUEUE.replace("NAME", "all").replace("  parentQueue: PARENT\n", "").replace("LIMIT", "-1")
    pool = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec:
  count: 1
  taints: [{key: reserved, effect: NoSchedule}]
  allocatable: {cpu: 90, memory: 900Gi, pods: 110, nvidia.com/gpu: 8}
"""
    (repository / "queues.yaml").write_text("---\n".join([top, queue, pool]))
    (repository / "job.yaml").write_text(KAI_JOB)
    assert front(["admit", "job.yaml"]) == 1
    told = capsys.readouterr().out
    assert "tolerate reserved:NoSchedule in the pod template" in told
    assert "flavor" not in told
