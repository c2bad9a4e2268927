"""`qcheck suggest`: more nodes, in each format in which a number of nodes or a limit is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from manifests import FLAVOR, cluster_queue

from qcheck.cli.entrypoint import run

EKS = """resource "aws_eks_node_group" "h100" {
  cluster_name   = "lab"
  node_group_name = "h100"
  instance_types = ["p5.48xlarge"]
  labels         = { gpu = "h100" }
  scaling_config {
    min_size     = 2
    desired_size = 2
    max_size     = %s # rented
  }
}
variable "most" {
  default = 2
}
"""
GKE = """resource "google_container_node_pool" "h100" {
  name           = "h100"
  cluster        = "lab"
  location       = "us-central1"
  node_locations = ["us-central1-a", "us-central1-b"]
  node_count     = 2
  node_config {
    machine_type = "a3-highgpu-8g"
    labels       = { gpu = "h100" }
    guest_accelerator {
      type  = "nvidia-h100-80gb"
      count = 8
    }
  }
}
"""
KARPENTER = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: h100}
spec:
  template:
    metadata: {labels: {gpu: h100}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}
  limits:
    nvidia.com/gpu: 20  # two nodes and a half
"""
MACHINES = """apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata:
  name: h100
  annotations:
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: "2"
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "2"
    capacity.cluster-autoscaler.kubernetes.io/cpu: "96"
    capacity.cluster-autoscaler.kubernetes.io/memory: 900Gi
    capacity.cluster-autoscaler.kubernetes.io/gpu-type: nvidia.com/gpu
    capacity.cluster-autoscaler.kubernetes.io/gpu-count: "8"
    capacity.cluster-autoscaler.kubernetes.io/labels: gpu=h100
spec:
  clusterName: lab
  template:
    metadata: {labels: {gpu: h100}}
    spec: {clusterName: lab, bootstrap: {dataSecretName: x}}
"""


def queues(quota: int) -> str:
    return f"{FLAVOR}---\n{cluster_queue(quota)}"


def more_nodes(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, quota: int
) -> list[dict[str, Any]]:
    (folder / "queues.yaml").write_text(queues(quota))
    (folder / name).write_text(text)
    assert run(["suggest", str(folder), "--rules", "QC101", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    return [a for a in found["alternatives"] if a["kind"] == "nodes"]


@pytest.mark.parametrize(
    ("name", "text", "quota", "edit", "words"),
    [
        ("main.tf", EKS % 2, 24, ("2", "3"), "add 1 more node of h100, 8 nvidia.com/gpu each: 2 becomes 3"),
        ("main.tf", GKE, 40, ("2", "3"), "add 2 more nodes of h100, 8 nvidia.com/gpu each: 2 becomes 3"),
        ("pool.yaml", KARPENTER, 24, ("20", "24"), "raise the limit of h100 from 20 to 24 nvidia.com/gpu"),
        ("pool.yaml", MACHINES, 24, ('"2"', '"3"'), "add 1 more node of h100, 8 nvidia.com/gpu each: 2 becomes 3"),
    ],
)
def test_the_number_is_raised_where_it_is_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
    quota: int,
    edit: tuple[str, str],
    words: str,
) -> None:
    (found,) = more_nodes(tmp_path, capsys, name, text, quota)
    assert [(e["old"], e["new"]) for e in found["edits"]] == [edit]
    assert found["words"] == words
    assert found["edits"][0]["file"].endswith(name)


def test_an_expression_is_no_number_to_edit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not more_nodes(tmp_path, capsys, "main.tf", EKS % "var.most", 24)
    assert run(["suggest", str(tmp_path)]) == 1
    assert "the value is the expression var.most" in capsys.readouterr().out


def test_what_if_adds_nodes_to_each_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "queues.yaml").write_text(queues(40))
    (tmp_path / "main.tf").write_text(GKE)
    assert run(["check", str(tmp_path), "--select", "QC101", "--add-nodes", "h100=2"]) == 0
    capsys.readouterr()
    assert run(["check", str(tmp_path), "--add-nodes", "h100=1"]) == 2
    assert "grows by 2 nodes at a time" in capsys.readouterr().err


def test_no_number_of_nodes_is_beyond_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not more_nodes(tmp_path, capsys, "main.tf", EKS % 2, 80_000)
