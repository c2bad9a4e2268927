"""Manifests inside Terraform: those that cannot be told are named, those of other things are nobody's business."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from manifests import cluster_queue

from qcheck.api import audit
from qcheck.cluster.problems import Problem
from qcheck.pipeline.fix import fixed_files
from qcheck.pipeline.gather import gather
from qcheck.settings import Settings


def problems(folder: Path, body: str) -> tuple[Problem, ...]:
    (folder / "main.tf").write_text(f'variable "pool" {{}}\nresource "kubectl_manifest" "a" {{\n{body}}}\n')
    return gather([str(folder)], Settings()).clusters[0].problems


OPAQUE = {
    "a variable": ("  manifest = var.pool\n", "manifest of kubectl_manifest.a is var.pool, which has no value here", 3),
    "a kind that is computed": (
        '  manifest = {\n    apiVersion = "karpenter.sh/v1"\n    kind = var.pool\n    spec = {}\n  }\n',
        "kind of kubectl_manifest.a is var.pool",
        5,
    ),
    "text with a gap": (
        "  yaml_body = <<-YAML\n    kind: NodePool\n    spec: ${var.pool}\n  YAML\n",
        "yaml_body of kubectl_manifest.a is var.pool",
        3,
    ),
    "each of an unknown number": (
        "  for_each = var.pool\n  manifest = each.value\n",
        "manifest of kubectl_manifest.a is for_each = var.pool",
        4,
    ),
}


@pytest.mark.parametrize("case", OPAQUE)
def test_a_manifest_that_cannot_be_told_is_named(case: str, tmp_path: Path) -> None:
    body, message, line = OPAQUE[case]
    (problem,) = problems(tmp_path, body)
    assert problem.code == "capacity-unknown"
    assert problem.message.startswith(message)
    assert "terraform show -json" in problem.help
    assert problem.place.span[0] == line


QUIET = {
    "of another kind": '  manifest = {\n    apiVersion = "v1"\n    kind = "ConfigMap"\n    data = var.pool\n  }\n',
    "in a file that is read": '  manifest = yamldecode(file("pool.yaml"))\n',
    "text of another kind": "  yaml_body = <<-YAML\n    kind: ConfigMap\n  YAML\n",
    "text of another kind with a gap": "  yaml_body = <<-YAML\n    kind: Application\n    spec: ${var.pool}\n  YAML\n",
    "text that is no YAML": "  yaml_body = <<-YAML\n    a: [\n  YAML\n",
}


@pytest.mark.parametrize("case", QUIET)
def test_other_manifests_are_left_alone(case: str, tmp_path: Path) -> None:
    assert problems(tmp_path, QUIET[case]) == ()


NODES = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec: {count: 4, labels: {gpu: h100}, allocatable: {nvidia.com/gpu: 8}}
"""
QUEUES = """\
variable "quota" {}
variable "cohort" { default = null }
resource "kubernetes_manifest" "flavor" {
  manifest = {
    apiVersion = "kueue.x-k8s.io/v1beta2"
    kind       = "ResourceFlavor"
    metadata   = { name = "h100" }
    spec       = { nodeLabels = { gpu = "h100" } }
  }
}
resource "kubernetes_manifest" "queue" {
  manifest = {
    apiVersion = "kueue.x-k8s.io/v1beta2"
    kind       = "ClusterQueue"
    metadata   = { name = "team" }
    spec = {
      cohortName        = var.cohort
      namespaceSelector = {}
      resourceGroups = [{
        coveredResources = ["nvidia.com/gpu"]
        flavors = [{ name = "h100", resources = [{ name = "nvidia.com/gpu", nominalQuota = QUOTA }] }]
      }]
    }
  }
}
resource "kubectl_manifest" "local" {
  yaml_body = <<-YAML
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: team, namespace: team}
    spec: {clusterQueue: taem}
  YAML
}
"""


def found(folder: Path, quota: str) -> dict[str, tuple[str, int]]:
    """Severity and line by rule of what is found about queues that Terraform applies."""
    (folder / "nodes.yaml").write_text(NODES)
    (folder / "main.tf").write_text(QUEUES.replace("QUOTA", quota))
    findings = audit([str(folder)]).findings
    return {f.rule.id: (f.severity, f.primary.span[0]) for f in findings if f.rule and f.severity != "note"}


def test_queues_that_terraform_applies_are_judged(tmp_path: Path) -> None:
    assert found(tmp_path, "40") == {"QC101": ("error", 21), "QC402": ("error", 31)}


