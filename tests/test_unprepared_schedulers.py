"""Repositories that nobody prepared, with queues of KAI or Volcano."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_unprepared import NODES, RELEASE, said

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
    assert "what nodes hold is not known" in capsys.readouterr().out


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
