"""`qcheck init` in a repository that nobody prepared, and what `check` then says."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.cli import entrypoint
from qcheck.findings.result import Result
from qcheck.settings.load import load_settings
from qcheck.sources.patterns import Pattern

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in for helm is a shell script")

BASE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels: {gpu: h100}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
"""
QUOTA = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: AMOUNT}]}]
"""
OVERLAY = "namespace: research\nresources: [../../base]\npatches: [{path: quota.yaml}]\n"
LOCAL = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpu, namespace: NS}
spec: {clusterQueue: research}
"""
CHART = {
    "charts/queues/Chart.yaml": "apiVersion: v2\nname: queues\nversion: 1.0.0\n",
    "charts/queues/values.yaml": "namespace: research\n",
    "charts/queues/values-dev.yaml": "namespace: dev\n",
    "charts/queues/values-prod.yaml": "namespace: prod\n",
    "charts/queues/templates/_helpers.tpl": '{{- define "queues.name" -}}{{ include "x" . }}{{- end }}\n',
    "charts/queues/templates/queue.yaml": LOCAL.replace("NS", "{{ .Values.namespace }}"),
}
TERRAFORM = {
    "terraform/main.tf": """\
variable "gpu_nodes" {}
module "vpc" {
  source = "terraform-aws-modules/vpc/aws"
}
resource "aws_eks_node_group" "h100" {
  cluster_name    = "research"
  node_group_name = "h100"
  instance_types  = ["p5.48xlarge"]
  labels          = { gpu = "h100" }
  scaling_config {
    desired_size = var.gpu_nodes
    min_size     = var.gpu_nodes
    max_size     = var.gpu_nodes
  }
  taint {
    key    = "nvidia.com/gpu"
    effect = "NO_SCHEDULE"
  }
}
resource "helm_release" "gpu_operator" {
  name  = "gpu-operator"
  chart = "gpu-operator"
}
""",
    "terraform/envs/dev.tfvars": "gpu_nodes = 1\n",
    "terraform/envs/prod.tfvars": "gpu_nodes = 4\n",
}
OTHERS = {
    ".github/workflows/ci.yaml": "on: push\njobs:\n  a:\n    steps: [{run: 'echo ${{ github.sha }}'}]\n",
    ".github/kind/queue.yaml": LOCAL.replace("NS", "${{ env.NS }}"),
    "scripts/apply.sh.tftpl": "kubectl apply -f - <<EOF\n" + LOCAL.replace("NS", "${ns}") + "EOF\n",
    "apps/web/deploy.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: <APP>}\nspec: {replicas: $REPLICAS}\n",
    "docs/README.md.gotmpl": '{{ template "chart.header" . }}\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n',
}
HELM = """\
for word in "$@"; do case "$word" in --values=*) values="${word#--values=}";; esac; done
namespace=$(sed -n 's/^namespace: //p' "${values:-charts/queues/values.yaml}")
echo "---"
echo "# Source: queues/templates/queue.yaml"
sed "s/{{ .Values.namespace }}/$namespace/" charts/queues/templates/queue.yaml
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with overlays, a chart and Terraform for two environments, and a stand-in for helm."""
    files = {
        "base/kustomization.yaml": "resources: [queues.yaml]\n",
        "base/queues.yaml": BASE,
        **{f"overlays/{env}/kustomization.yaml": OVERLAY for env in ("dev", "prod")},
        "overlays/dev/quota.yaml": QUOTA.replace("AMOUNT", "8"),
        "overlays/prod/quota.yaml": QUOTA.replace("AMOUNT", "40"),
        **CHART,
        **TERRAFORM,
        **OTHERS,
    }
    for name, text in files.items():
        path = tmp_path / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "helm").write_text(f"#!/bin/sh\n{HELM}")
    (tools / "helm").chmod((tools / "helm").stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def said(result: Result) -> list[tuple[str, str, str, str]]:
    """Rule, severity, cluster and place of everything but notes."""
    found = ((f.rule.id if f.rule else "", f.severity, f.cluster, f.primary.line) for f in result.findings)
    return [each for each in found if each[1] != "note"]


@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="nothing renders kustomizations")
def test_set_up_by_init_alone_check_finds_the_quota_that_is_too_high_and_nothing_else(repository: Path) -> None:
    assert entrypoint.run(["init"]) == 0
    text = (repository / "qcheck.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=https://")
    dev, prod = load_settings().scopes
    assert (dev.name, prod.name) == ("dev", "prod")
    assert [(r.tool, r.path, r.values) for r in prod.render] == [
        ("kustomize", "overlays/prod", ()),
        ("helm", "charts/queues", ("charts/queues/values-prod.yaml",)),
    ]
    assert prod.holds("terraform/envs/prod.tfvars")
    assert prod.holds("terraform/main.tf")
    assert not prod.holds("terraform/envs/dev.tfvars")
    result = audit(["."], load_settings())
    assert said(result) == [("QC101", "error", "prod", "overlays/prod/quota.yaml:7")]
    assert (
        "40 nvidia.com/gpu (research), but the nodes can supply 32: 4 nodes x 8 = 32 (h100)"
        in result.findings[0].message
    )
    assert not result.inputs.unjudged
    assert result.exit_code == 1