def test_a_queue_that_cannot_be_told_may_be_any(tmp_path: Path) -> None:
    assert found(tmp_path, "var.quota") == {"QC009": ("warning", 21), "QC402": ("warning", 31)}


HEREDOC = """\
resource "kubectl_manifest" "queue" {
  for_each  = toset(["vision", "speech"])
  yaml_body = <<-YAML
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: "${each.key}-TEXT"}
    spec: {namespaceSelector: {}}
  YAML
}
"""
LOCAL_QUEUES = "---\n".join(
    f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {{name: {name}, namespace: team}}\n"
    f"spec: {{clusterQueue: {name}}}\n"
    for name in ("vision-a", "speech-a", "text-a")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [("QC402", "error", "text-a")]),
        ('${lower("A")}', [("QC402", "error", "text-a")]),
        ("$${x}", [("QC402", "error", name) for name in ("speech-a", "text-a", "vision-a")]),
        (
            "${var.size}",
            [("QC009", "warning", "var.size"), *(("QC402", "warning", f"{n}-a") for n in ("speech", "text", "vision"))],
        ),
        (
            "%{ if true }a%{ endif }",
            [("QC009", "warning", "if true"), *(("QC402", "warning", f"{n}-a") for n in ("speech", "text", "vision"))],
        ),
    ],
)
def test_interpolations_in_heredocs_are_resolved_or_named(
    tmp_path: Path, text: str, expected: list[tuple[str, str, str]]
) -> None:
    (tmp_path / "main.tf").write_text(HEREDOC.replace("TEXT", text))
    (tmp_path / "queues.yaml").write_text(LOCAL_QUEUES)
    findings = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id in ("QC009", "QC402")]
    assert sorted({(f.rule.id, str(f.severity)) for f in findings if f.rule}) == sorted({e[:2] for e in expected})
    assert all(any(word in f.message for f in findings) for _, _, word in expected)


FLAVOR = """\
resource "kubectl_manifest" "flavor" {
  yaml_body = yamlencode({
    apiVersion = "kueue.x-k8s.io/v1beta2", kind = "ResourceFlavor"
    metadata = { name = "h100" }, spec = { nodeLabels = { gpu = LABEL } }
  })
}
"""


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('"h100"', {("QC101", "error")}),
        ("data.cluster.gpu", {("QC009", "warning"), ("QC401", "warning")}),
    ],
)
def test_what_yamlencode_makes_is_read(tmp_path: Path, label: str, expected: set[tuple[str, str]]) -> None:
    (tmp_path / "main.tf").write_text(FLAVOR.replace("LABEL", label))
    (tmp_path / "all.yaml").write_text(f"{NODES}---\n{cluster_queue(40)}")
    findings = audit([str(tmp_path)]).findings
    assert {(f.rule.id, str(f.severity)) for f in findings if f.rule and f.severity != "note"} == expected


@pytest.mark.parametrize(("default", "severity"), [("", "warning"), ("default = true", "error")])
def test_findings_about_what_may_not_exist_are_warnings(tmp_path: Path, default: str, severity: str) -> None:
    lines = cluster_queue(40).replace("\n", "\n    ")
    body = f"  count = var.on ? 1 : 0\n  yaml_body = <<-YAML\n    {lines}\n  YAML\n"
    queue = f'resource "kubectl_manifest" "queue" {{\n{body}}}\n'
    flavor = FLAVOR.replace("LABEL", '"h100"')
    (tmp_path / "main.tf").write_text(f'variable "on" {{ {default} }}\n{flavor}{queue}')
    (tmp_path / "nodes.yaml").write_text(NODES)
    findings = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id == "QC101"]
    assert [str(f.severity) for f in findings] == [severity]


