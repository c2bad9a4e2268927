"""What Terraform may bring and is not read, variables with several values, and texts that go over several lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from manifests import FLAVOR, cluster_queue

from qcheck.api import audit
from qcheck.settings.load import load_settings

QUEUE = f"{FLAVOR}---\n{cluster_queue(32)}"
GROUP = """\
variable "size" { default = 3 }
resource "aws_eks_node_group" "NAME" {
  cluster_name    = "c"
  node_group_name = "NAME"
  instance_types  = ["p5.48xlarge"]
  labels          = { LABEL }
  scaling_config {
    desired_size = var.size
    min_size     = var.size
    max_size     = var.size
  }
}
"""
SYSTEM = GROUP.replace("NAME", "system").replace("LABEL", 'pool = "system"')
GPUS = GROUP.replace("NAME", "gpus").replace("LABEL", 'gpu = "h100"')


def found(folder: Path, **files: str) -> dict[str, tuple[str, str]]:
    """Severity and message by rule of what is found in some files; `__` in their names stands for `/`."""
    for name, text in {"queue_yaml": QUEUE, **files}.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml").replace("_tfvars", ".tfvars").replace(
            "_tf", ".tf"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = audit([str(folder)], load_settings(str(folder)))
    return {f.rule.id: (f.severity, f.message) for f in result.findings if f.rule and f.severity != "note"}


@pytest.mark.parametrize(
    "text",
    [
        'module "h100" {\n  source = "example/gpu-pool/aws"\n}\n',
        'module "workers" {\n  source = "git::https://git.example.com/infra.git//eks?ref=v1"\n}\n',
        'module "pools" {\n  source = "../elsewhere/pools"\n}\n',
        'resource "helm_release" "pools" {\n  name  = "gpu-nodepools"\n  chart = "oci://example.com/charts/raw"\n}\n',
        'resource "helm_release" "extra" {\n  name  = "x"\n  chart = "./x"\n  values = [yamlencode({ nodePools = {} })]\n}\n',
        'resource "digitalocean_kubernetes_node_pool" "gpu" {\n  name = "gpu"\n}\n',
        'resource "google_container_cluster" "c" {\n  cluster_autoscaling {\n    enabled = true\n  }\n}\n',
        'resource "google_container_cluster" "c" {\n  enable_autopilot = true\n}\n',
        'resource "azurerm_kubernetes_cluster" "c" {\n  node_provisioning_profile {\n    mode = "Auto"\n  }\n}\n',
        'resource "aws_eks_cluster" "c" {\n  compute_config {\n    enabled = true\n  }\n}\n',
        'module "c" {\n  source = "terraform-aws-modules/eks/aws"\n  compute_config = { enabled = true }\n}\n',
        'module "c" {\n  source = "terraform-google-modules/kubernetes-engine/google//modules/beta-autopilot-public"\n}\n',
        'resource "oci_core_cluster_network" "rdma" {\n  display_name = "rdma"\n}\n',
        'resource "aws_autoscaling_group" "w" {\n  tag {\n    key = "kubernetes.io/cluster/c"\n    value = "owned"\n  }\n}\n',
        'resource "azapi_resource" "p" {\n  type = "Microsoft.ContainerService/managedClusters/agentPools@2025-05-01"\n}\n',
    ],
)
def test_what_may_bring_nodes_lowers_their_absence_and_is_named(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, main_tf=SYSTEM)["QC201"][0] == "error"
    now = found(tmp_path, more_tf=text)
    assert now["QC201"][0] == "warning"
    assert now["QC010"][0] == "warning"
    assert "flavor h100 selects none of those that were read" in now["QC010"][1]


@pytest.mark.parametrize(
    "text",
    [
        'module "cluster_vpc" {\n  source = "terraform-aws-modules/vpc/aws"\n  name = "cluster"\n}\n',
        'module "db" {\n  source = "terraform-aws-modules/rds/aws"\n}\n',
        'resource "helm_release" "operator" {\n  name  = "gpu-operator"\n  chart = "gpu-operator"\n}\n',
        'resource "helm_release" "karpenter" {\n  name  = "karpenter"\n  chart = "karpenter"\n}\n',
        'module "gpu_helper" {\n  source = "./helper"\n}\n',
        'resource "helm_release" "web" {\n  name  = "web"\n  chart = "./web"\n}\n',
        'resource "google_cloudbuild_worker_pool" "build" {\n  name = "build"\n}\n',
        'resource "aws_autoscaling_group" "web" {\n  name = "web"\n}\n',
        'resource "azapi_resource" "v" {\n  type = "Microsoft.KeyVault/vaults@2024-11-01"\n  body = var.v\n}\n',
        'resource "google_container_cluster" "c" {\n  cluster_autoscaling {\n    enabled = false\n  }\n}\n',
        'resource "azurerm_kubernetes_cluster" "c" {\n  node_provisioning_profile {\n    mode = "Manual"\n  }\n}\n',
    ],
)
def test_what_brings_no_nodes_lowers_nothing(tmp_path: Path, text: str) -> None:
    now = found(tmp_path, main_tf=SYSTEM, more_tf=text, helper__a_tf='output "x" { value = 1 }\n')
    assert now["QC201"][0] == "error"
    assert "QC010" not in now


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        (
            "s_yaml",
            "Resources:\n  G:\n    Type: AWS::EKS::Nodegroup\n    Properties: {ClusterName: !Ref C}\n",
            "CloudFormation",
        ),
        ("s.json", '{"Resources": {"G": {"Type": "AWS::SageMaker::Cluster"}}}', "CloudFormation"),
        (
            "a.json",
            '{"resources": [{"type": "Microsoft.ContainerService/managedClusters/agentPools"}]}',
            "ARM template",
        ),
        ("b_yaml", "modules:\n- {id: p, source: modules/compute/gke-node-pool}\n", "Cluster Toolkit blueprint"),
        ("Pulumi_yaml", "resources:\n  g:\n    type: aws:eks:NodeGroup\n", "Pulumi program"),
    ],
)
def test_node_pools_in_an_unread_format_are_named_and_make_missing_nodes_warnings(
    tmp_path: Path, name: str, text: str, what: str
) -> None:
    now = found(tmp_path, main_tf=SYSTEM, **{name: text})
    assert now["QC201"][0] == "warning"
    assert what in now["QC010"][1]


@pytest.mark.parametrize(
    "text",
    ["kind: Note\ntext: AWS::EKS::Nodegroup\n", "Resources:\n  B:\n    Type: AWS::S3::Bucket\n"],
)
def test_text_that_only_mentions_node_pools_lowers_no_severity(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, main_tf=SYSTEM, note_yaml=text)["QC201"][0] == "error"


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: gpu}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]
"""


