"""What kustomizations take in and change: such objects are not read raw, roots that are not rendered are named once, and
findings in rendered text point to the base or patch that holds the value."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.cli.entrypoint import run
from qcheck.cluster.value import replace
from qcheck.findings.result import Result
from qcheck.pipeline import kustomizations
from qcheck.settings import Settings
from qcheck.settings.load import load_settings

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: queue-a}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]
"""
LOCAL = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: gpu}\nspec: {clusterQueue: a}\n"
NODES = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec: {count: 2, labels: {gpu: h100}, taints: [{key: nvidia.com/gpu, effect: NoSchedule}], allocatable: {nvidia.com/gpu: 8}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {gpu: h100}, tolerations: [{key: nvidia.com/gpu, operator: Exists}]}
"""
RENDERER = shutil.which("kustomize") or shutil.which("kubectl")
needs_kustomize = pytest.mark.skipif(RENDERER is None, reason="neither kustomize nor kubectl is installed")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(**files: str) -> None:
    """Files by path; `__` stands for `/`, and `_yaml` for the ending."""
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(result: Result, *rules: str) -> list[tuple[str, str, str]]:
    return [
        (f.rule.id, f.severity, f.primary.line)
        for f in result.findings
        if f.rule and (f.rule.id in rules or (not rules and f.severity != "note"))
    ]


def rendering() -> Settings:
    settings = load_settings()
    return replace(settings, scopes=tuple(replace(s, renders_all=True) for s in settings.scopes))


def test_a_list_of_resources_changes_nothing() -> None:
    written(nodes=NODES, base__kustomization="resources: [q.yaml]\n", base__q=QUEUE.replace("16", "24"))
    assert found(audit(["."])) == [("QC101", "error", "base/q.yaml:8")]


@pytest.mark.parametrize(
    "change",
    [
        "namespace: team\n",
        "namePrefix: x-\n",
        "nameSuffix: -x\n",
        "labels: [{pairs: {kueue.x-k8s.io/queue-name: gpu}}]\n",
        "patches: [{target: {kind: LocalQueue}, patch: '[{op: replace, path: /spec/clusterQueue, value: b}]'}]\n",
        "patches: [{path: p.yaml}]\n",
        "patchesStrategicMerge: [p.yaml]\n",
        "replacements: [{source: {kind: ConfigMap}, targets: [{select: {kind: LocalQueue}, fieldPaths: [spec]}]}]\n",
        "transformers: [t.yaml]\n",
    ],
)
def test_what_a_kustomization_changes_is_not_read_raw(change: str) -> None:
    """The queue of the base names a ClusterQueue that does not exist; what it becomes is not known."""
    written(
        nodes=NODES, q=QUEUE.replace("queue-a", "other"), base__kustomization="resources: [lq.yaml]\n", base__lq=LOCAL
    )
    assert found(audit(["."])) == [("QC402", "error", "base/lq.yaml:4")]
    written(over__kustomization=f"resources: [../base]\n{change}", **({"over__p": LOCAL} if "p.yaml" in change else {}))
    assert found(audit(["."])) == [("QC009", "warning", "over/kustomization.yaml:2")]


@pytest.mark.parametrize(
    ("key", "rules"),
    [
        ("argocd.argoproj.io/sync-options", ["QC009"]),
        ("capacity.cluster-autoscaler.kubernetes.io/gpu-count", ["QC009"] * 2),
    ],
    ids=["a tool's", "an autoscaler's"],
)
def test_annotations_change_objects_if_something_acts_on_them(key: str, rules: list[str]) -> None:
    """The machines of the overlay count, or not; another overlay changes them for certain."""
    machines = (
        "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {name: gpus, namespace: m}\n"
        "spec: {replicas: 2, template: {spec: {providerSpec: {value: {instanceType: p5.48xlarge}}}}}\n"
    )
    written(
        over__kustomization=f'resources: [m.yaml]\ncommonAnnotations: {{{key}: "1"}}\n',
        over__m=machines,
        other__kustomization="resources: [n.yaml]\nnamePrefix: x-\n",
        other__n=machines.replace("gpus", "more"),
        queue=QUEUE,
    )
    told = [f.rule.id for f in audit(["."]).findings if f.rule]
    assert [rule for rule in told if rule == "QC009"] == rules


PROBE = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: probe, namespace: agents}
spec:
  selector: {matchLabels: {app: probe}}
  template:
    metadata: {labels: {app: probe}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: registry.example/probe:1, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("labels: [{pairs: {env: prod}}]\n", "2 nodes x (8 - 1 for DaemonSets) = 14"),
        ("labels: [{pairs: {env: prod}, includeSelectors: true}]\n", "QC009"),
        (
            "patches: [{target: {kind: DaemonSet}, patch: '[{op: remove, path: /spec/template/spec/nodeSelector}]'}]\n",
            "QC009",
        ),
    ],
    ids=["labels of objects", "labels of pods", "a patch"],
)
def test_a_daemon_set_that_takes_gpus_is_read_or_reported(change: str, expected: str) -> None:
    written(nodes=NODES, q=QUEUE, over__kustomization=f"resources: [p.yaml]\n{change}", over__p=PROBE)
    findings = audit(["."]).findings
    told = [f"{f.rule and f.rule.id} {f.message}" for f in findings if f.rule and f.rule.id in ("QC009", "QC101")]
    assert any(expected in each for each in told), told


def test_what_it_does_not_change_is_read(tmp_path: Path) -> None:
    written(
        nodes=NODES,
        over__kustomization="""\