@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="nothing renders kustomizations")
def test_without_settings_each_root_and_chart_is_named_once_and_nothing_is_an_error(repository: Path) -> None:
    found = said(audit(["."]))
    assert {severity for _, severity, _, _ in found} == {"warning"}
    assert sorted(place for rule, _, _, place in found if rule == "QC009") == [
        "charts/queues/Chart.yaml:1",
        "overlays/dev/kustomization.yaml:3",
        "overlays/prod/kustomization.yaml:3",
    ]
    assert not {"QC003", "QC011"} & {rule for rule, *_ in found}


def test_a_root_that_changes_nothing_yet_belongs_to_its_cluster(repository: Path) -> None:
    (repository / "overlays/prod/kustomization.yaml").write_text("resources: [../../base]\n")
    (repository / "overlays/prod/quota.yaml").unlink()
    assert entrypoint.run(["init"]) == 0
    dev, prod = load_settings().scopes
    assert prod.holds("overlays/prod/more-queues.yaml")
    assert not prod.holds("overlays/dev/more-queues.yaml")
    assert not dev.holds("overlays/prod/more-queues.yaml")


def test_a_flat_repository_gets_plain_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queues.yaml").write_text(BASE)
    assert entrypoint.run(["init"]) == 0
    settings = load_settings()
    assert [scope.name for scope in settings.scopes] == ["default"]
    assert not settings.renders


@pytest.mark.parametrize(
    ("api", "key", "title"),
    [("scheduling.run.ai/v2", "kai", "KAI"), ("scheduling.volcano.sh/v1beta1", "volcano", "Volcano")],
)
def test_queues_of_another_scheduler_get_its_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: str, key: str, title: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queues.yaml").write_text(f"apiVersion: {api}\nkind: Queue\nmetadata: {{name: research}}\nspec: {{}}\n")
    assert entrypoint.run(["init"]) == 0
    text = Path("qcheck.yaml").read_text()
    assert f"\n{key}:\n  version: " in text
    assert f"{title} queues: 1" in text
    assert "kueue:" not in text
    load_settings()


def test_directories_beside_each_other_with_the_same_objects_are_clusters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pool = (
        "apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {name: h100}\nspec: {count: COUNT, labels: {gpu: h100}, "
    )
    pool += "allocatable: {nvidia.com/gpu: 8}}\n"
    for region, count in (("eu", "1"), ("us", "0")):
        (tmp_path / "infra" / region / "nodes").mkdir(parents=True)
        (tmp_path / "infra" / region / "nodes" / "pools.yaml").write_text(pool.replace("COUNT", count))
        (tmp_path / "infra" / region / "queues.yaml").write_text(BASE)
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "queues.yaml").write_text(BASE)
    assert entrypoint.run(["init"]) == 0
    eu, us = load_settings().scopes
    assert (eu.name, us.name) == ("eu", "us")
    assert not us.holds("infra/eu/queues.yaml")
    found = said(audit(["."], load_settings()))
    assert [(severity, cluster) for rule, severity, cluster, _ in found if rule == "QC101"] == [("error", "us")]