@pytest.mark.parametrize(
    "text",
    [
        'resource "helm_release" "q" {\n  name  = "queues"\n  chart = "oci://example.com/charts/batch"\n}\n',
        'resource "helm_release" "q" {\n  name  = "b"\n  chart = "./b"\n  values = [yamlencode({ localQueues = {} })]\n}\n',
        'module "kueue_queues" {\n  source = "example/batch/kubernetes"\n}\n',
    ],
)
def test_what_may_bring_queues_lowers_their_absence_and_is_named(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, main_tf=GPUS, job_yaml=JOB)["QC403"][0] == "error"
    now = found(tmp_path, more_tf=text)
    assert now["QC403"][0] == "warning"
    assert "was not read: it may define queues" in now["QC009"][1]


@pytest.mark.parametrize(
    "text",
    [
        'resource "helm_release" "kueue" {\n  name  = "kueue"\n  chart = "kueue"\n}\n',
        'resource "helm_release" "web" {\n  name  = "web"\n  chart = "./web"\n}\n',
        'module "queue" {\n  source = "terraform-aws-modules/sqs/aws"\n}\n',
    ],
)
def test_what_brings_no_queues_lowers_nothing(tmp_path: Path, text: str) -> None:
    now = found(tmp_path, main_tf=GPUS, job_yaml=JOB, more_tf=text)
    assert now["QC403"][0] == "error"
    assert "QC009" not in now


def test_a_pool_that_is_off_by_default_may_still_come(tmp_path: Path) -> None:
    gated = 'variable "gpus" { default = false }\n' + GPUS.replace(
        '"gpus" {\n', '"gpus" {\n  count = var.gpus ? 1 : 0\n'
    )
    now = found(tmp_path, main_tf=gated, system_tf=SYSTEM.replace('variable "size" { default = 3 }\n', ""))
    assert now["QC201"][0] == "warning"
    assert "aws_eks_node_group.gpus (off by default: count is var.gpus ? 1 : 0) may define nodes" in now["QC010"][1]
    now = found(tmp_path, terraform_tfvars="gpus = false\n")
    assert (now["QC201"][0], "QC010" in now) == ("error", False)


def test_quota_above_what_was_read_is_no_proof_where_nodes_may_come_from_elsewhere(tmp_path: Path) -> None:
    assert found(tmp_path, main_tf=GPUS)["QC101"][0] == "error"
    now = found(tmp_path, more_tf='module "more_nodes" {\n  source = "example/nodes/aws"\n}\n')
    assert now["QC101"][0] == "warning"
    assert "module.more_nodes (example/nodes/aws) may define nodes" in now["QC010"][1]


@pytest.mark.parametrize("folder", ["", "envs__", "envs__a__"])
def test_several_tfvars_are_several_possible_values(tmp_path: Path, folder: str) -> None:
    now = found(tmp_path, main_tf=GPUS, **{f"{folder}dev_tfvars": "size = 1\n", f"{folder}prod_tfvars": "size = 4\n"})
    assert "QC101" not in now
    severity, message = now["QC010"]
    assert severity == "warning"
    path = folder.replace("__", "/")
    assert f"var.size, which is 1 in {path}dev.tfvars, 4 in {path}prod.tfvars" in message


