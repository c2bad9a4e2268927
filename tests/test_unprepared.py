"""Repositories that nobody prepared: a claim is an error only where every reading of the files bears it out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from manifests import FLAVOR, cluster_queue, local_queue

from qcheck.api import audit
from qcheck.cli.entrypoint import run as front
from qcheck.cluster.policy import Policy, Release
from qcheck.settings import ClusterScope, Settings

if TYPE_CHECKING:
    from pathlib import Path

NODES = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec: {count: 2, labels: {gpu: h100}, allocatable: {cpu: "96", memory: 900Gi, pods: 110, nvidia.com/gpu: 8}}
"""
QUEUE = "---\n".join([
    cluster_queue({"cpu": 96, "memory": "900Gi", "nvidia.com/gpu": "AMOUNT"}),
    local_queue("team", name="team"),
])  # fmt: skip
PYTORCH_JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec: {containers: [{name: pytorch, image: trainer, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}}}]}
"""
MANAGER = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {timeout: 10m}
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(repository: Path, files: dict[str, str], *rules: str) -> list[tuple[str, str]]:
    """Rule and severity of each finding of some rules."""
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = [(f.rule.id if f.rule else "", f.severity) for f in audit(["."]).findings]
    return sorted(each for each in found if each[0] in rules)


def test_a_configuration_is_judged_by_its_own_feature_gates(repository: Path) -> None:
    gates = "featureGates: {KueueDRAIntegration: true, KueueDRAIntegrationConsumableCapacity: true}\n"
    sources = "[{capacity: {name: memory, driver: gpu.example.com, deviceSelector: {cel: {expression: 'true'}}}}]"
    devices = f"[{{name: gpu.memory, deviceClassNames: [gpu.example.com], sources: {sources}}}]"
    mapped = f"{MANAGER}resources: {{deviceClassMappings: {devices}}}\n"
    configs = {"a/config.yaml": MANAGER, "b/config.yaml": f"{mapped}{gates}"}
    assert said(repository, configs, "QC701") == []
    assert said(repository, {"a/config.yaml": f"{MANAGER}{gates}", "b/config.yaml": mapped}, "QC701") != []


def test_what_one_of_two_configurations_lacks_is_no_error(repository: Path) -> None:
    queues = {
        "nodes.yaml": NODES,
        "queues.yaml": f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '16')}",
        "job.yaml": PYTORCH_JOB,
    }
    lacking = f"{MANAGER}integrations: {{frameworks: [batch/job]}}\n"
    having = f"{MANAGER}integrations: {{frameworks: [batch/job, kubeflow.org/pytorchjob]}}\n"
    assert said(repository, {**queues, "dev/config.yaml": lacking}, "QC606") == [("QC606", "error")]
    assert said(repository, {"prod/config.yaml": lacking}, "QC606") == [("QC606", "error")]
    assert said(repository, {"prod/config.yaml": having}, "QC606") == [("QC606", "warning")]


def test_what_one_of_two_definitions_promises_is_no_error(repository: Path) -> None:
    once = {"nodes.yaml": NODES, "flavor.yaml": FLAVOR, "dev/queue.yaml": QUEUE.replace("AMOUNT", "40")}
    assert said(repository, once, "QC011", "QC101") == [("QC101", "error")]
    again = {"prod/queue.yaml": QUEUE.replace("AMOUNT", "8")}
    assert said(repository, again, "QC011", "QC101") == [("QC011", "error"), ("QC101", "warning")]


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_has_one_of_three_names(repository: Path, name: str) -> None:
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n"
    assert said(repository, {"patch.yaml": patch, "nodes.yaml": NODES}, "QC003") != []
    assert said(repository, {name: "resources: [nodes.yaml]\npatches: [{path: patch.yaml}]\n"}, "QC003") == []


@pytest.mark.parametrize(
    ("kind", "spec", "change"),
    [
        ("ClusterQueue", "spec: {requestableResources: []}", "spec.requestableResources is resourceGroups there"),
        ("Cohort", "spec: {parent: root}", "spec.parent is parentName there"),
        ("ResourceFlavor", "labels: {gpu: h100}", "labels is spec.nodeLabels there"),
        ("Queue", "spec: {clusterQueue: team}", "v1beta2 and kind: LocalQueue"),
    ],
)
def test_the_way_from_an_old_version_is_told_whole(repository: Path, kind: str, spec: str, change: str) -> None:
    (repository / "a.yaml").write_text(
        f"apiVersion: kueue.x-k8s.io/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\n{spec}\n"
    )
    [found] = [f for f in audit(["."]).findings if f.rule and f.rule.id == "QC005"]
    assert change in (found.help or "")


def test_what_spark_completes_to_a_pod_is_no_object(repository: Path) -> None:
    part = "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector: {pool: spark}\n  containers: [{name: executor}]\n"
    assert said(repository, {"executor-pod-template.yaml": part, "nodes.yaml": NODES}, "QC003", "QC210") == []
    assert said(repository, {"executor.yaml": part}, "QC003") != []


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: NAME, namespace: argocd}
spec:
  source:
    repoURL: https://charts.example.com
    chart: CHART
    helm: {valuesObject: VALUES}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: NAME, namespace: flux-system}
spec:
  chart: {spec: {chart: CHART, sourceRef: {kind: HelmRepository, name: example}}}
  values: VALUES
"""
APPLICATION_SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: NAME, namespace: argocd}
spec:
  generators: [{clusters: {}}]
  template:
    metadata: {name: '{{name}}'}
    spec: {source: {repoURL: https://charts.example.com, chart: CHART, helm: {values: "VALUES"}}}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {gpu: b200}
      containers: [{name: main, image: trainer, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 8}}}]