def test_applications_tell_values_names_and_clusters(repository: Path) -> None:
    shutil.rmtree(repository / "overlays")
    application = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: queues-ENV}
spec:
  source: {path: charts/queues, helm: {valueFiles: [values-ENV.yaml]}}
  destination: {name: ENV, namespace: kueue-system}
"""
    for env in ("dev", "prod"):
        (repository / f"argocd-{env}.yaml").write_text(application.replace("ENV", env))
    assert entrypoint.run(["init"]) == 0
    _, prod = load_settings().scopes
    (render,) = prod.render
    assert (render.path, render.values) == ("charts/queues", ("charts/queues/values-prod.yaml",))
    assert (render.release, render.namespace) == ("queues-prod", "kueue-system")


def test_what_no_tool_renders_here_is_left_as_a_comment(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    assert entrypoint.run(["init"]) == 0
    assert not load_settings().renders
    assert (
        "# Not rendered, because helm and kustomize are not installed (prod):"
        in (repository / "qcheck.yaml").read_text()
    )


def test_directories_with_the_name_of_a_cluster_are_one_pattern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for env in ("dev", "prod"):
        for folder, name in (("clusters", "h100"), ("teams/vision", "a100"), ("teams/speech", "l4")):
            path = tmp_path / folder / env / "flavors.yaml"
            path.parent.mkdir(parents=True)
            path.write_text(f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\n")
    common = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 100\n"
    (tmp_path / "teams" / "classes.yaml").write_text(common)
    assert entrypoint.run(["init"]) == 0
    scopes = load_settings().scopes
    assert [(s.name, s.include) for s in scopes] == [
        ("dev", ("**/dev/**", "/teams/classes.yaml")),
        ("prod", ("**/prod/**", "/teams/classes.yaml")),
    ]
    assert not [f for f in audit(["."], load_settings()).findings if f.rule and f.rule.id == "QC011"]


def test_directories_whose_names_are_patterns_contain_only_their_own_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: h100}\n"
    names = ("#1", "!a", "[ab]", "a", "b", "~c", "x!#~")
    for name in names:
        path = tmp_path / name / "flavors.yaml"
        path.parent.mkdir()
        path.write_text(flavor)
    assert entrypoint.run(["init"]) == 0
    settings = load_settings()
    assert sorted(s.name for s in settings.scopes) == sorted(names)
    for scope in settings.scopes:
        patterns = [Pattern(each) for each in scope.include]
        assert [n for n in names if any(p.match(f"{n}/flavors.yaml") for p in patterns)] == [scope.name]


@pytest.mark.parametrize(
    ("folders", "clusters"),
    [
        (
            ("cmd/demo", "site/examples/admin", "site/examples/remote"),
            {"admin": ("site/examples/admin/**",), "cmd": ("cmd/**",), "remote": ("site/examples/remote/**",)},
        ),
        (
            ("east/team-a", "east/team-b", "west/team-a", "west/team-b"),
            {"east": ("east/**",), "west": ("west/**",)},
        ),
    ],
)
def test_a_directory_of_environments_is_none_itself_but_regions_are(
    folders: tuple[str, ...], clusters: dict[str, tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in folders:
        path = tmp_path / folder / "flavors.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(BASE.replace("gpu: h100", f"gpu: {folder.replace('/', '-')}"))
    assert entrypoint.run(["init"]) == 0
    assert {s.name: s.include for s in load_settings().scopes} == clusters
