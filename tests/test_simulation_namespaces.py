"""Equal workloads of one queue, in namespaces whose LimitRanges differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from manifests import FLAVOR, cluster_queue, local_queue

from qcheck.api import simulate

if TYPE_CHECKING:
    from pathlib import Path

LIMIT_RANGE = """\
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: large}
spec: {limits: [{type: Container, defaultRequest: {cpu: 8}, default: {cpu: 8}}]}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: train, resources: {requests: {memory: 1Gi}}}]
"""
PODS = "podSets: [{name: main, count: 1, requests: {memory: 1Gi}}]"


@pytest.mark.parametrize("pods", [PODS, "manifest: job.yaml"])
def test_the_limit_ranges_of_the_namespace_count(tmp_path: Path, pods: str) -> None:
    cluster = [
        FLAVOR,
        cluster_queue({"cpu": 4, "memory": "10Gi"}),
        local_queue("large"),
        local_queue("small"),
        LIMIT_RANGE,
    ]
    entries = [f"  - {{name: {name}, queue: {name}/main, created: 0, {pods}}}\n" for name in ("large", "small")]
    for file, text in {
        "cluster.yaml": "---\n".join(cluster),
        "job.yaml": JOB,
        "scenario.yaml": f"version: 1\nworkloads:\n{''.join(entries)}",
    }.items():
        (tmp_path / file).write_text(text)
    done = simulate(str(tmp_path / "scenario.yaml"), [str(tmp_path / "cluster.yaml")])
    assert [span.job.name for span in done.timeline.spans] == ["small"]