"""


@pytest.mark.parametrize("form", [APPLICATION, RELEASE, APPLICATION_SET], ids=["application", "release", "set"])
def test_charts_of_applications_may_bring_nodes_and_queues(repository: Path, form: str) -> None:
    files = {
        "nodes.yaml": NODES,
        "queues.yaml": f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '8')}",
        "job.yaml": JOB,
        "apps/monitoring.yaml": form.replace("NAME", "monitoring").replace("CHART", "grafana").replace("VALUES", "{}"),
    }
    rules = ("QC009", "QC210", "QC403")
    assert said(repository, files, *rules) == [("QC210", "error"), ("QC403", "error")]
    pools = (
        form.replace("NAME", "gpu").replace("CHART", "machines").replace("VALUES", "{nodePools: {b200: {count: 2}}}")
    )
    assert said(repository, {"apps/gpu.yaml": pools}, *rules) == [("QC210", "warning"), ("QC403", "error")]
    queues = form.replace("NAME", "team-queues").replace("CHART", "tenants").replace("VALUES", "{teams: [research]}")
    more = said(repository, {"apps/queues.yaml": queues}, *rules)
    assert more == [("QC009", "warning"), ("QC210", "warning"), ("QC403", "warning")]


@pytest.mark.parametrize(
    ("name", "chart", "values"),
    [
        ("monitoring", "prom-stack", "{nodeSelector: {cloud.google.com/gke-nodepool: infra}}"),
        ("broker", "message-broker", "{nodeSelector: {eks.amazonaws.com/nodegroup: infra}, queueName: research}"),
        ("storage", "ceph-cluster", "{cephBlockPools: [{name: block}]}"),
        ("kueue", "kueue", "{managerConfig: {controllerManagerConfigYaml: 'manageJobsWithoutQueueName: true'}}"),
        ("minio", "minio-tenant", "{pools: [{servers: 4}]}"),
    ],
)
def test_values_that_only_refer_to_nodes_and_queues_bring_none(
    repository: Path, name: str, chart: str, values: str
) -> None:
    form = APPLICATION.replace("NAME", name).replace("CHART", chart).replace("VALUES", values)
    files = {
        "nodes.yaml": NODES,
        "queues.yaml": f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '8')}",
        "job.yaml": JOB,
        "app.yaml": form,
    }
    assert said(repository, files, "QC009", "QC210", "QC403") == [("QC210", "error"), ("QC403", "error")]


@pytest.mark.parametrize(
    "values", ["'workerNodeGroups: [{name: b200}]'", "'gpu: {instanceType: p6-b200.48xlarge}'"], ids=["groups", "types"]
)
def test_values_that_an_application_holds_as_text_count(repository: Path, values: str) -> None:
    form = APPLICATION_SET.replace('"VALUES"', values).replace("NAME", "capacity").replace("CHART", "capacity")
    files = {
        "nodes.yaml": NODES,
        "queues.yaml": f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '8')}",
        "job.yaml": JOB,
        "app.yaml": form,
    }
    assert said(repository, files, "QC210", "QC403") == [("QC210", "warning"), ("QC403", "error")]


def test_values_inside_an_application_are_named(repository: Path) -> None:
    chart = {
        "charts/queues/Chart.yaml": "apiVersion: v2\nname: queues\nversion: 1.0.0\n",
        "charts/queues/templates/queue.yaml": QUEUE.replace("AMOUNT", "{{ .Values.gpus }}"),
    }
    plain = APPLICATION.replace("chart: CHART", "path: charts/queues").replace("NAME", "queues")
    assert len(said(repository, {**chart, "app.yaml": plain.replace("VALUES", "{}")}, "QC009")) == 1
    assert len(said(repository, {"app.yaml": plain.replace("VALUES", "{gpus: 40}")}, "QC009")) == 2


WRAPPER = """\
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {name: NAME, namespace: team, labels: {kueue.x-k8s.io/queue-name: team}}
spec: {components: []}
"""


def test_kueue_names_a_pod_set_after_an_app_wrapper(repository: Path) -> None:
    assert said(repository, {"wrapper.yaml": WRAPPER.replace("NAME", "train")}, "QC003") == []
    assert said(repository, {"wrapper.yaml": WRAPPER.replace("NAME", "train.v2")}, "QC003") == [("QC003", "error")]


@pytest.mark.parametrize("name", ["{}", "{generateName: team-}"])
def test_queues_that_share_a_name_by_having_none_are_one(repository: Path, name: str) -> None:
    queue = QUEUE.split("---\n", maxsplit=1)[0].replace("{name: team}", name)
    other = queue.replace("h100", "a100").replace("spec:\n", "spec:\n  cohortName: all\n", 1)
    text = "---\n".join([NODES, FLAVOR, FLAVOR.replace("h100", "a100"), queue, other]).replace("AMOUNT", "8")
    (repository / "all.yaml").write_text(text)
    assert front(["shares", "."]) == 0


@pytest.mark.parametrize("spec", ["{}", "{levels: []}"])
def test_a_topology_without_levels_is_refused_and_breaks_no_rule(repository: Path, spec: str) -> None:
    topology = f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {{name: racks}}\nspec: {spec}\n"
    flavor = FLAVOR.replace("{nodeLabels: {gpu: h100}}", "{nodeLabels: {gpu: h100}, topologyName: racks}")
    queue, job = QUEUE.replace("AMOUNT", "8"), JOB.replace("research", "team").replace("b200", "h100")
    files = {"all.yaml": "---\n".join([NODES, topology, flavor, queue, job])}
    assert said(repository, files, "QC000", "QC003") == [("QC003", "error")]


def test_many_directories_that_differ_are_one_finding(repository: Path) -> None:
    for number, name in enumerate(("base", "a", "b", "c", "d")):
        (repository / name).mkdir()
        (repository / name / "flavor.yaml").write_text(FLAVOR.replace("gpu: h100", f"gpu: h100, n: v{number}"))
    (found,) = [f for f in audit(["."]).findings if f.rule and f.rule.id == "QC011"]
    assert "defined differently in a and in 4 other directories (b, base, c and 1 more)" in found.message
    assert [p.origin.path for p in (found.primary, *found.related)] == [
        f"{d}/flavor.yaml" for d in ("b", "a", "base", "c")
    ]


def test_charts_need_not_all_be_installed(repository: Path) -> None:
    files = {}
    for version in ("1.0.0", "2.0.0"):
        files[f"charts/{version}/Chart.yaml"] = f"apiVersion: v2\nname: queues\nversion: {version}\n"
        files[f"charts/{version}/templates/flavor.yaml"] = FLAVOR.replace("h100}}", f'h100, v: "{version}"}}}}')
    assert said(repository, {"nodes.yaml": NODES, **files}, "QC011") == [("QC011", "warning")]
    for name in list(files):
        (repository / name).unlink()
    plain = {name.replace("/templates/", "/"): text for name, text in files.items() if "templates" in name}
    assert said(repository, plain, "QC011") == [("QC011", "error")]


@pytest.mark.parametrize(
    ("queue", "resources", "expected"),
    [
        ("{}", "{}", []),
        ("{kueue.x-k8s.io/queue-name: team}", "{}", [("QC003", "warning")]),
        ("{}", "{limits: {nvidia.com/gpu: 1}}", [("QC003", "warning")]),
    ],
    ids=["another workload", "queued", "with accelerators"],
)
def test_what_only_some_clients_are_refused_is_told_of_workloads_that_matter(
    repository: Path, queue: str, resources: str, expected: list[tuple[str, str]]
) -> None:
    ports = "[{name: http, containerPort: 80}, {name: metrics, containerPort: 80}]"
    pod = f"spec: {{containers: [{{name: main, image: app, ports: {ports}, resources: {resources}}}]}}"
    deployment = (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: team, labels: {queue}}}\n"
        f"spec: {{selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, {pod}}}}}\n"
    )
    files = {
        "web.yaml": deployment,
        "queue.yaml": QUEUE.replace("AMOUNT", "8"),
        "flavor.yaml": FLAVOR,
        "nodes.yaml": NODES,
    }
    assert said(repository, files, "QC003") == expected


INSTALL = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: ["https://github.com/kubernetes-sigs/kueue/releases/download/v0.10.2/manifests.yaml"]
"""