def test_tfvars_that_agree_and_those_of_a_cluster_are_certain(tmp_path: Path) -> None:
    now = found(tmp_path, main_tf=GPUS, dev_tfvars="size = 4\n", prod_tfvars="size = 4\n")
    assert not {"QC101", "QC010"} & now.keys()
    settings = "clusters: {dev: {include: [main.tf, queue.yaml, dev.tfvars]}}\n"
    assert found(tmp_path, dev_tfvars="size = 1\n", qcheck_yaml=settings)["QC101"][0] == "error"


def test_interpolations_over_several_lines_are_read(tmp_path: Path) -> None:
    text = """\
locals {
  name = "${ # a name
    var.prefix
  }-${merge({
    a = "x" // of a map
    b = "y"
  }, {}).a}"
  script = <<-EOT
    echo "${
      var.prefix
    }
  EOT
  list = "${join(",", [
    for k in ["a", "b"] : upper(k)
  ])}"
}
variable "prefix" { default = "h" }
"""
    now = found(tmp_path, main_tf=GPUS.replace('"gpus"\n', '"${local.name}"\n') + text)
    assert "24: 3 nodes x 8 = 24 (h-x)" in now["QC101"][1]
    assert found(tmp_path, main_tf=GPUS + 'x = "${\n"\n')["QC001"][0] == "error"


@pytest.mark.parametrize(
    ("argument", "severity"), [("gpus = var.gpus", "warning"), ("gpus = false", "error"), ("", "error")]
)
def test_a_pool_of_a_module_that_is_off_by_default_may_still_exist(
    tmp_path: Path, argument: str, severity: str
) -> None:
    gated = GPUS.replace('"gpus" {\n', '"gpus" {\n  count = var.gpus ? 1 : 0\n')
    inner = f'variable "gpus" {{ default = false }}\n{gated}'
    call = (
        f'variable "gpus" {{ default = false }}\nmodule "pools" {{\n  source = "../pools"\n  {argument}\n}}\n{SYSTEM}'
    )
    now = found(tmp_path, pools__main_tf=inner, dev__main_tf=call)
    assert now["QC201"][0] == severity
    if severity == "warning":
        assert "module.pools.aws_eks_node_group.gpus (off by default" in now["QC010"][1]


def test_modules_that_call_each_other_without_end_are_too_much(tmp_path: Path) -> None:
    calls = "".join(
        f'module "gpu{n}" {{\n  source = "../pools"\n  count = 0\n  gpus = var.gpus\n}}\n' for n in range(30)
    )
    call = 'variable "gpus" { default = false }\nmodule "pools" {\n  source = "../pools"\n  gpus = var.gpus\n}\n'
    now = found(tmp_path, pools__main_tf='variable "gpus" { default = false }\n' + calls, dev__main_tf=call)
    assert "more than 300,000 steps" in now["QC001"][1]


def test_a_pool_that_nobody_depends_on_is_not_mentioned(tmp_path: Path) -> None:
    unknown = (
        GROUP.replace("NAME", "web").replace("LABEL", 'pool = "web"').replace("default = 3", "").replace("32", "16")
    )
    text = GPUS.replace("var.size", "4").replace('variable "size" { default = 3 }\n', "")
    assert found(tmp_path, main_tf=text, web_tf=unknown) == {}
    assert "QC010" in found(tmp_path, web_tf=unknown.replace('pool = "web"', 'gpu = "h100"'))


MODULE = """\
module "cluster" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpus = { create = SWITCH, instance_types = ["p5.48xlarge"], min_size = 2, max_size = 2, labels = { gpu = "h100" } }
  }
}
"""


@pytest.mark.parametrize(
    ("switch", "severity", "why"),
    [
        ("true", None, ""),
        ("false", "error", ""),
        ("var.gpus", "warning", "off by default: create is var.gpus"),
        ("local.gpus", "warning", "off by default: create is local.gpus"),
        ("data.aws_x.y.gpus", "warning", "create is data.aws_x.y.gpus"),
    ],
)
def test_an_entry_of_a_modules_map_may_be_off(tmp_path: Path, switch: str, severity: str | None, why: str) -> None:
    text = f'variable "gpus" {{ default = false }}\nlocals {{ gpus = var.gpus }}\n{MODULE.replace("SWITCH", switch)}'
    now = found(tmp_path, main_tf=text, system_tf=SYSTEM)
    assert now.get("QC201", (None,))[0] == severity
    assert (f"module.cluster.eks_managed_node_groups.gpus ({why})" in now.get("QC010", ("", ""))[1]) is bool(why)
    if "default" in why:
        assert found(tmp_path, terraform_tfvars="gpus = false\n")["QC201"][0] == "error"