resources: [q.yaml]
images: [{name: a, newTag: b}]
commonLabels: {app: queues}
configMapGenerator: [{name: links, literals: ["URL=https://x.example/{{ .Namespace }}"]}]
patches: [{path: p.yaml}]
""",
        over__q=QUEUE.replace("16", "24"),
        over__p="apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: m}\nspec: {replicas: 2}\n",
    )
    result = audit(["."])
    assert found(result) == [("QC101", "error", "over/q.yaml:8")]
    assert [n.path for n in result.inputs.not_read] == ["over/p.yaml"]


def test_a_missing_object_that_a_root_may_define_is_no_error() -> None:
    job = """\
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: team, labels: {kueue.x-k8s.io/queue-name: gpu}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}}
"""
    written(nodes=NODES, a=QUEUE.replace("queue-a", "a"), b=LOCAL.replace("gpu", "other"), job=job)
    assert found(audit(["."])) == [("QC403", "error", "job.yaml:3")]
    written(over__kustomization="namespace: team\nresources: [lq.yaml]\n", over__lq=LOCAL)
    assert found(audit(["."])) == [
        ("QC403", "warning", "job.yaml:3"),
        ("QC009", "warning", "over/kustomization.yaml:1"),
    ]


def test_bases_from_elsewhere_are_named_and_plugins_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    written(nodes=NODES, over__lq=LOCAL, over__kustomization="""\
namespace: team
resources: [lq.yaml, "github.com/team/queues//base?ref=v1", "https://github.com/kubernetes-sigs/kueue/config"]
helmCharts: [{name: x}]
""")  # fmt: skip
    (problem,) = audit(["."], rendering()).findings
    assert "github.com/team/queues//base?ref=v1, which qcheck never downloads" in problem.message
    assert "helmCharts, which qcheck never runs" in problem.message
    assert "kubernetes-sigs" not in problem.message


def test_what_kustomize_writes_as_text_is_not_asked_of_the_files() -> None:
    written(nodes=NODES, base__q=QUEUE.replace("{name: queue-a}", "{name: a, annotations: {keep: 1440}}"))
    assert found(audit(["."])) == [("QC003", "error", "base/q.yaml:3")]
    written(base__kustomization="resources: [q.yaml]\n")
    assert found(audit(["."])) == []


def test_a_template_of_a_kustomization_is_none() -> None:
    written(
        nodes=NODES,
        q=QUEUE,
        new__kustomization="resources: [../base]\n{% if private %}\ncomponents: [x]\n{% endif %}\n",
    )
    assert found(audit(["."])) == []


def test_a_kustomization_that_cannot_be_read_says_so() -> None:
    written(nodes=NODES, over__lq=LOCAL, over__kustomization="resources: [\n")
    assert found(audit(["."])) == [("QC001", "error", "over/kustomization.yaml:1")]


@needs_kustomize
def test_roots_are_rendered_when_asked_and_findings_point_to_what_holds_the_value() -> None:
    written(
        nodes=NODES,
        base__kustomization="resources: [q.yaml]\n",
        base__q=QUEUE.replace("queue-a", "a") + "---\n" + LOCAL,
        over__kustomization="""\
namespace: team
namePrefix: x-
resources: [../base]
patches:
  - target: {kind: ClusterQueue}
    patch: |-
      - {op: replace, path: /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota, value: 24}
  - path: lq.yaml
