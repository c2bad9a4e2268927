"""What counts as a change of an object, and what is only written in another way."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.answers.finding_changes import Comparison
from qcheck.pipeline.diff import compare, sides
from qcheck.settings import Settings

OLD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 40}]}]
    - coveredResources: [memory]
      flavors:
        - {name: small, resources: [{name: memory, nominalQuota: 1Ti}]}
        - {name: large, resources: [{name: memory, nominalQuota: 2Ti}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: team}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: h100}, resourceVersion: "1"}
status:
  allocatable: {nvidia.com/gpu: 8, cpu: "96", memory: 1Ti, pods: 110}
  conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: v1
kind: Pod
metadata: {generateName: x-, labels: {kueue.x-k8s.io/queue-name: main}}
spec: {containers: [{name: a, image: one}]}
---
apiVersion: v1
kind: Pod
metadata: {generateName: x-, labels: {kueue.x-k8s.io/queue-name: main}}
spec: {containers: [{name: a, image: two}]}
"""
TERRAFORM = """\
resource "aws_eks_node_group" "h100" {
  cluster_name    = "prod"
  node_group_name = "h100"
  node_role_arn   = aws_iam_role.node.arn
  subnet_ids      = ["subnet-1"]
  instance_types  = ["p5.48xlarge"]
  labels          = { gpu = "h100" }
  scaling_config {
    desired_size = 4
    min_size     = 4
    max_size     = 4
  }
}
"""


def between(folder: Path, new: str, file: str = "main.tf") -> Comparison:
    for name, text, terraform in (("old", OLD, "main.tf"), ("new", new, file)):
        (folder / name).mkdir()
        (folder / name / "all.yaml").write_text(text)
        (folder / name / terraform).write_text(TERRAFORM)
    return compare(*sides("old", "new", (), Settings()))


def test_another_spelling_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    queue, local, node, one, two = OLD.split("---\n")
    first, second = queue.index("    - covered"), queue.index("    - coveredResources: [memory]")
    queue = queue[:first] + queue[second:] + queue[first:second]
    for old, now in (
        ("nominalQuota: 40", 'nominalQuota: "40"'),
        ("nominalQuota: 1Ti", "nominalQuota: 1024Gi"),
    ):
        queue = queue.replace(old, now)
    local = local.replace(", namespace: default", "")
    node = node.replace('resourceVersion: "1"', 'resourceVersion: "2"').replace("00:00:00Z", "00:10:00Z")
    comparison = between(tmp_path, "---\n".join([two, one, "# moved\n" + node, local, queue]), "eks.tf")
    assert [(c.object.name, c.fields) for change in comparison.clusters for c in change.objects] == []
    assert [f.message for f in comparison.new if f.rule and f.rule.id != "QC008"] == []


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("nominalQuota: 1Ti", "nominalQuota: 1Gi", "1Ti", "1Gi"),
        ("memory: 1Ti, pods", "memory: 2Ti, pods", "1Ti", "2Ti"),
        ("image: two", "image: three", "two", "three"),
    ],
)
def test_another_value_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, before: str, after: str
) -> None:
    monkeypatch.chdir(tmp_path)
    comparison = between(tmp_path, OLD.replace(old, new))
    fields = [f for change in comparison.clusters for c in change.objects for f in c.fields]
    assert [(f.before, f.after) for f in fields] == [(before, after)]


def test_the_order_of_flavors_is_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = OLD.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if "name: small" in line)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    comparison = between(tmp_path, "".join(lines))
    fields = [f for change in comparison.clusters for c in change.objects for f in c.fields]
    assert [(f.before, f.after) for f in fields] == [("small, large", "large, small")]