def test_what_the_installed_release_accepts_is_a_warning(repository: Path) -> None:
    files = {
        "kueue/config.yaml": MANAGER.replace("v1beta2", "v1beta1")
        + "integrations: {frameworks: [kubeflow.org/mxjob]}\n",
        "queues.yaml": QUEUE.replace("AMOUNT", "16").replace("v1beta2", "v1beta1"),
    }
    rules = ("QC006", "QC701")
    assert said(repository, files, *rules) == [("QC006", "warning"), ("QC701", "error")]
    assert [f.fixes != () for f in audit(["."]).findings if f.rule and f.rule.id == "QC006"] == [True]
    assert said(repository, {"install/kustomization.yaml": INSTALL}, *rules) == [
        ("QC006", "warning"),
        ("QC701", "warning"),
    ]
    doubted = [f for f in audit(["."]).findings if f.rule and f.rule.id in rules]
    assert all(f.fixes == () for f in doubted)
    assert ['kueue: "0.10"' in (f.help or "") for f in doubted if f.rule and f.rule.id == "QC701"] == [True]
    policy = Policy(kueue=Release(0, 10))
    older = Settings(scopes=(ClusterScope("default", policy=policy),))
    assert not any(f.rule.id in rules for f in audit(["."], older).findings if f.rule)