""",
        over__lq=LOCAL.replace("clusterQueue: a", "clusterQueue: b"),
    )
    result = audit(["."], rendering())
    quota, queue = ("QC101", "error", "over/kustomization.yaml:7"), ("QC402", "error", "over/lq.yaml:4")
    assert found(result) == [quota, queue]
    assert [f.object.name for f in result.findings if f.rule and f.rule.id == "QC101" and f.object] == ["x-a"]
    assert not result.inputs.not_read
    patch = Path("over/lq.yaml")
    patch.write_text(patch.read_text().replace("b}", "b}  # qcheck: ignore[QC402] it follows"))
    assert found(audit(["."], rendering())) == [quota]


@needs_kustomize
def test_what_is_rendered_is_not_read_raw_from_anywhere() -> None:
    """Twice the same 16 would be a duplicate, or too much."""
    written(
        nodes=NODES,
        over__kustomization="namespace: team\nresources: [q.yaml]\n",
        over__q=QUEUE.replace("queue-a", "a") + "---\n" + LOCAL,
        qcheck="render: [{kustomize: over}]\n",
    )
    for paths in (["."], ["nodes.yaml", "over/q.yaml"], ["over", "nodes.yaml"]):
        assert found(audit(paths, load_settings())) == []
    Path("qcheck.yaml").write_text("render: auto\n")
    assert found(audit(["."], load_settings())) == []


def test_what_stands_on_standard_input_is_not_read_raw(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    written(nodes=NODES, over__kustomization="namespace: team\nresources: [q.yaml]\n", over__q=QUEUE + "---\n" + LOCAL)
    text = QUEUE.replace("queue-a", "a") + "---\n" + LOCAL.replace("{name: gpu}", "{name: gpu, namespace: team}")
    written(over__q=QUEUE.replace("queue-a", "a") + "---\n" + LOCAL)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert found(audit(["-", "."])) == []


def test_without_a_renderer_auto_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.getcwd())
    written(nodes=NODES, over__kustomization="namespace: team\nresources: [lq.yaml]\n", over__lq=LOCAL)
    result = audit(["."], rendering())
    assert found(result) == [("QC009", "warning", "over/kustomization.yaml:1")]
    assert "neither kustomize nor kubectl is installed" in result.findings[0].message


def test_many_patches_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"p{number}" for number in range(9)]
    written(
        nodes=NODES,
        q=QUEUE,
        over__kustomization=f"resources: [d.yaml]\npatches: [{', '.join(f'{{path: {n}.yaml}}' for n in names)}]\n",
        over__d=PROBE.replace("nvidia.com/gpu", "cpu"),
        **{f"over__{name}": PROBE for name in names},
    )
    assert run(["check"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "a patch of a kustomization" in line]
    assert len(lines) == 1, lines
    assert " and 6 more: a patch" in lines[0]


@pytest.mark.parametrize("leaf", ["[queue.yaml]", "[]"])
def test_kustomizations_with_many_ways_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaf: str) -> None:
    """There are 2^29 ways from the first one to the last."""
    monkeypatch.chdir(tmp_path)
    for number in range(30):
        folder = tmp_path / f"k{number}"
        folder.mkdir()
        below = leaf if number == 29 else f"[../k{number + 1}, ../k{number + 1}/.]"
        (folder / "kustomization.yaml").write_text(f"resources: {below}\nnamePrefix: a-\n")
    (tmp_path / "k29" / "queue.yaml").write_text(QUEUE)
    unrendered = [f for f in audit(["."]).findings if f.rule and f.rule.id == "QC009"]
    assert [f.primary.origin.path for f in unrendered] == ["k0/kustomization.yaml"]
    assert ("does not follow all of them" in unrendered[0].message) == (leaf == "[]")


@pytest.mark.parametrize(("levels", "is_complete"), [(32, True), (33, False)])
def test_a_kustomization_that_is_too_deep_to_follow_is_reported(levels: int, is_complete: bool) -> None:
    for number in range(levels + 1):
        below = f"../k{number + 1}" if number < levels else "queue.yaml"
        written(**{f"k{number}__kustomization": f"resources: [{below}]\n"})
    written(nodes=NODES, **{f"k{levels}__queue": QUEUE})
    result = audit(["."])
    assert [f.primary.origin.path for f in result.findings] == ([] if is_complete else ["k0/kustomization.yaml"])
    assert all("more than 32 levels deep" in f.message for f in result.findings)


def test_a_kustomization_may_list_any_number_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kustomizations, "MOST_REACHED", 2)
    names = [f"k{number}" for number in range(20)]
    written(nodes=NODES, kustomization=f"resources: [{', '.join(names)}]\n")
    written(**{f"{name}__kustomization": "resources: [queue.yaml]\nnamePrefix: a-\n" for name in names})
    written(**{f"{name}__queue": QUEUE.replace("queue-a", name) for name in names})
    result = audit(["."])
    assert found(result) == [("QC009", "warning", "kustomization.yaml:1")]
    assert "it changes ClusterQueue k0" in result.findings[0].message