BROKEN = """\
resource "kubectl_manifest" "queue" {
  yaml_body = <<-YAML
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: team}
    spec: BODY
  YAML
}
resource "kubectl_manifest" "local" {
  yaml_body = "apiVersion: kueue.x-k8s.io/v1beta2\\nkind: LocalQueue\\nmetadata: {name: a}\\nspec: {clusterQueue: team}\\n"
}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("{namespaceSelector: [}", [("QC001", "error", 6, 32), ("QC402", "warning", 10, 3)]),
        ("{cohortName: a, cohortName: b}", [("QC002", "error", 6, 27)]),
        ("{cohortName: '{{ cohort }}'}", [("QC003", "error", 6, 24)]),
    ],
    ids=["syntax", "repeated key", "no template"],
)
def test_faults_of_the_text_are_found_at_their_line(
    tmp_path: Path, body: str, expected: list[tuple[str, str, int, int]]
) -> None:
    (tmp_path / "main.tf").write_text(BROKEN.replace("BODY", body))
    findings = [
        f
        for f in audit([str(tmp_path)]).findings
        if f.rule and f.rule.id in ("QC001", "QC002", "QC003", "QC009", "QC402")
    ]
    assert [(f.rule.id, str(f.severity), *f.primary.span[:2]) for f in findings if f.rule] == expected


def test_faults_of_a_text_on_one_line_point_to_it(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(BROKEN.replace("BODY", "{}").replace("{clusterQueue: team}", "[}"))
    (found,) = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id == "QC001"]
    assert found.primary.span[0] == 10
    assert found.primary.caption == "line 4 of the text"
    assert found.message.startswith("yaml_body of kubectl_manifest.local: ")


def test_faults_of_the_text_in_a_plan_are_found(tmp_path: Path) -> None:
    values = {"yaml_body": "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nspec: [}\n"}
    resource = {
        "address": "kubectl_manifest.a",
        "type": "kubectl_manifest",
        "name": "a",
        "values": values,
        "mode": "managed",
    }
    plan = {
        "format_version": "1.2",
        "terraform_version": "1.9",
        "planned_values": {"root_module": {"resources": [resource]}},
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan, indent=1))
    (found,) = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id == "QC001"]
    assert found.primary.origin.path.endswith("plan.json")
    assert found.primary.span[0] == next(
        n for n, t in enumerate(json.dumps(plan, indent=1).split("\n"), 1) if "yaml_body" in t
    )


OLD_QUEUES = """\
variable "amount" { default = 20000 }
resource "kubernetes_manifest" "object" {
  manifest = {
    apiVersion = "kueue.x-k8s.io/v1beta1"
    kind       = "ClusterQueue"
    metadata   = { name = "object" }
    spec = {
      cohort            = "all"
      namespaceSelector = {}
      resourceGroups = [{ coveredResources = ["cpu", "memory"], flavors = [{ name = "any", resources = [
        { name = "cpu", nominalQuota = 20000 }, { name = "memory", nominalQuota = "1024Gi" }] }] }]
    }
  }
}
resource "kubectl_manifest" "encoded" {
  yaml_body = yamlencode({
    apiVersion = "kueue.x-k8s.io/v1beta1"
    kind       = "ClusterQueue"
    metadata   = { name = "encoded" }
    spec = {
      cohort            = "all"
      namespaceSelector = {}
      resourceGroups = [{ coveredResources = ["cpu"], flavors = [{ name = "any", resources = [
        { name = "cpu", nominalQuota = var.amount }] }] }]
    }
  })
}
resource "kubectl_manifest" "text" {
  yaml_body = <<-YAML
    apiVersion: kueue.x-k8s.io/v1beta1
    kind: ClusterQueue
    metadata: {name: "${"text"}"}
    spec:
      cohort: all
      namespaceSelector: {}
      resourceGroups:
        - coveredResources: [cpu, memory]
          flavors:
            - name: any
              resources: [{name: cpu, nominalQuota: ${var.amount}}, {name: memory, nominalQuota: 1024Gi}]
  YAML
}
"""


def test_places_in_objects_that_terraform_applies_are_lines_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(OLD_QUEUES)
    findings = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id in ("QC008", "QC401")]
    lines = sorted(p.span[0] for f in findings for p in (f.primary, *f.related))
    assert lines == [10, 11, 11, 23, 24, 39, 40, 40]


def test_fixes_in_objects_that_terraform_applies_are_valid_configuration(tmp_path: Path) -> None:
    path = tmp_path / "main.tf"
    path.write_text(OLD_QUEUES)
    (fixed,) = fixed_files([str(tmp_path)], Settings(), lambda *_: None)
    wanted = (
        OLD_QUEUES.replace("v1beta1", "v1beta2").replace("cohort ", "cohortName ").replace("cohort:", "cohortName:")
    )
    assert fixed.after == wanted.replace("= 20000 }, {", '= "20k" }, {').replace("1024Gi", "1Ti")
    assert fixed.objects == 3
    path.write_text(fixed.after)
    assert {f.rule.id for f in audit([str(path)]).findings if f.rule} >= {"QC008", "QC401"}
    assert fixed_files([str(tmp_path)], Settings(), lambda *_: None) == []