OF_TWO_OBJECTS = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: AdmissionCheck
metadata: {name: x}
spec: {controllerName: a/b, fairSharing: {weight: 1}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: x, namespace: default}
spec: {clusterQueue: c, fairSharing: {weight: 1}}
"""


def test_what_the_installed_release_accepts_is_a_doubt_in_one_file_too(repository: Path) -> None:
    files = {
        "queues.yaml": OF_TWO_OBJECTS,
        "install/kustomization.yaml": INSTALL.replace("v0.10.2", "v0.13.0"),
    }
    said(repository, files)
    older = Settings(scopes=(ClusterScope("default", policy=Policy(kueue=Release(0, 10))),))
    found = [(f.severity, f.primary.span[0]) for f in audit(["."], older).findings if f.rule and f.rule.id == "QC004"]
    assert found == [("error", 4), ("warning", 9)]


CONTAINER = "{name: manager, args: [--metrics-secure]}"
UNUSED = {
    "config/kustomization.yaml": "resources: [manager.yaml]\n#patches: [{path: metrics.yaml}]\n",
    "config/manager.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n",
}
PARTIAL = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: manager, namespace: system}}
spec: {{template: {{spec: {{containers: [{CONTAINER}]}}}}}}
"""
WITH_IMAGE = PARTIAL.replace("name: manager, args", "name: manager, image: manager, args")
WHOLE_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: patch}
spec: {selector: SELECTOR, template: {spec: {restartPolicy: Never, containers: [{name: patch, image: kubectl}]}}}
"""
DELETED = "$patch: delete\napiVersion: batch/v1\nkind: Job\nmetadata: {name: train, namespace: team}\n"


@pytest.mark.parametrize(
    ("path", "text", "is_patch"),
    [
        ("config/metrics.yaml", PARTIAL, True),
        ("base/manager_metrics_patch.yaml", PARTIAL, True),
        ("base/patches/metrics.yaml", PARTIAL, True),
        ("base/manager_image_patch.yaml", WITH_IMAGE, True),
        ("config/manager.yaml", WITH_IMAGE, False),
        ("base/exclude.yaml", DELETED, True),
        ("base/dispatch.yaml", PARTIAL, False),
        ("config/patch-job.yaml", WHOLE_JOB.replace("SELECTOR", "{matchLabels: {a: b}}"), False),
    ],
)
def test_an_unused_patch_is_not_an_object(repository: Path, path: str, text: str, is_patch: bool) -> None:
    found = said(repository, {**UNUSED, path: text}, "QC003", "QC004")
    assert (found == []) is is_patch
    named = [n.path for n in audit(["."]).inputs.not_read if "no kustomization uses" in n.why]
    assert named == ([path] if is_patch else [])


def test_a_job_may_have_an_empty_selector(repository: Path) -> None:
    assert said(repository, {"job.yaml": WHOLE_JOB.replace("SELECTOR", "{}")}, "QC003") == []
    assert said(repository, {"job.yaml": WHOLE_JOB.replace("SELECTOR", "{matchLabels: {a: b}}")}, "QC003") != []


JOB_OF = WHOLE_JOB.replace("selector: SELECTOR, ", "").replace("kubectl", "IMAGE")
QUEUED = JOB_OF.replace("metadata: {", "metadata: {labels: {kueue.x-k8s.io/queue-name: a}, ")


@pytest.mark.parametrize(
    ("one", "other", "text", "severity"),
    [
        ("queues/flavor.yaml", "queues/more.yaml", FLAVOR, "error"),
        ("clusters/prod/flavor.yaml", "clusters/test/flavor.yaml", FLAVOR, "error"),
        ("clusters/prod-1.30/flavor.yaml", "clusters/test-1.30/flavor.yaml", FLAVOR, "error"),
        ("clusters/gpu-1/flavor.yaml", "clusters/gpu-2/flavor.yaml", FLAVOR, "error"),
        ("guide/step-1/flavor.yaml", "guide/step-2/flavor.yaml", FLAVOR, "warning"),
        ("guide/02/flavor.yaml", "guide/05/flavor.yaml", FLAVOR, "warning"),
        ("step-1/prod/flavor.yaml", "step-1/test/flavor.yaml", FLAVOR, "error"),
        ("examples/a/flavor.yaml", "queues/flavor.yaml", FLAVOR, "warning"),
        ("docs/flavor.yaml", "docs/more.yaml", FLAVOR, "warning"),
        ("gpu-samples/flavor.yaml", "gpu-samples/more.yaml", FLAVOR, "warning"),
        ("a/testing/flavor.yaml", "b/testing/flavor.yaml", FLAVOR, "warning"),
        ("sources/v1.2.0/flavor.yaml", "sources/v1.3.0/flavor.yaml", FLAVOR, "warning"),
        ("setup.OCP-v2.16/flavor.yaml", "setup.OCP-v2.19/flavor.yaml", FLAVOR, "warning"),
        ("queues/all.yaml", "queues/all-mig.yaml", f"{FLAVOR}---\n{QUEUE}", "warning"),
        (
            "jobs/a.yaml",
            "jobs/b.yaml",
            QUEUED,
            "warning",
        ),
    ],
)
def test_alternatives_do_not_prove_a_conflict(repository: Path, one: str, other: str, text: str, severity: str) -> None:
    changed = (
        text.replace("IMAGE", "x").replace("AMOUNT", "8").replace("metadata: {", "metadata: {annotations: {a: b}, ")
    )
    files = {"nodes.yaml": NODES, one: text.replace("IMAGE", "y").replace("AMOUNT", "16"), other: changed}
    assert {each[1] for each in said(repository, files, "QC011")} == {severity}


def test_the_clusters_of_multikueue_may_have_queues_with_the_same_names(repository: Path) -> None:
    files = {"manager.yaml": FLAVOR, "worker.yaml": FLAVOR.replace("metadata: {", "metadata: {annotations: {a: b}, ")}
    worker = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueCluster\nmetadata: {name: worker}\nspec: SOURCE\n"
    source = "{clusterSource: {kubeConfig: {location: worker, locationType: Secret}}}"
    assert said(repository, files, "QC011") == [("QC011", "error")]
    files["clusters.yaml"] = worker.replace("SOURCE", source)
    assert said(repository, files, "QC011") == [("QC011", "warning")]


def test_a_directory_that_contains_everything_does_not_indicate_examples(repository: Path) -> None:
    changed = FLAVOR.replace("metadata: {", "metadata: {annotations: {a: b}, ")
    assert said(repository, {"examples/a.yaml": FLAVOR, "examples/b.yaml": changed}, "QC011") == [("QC011", "error")]


@pytest.mark.parametrize("folder", ["testdata", "versioned_docs"])
def test_manifests_that_are_not_deployed_are_skipped_and_named(repository: Path, folder: str) -> None:
    assert said(repository, {"nodes.yaml": NODES, f"pkg/{folder}/v1/job.yaml": WHOLE_JOB}, "QC003") == []
    assert [n.path for n in audit(["."]).inputs.not_read if "name the directory" in n.why] == [f"pkg/{folder}"]
    assert [f.rule.id for f in audit([f"pkg/{folder}"]).findings if f.rule] != []


SOFTWARE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Values.name }}, labels: {kueue.x-k8s.io/managed: "true"}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  names:
    kind: ClusterQueue
"""


@pytest.mark.parametrize(
    ("chart", "more", "severity"),
    [
        ("kueue", "", None),
        ("training", "", "warning"),
        ("kueue", f"---\n{cluster_queue(8, name='team')}", "warning"),
    ],
)
def test_a_vendored_chart_of_software_defines_no_queues(
    repository: Path, chart: str, more: str, severity: str | None
) -> None:
    files = {
        "charts/x/Chart.yaml": f"apiVersion: v2\nname: {chart}\nversion: 0.13.0\n",
        "charts/x/templates/all.yaml": SOFTWARE + more,
        "queue.yaml": local_queue("team", name="team"),
    }
    missing = "error" if not more else "warning"
    assert ("QC402", missing) in said(repository, files, "QC009", "QC402")
    assert [s for rule, s in said(repository, {}, "QC009", "QC402") if rule == "QC009"] == [severity] * bool(severity)


@pytest.mark.parametrize(("files", "shown"), [(3, 3), (4, 1)])
def test_notes_with_the_same_message_are_one_block_with_their_places(
    repository: Path, capsys: pytest.CaptureFixture[str], files: int, shown: int
) -> None:
    for number in range(files):
        text = cluster_queue({"cpu": 20000}, name=f"team-{number}")
        (repository / f"queue-{number}.yaml").write_text(text)
    assert front(["check", ".", "--select", "QC008"]) == 0
    told = capsys.readouterr().out
    assert told.count("note[QC008]") == shown
    assert f"{files} notes in" in told
    assert all(f"queue-{number}.yaml:" in told for number in range(files))
    assert front(["check", ".", "--select", "QC008", "--all"]) == 0
    assert capsys.readouterr().out.count("note[QC008]") == files


@pytest.mark.parametrize("choice", ["select: [QC1O1]", "select: [QC101, QC1O1]", "ignore: [QC1O1]"])
def test_a_misspelled_choice_of_rules_is_itself_reported(
    repository: Path, capsys: pytest.CaptureFixture[str], choice: str
) -> None:
    (repository / "queue.yaml").write_text(QUEUE)
    (repository / "qcheck.yaml").write_text(f"version: 1\nrules: {{{choice}}}\n")
    assert front(["check", "."]) == 2
    told = capsys.readouterr().out
    assert "error[QC014]" in told
    assert "QC1O1" in told


@pytest.mark.parametrize("name", ["dump.json", "dump.yaml"])
def test_a_list_of_objects_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "h100"}}
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "a", "namespace": "b"}}
    (tmp_path / name).write_text(json.dumps([flavor, {**queue, "spec": {"clusterQueue": "none"}}, 3, {}]))
    (tmp_path / "numbers.json").write_text("[1, 2]")
    assert front(["check", ".", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["inputs"]["objects"] == 2
    assert "QC402" in {f["rule"] for f in report["findings"]}
    front(["check", ".", "--fix", "--quiet"])
    assert json.loads((tmp_path / name).read_text())[0]["apiVersion"] == "kueue.x-k8s.io/v1beta2"


EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: training, region: us-west-2}
managedNodeGroups: [{name: gpus, instanceType: p5.48xlarge, desiredCapacity: COUNT}]
"""


def test_two_eksctl_files_with_the_same_cluster_name_are_alternatives(repository: Path) -> None:
    files = {"conf/small.yaml": EKSCTL.replace("COUNT", "2"), "conf/large.yaml": EKSCTL.replace("COUNT", "16")}
    assert said(repository, files, "QC011") == [("QC011", "warning")]
    (found,) = [f for f in audit(["."]).findings if f.rule and f.rule.id == "QC011"]
    assert found.message.startswith("ClusterConfig training is defined twice")


def test_copies_of_several_releases_are_alternatives_of_the_current_definition(repository: Path) -> None:
    files = {
        f"install/v0.1.{at}/all.yaml": FLAVOR.replace("metadata: {", f"metadata: {{annotations: {{a: b{at}}}, ")
        for at in (1, 2)
    }
    assert said(repository, {"config/all.yaml": FLAVOR, **files}, "QC011") == [("QC011", "warning")]
    del files["install/v0.1.2/all.yaml"]
    (repository / "install/v0.1.2/all.yaml").unlink()
    assert said(repository, {"config/all.yaml": FLAVOR, **files}, "QC011") == [("QC011", "error")]
