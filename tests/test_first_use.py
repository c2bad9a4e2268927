"""What a first-time user meets: typing errors, values that YAML reads differently, and advice that can be pasted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from manifests import FLAVOR, cluster_queue, local_queue

from qcheck.cli.entrypoint import run

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[..., tuple[int, str, str]]

POOL = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: gpu}
spec:
  count: 2
  labels: {gpu: h100}
  taints: [{key: dedicated, value: "true", effect: NoSchedule}]
  instanceType: p5.48xlarge
"""
QUEUE = "---\n".join([
    FLAVOR,
    cluster_queue({"memory": "9000Gi", "nvidia.com/gpu": 24}),
    local_queue("y"),
])  # fmt: skip
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  parallelism: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, resources: {requests: {memory: 9500Gi}}}]
"""


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Say:
    """Runs a command in a folder with a pool, queues and a job: the exit code, standard output and standard error."""
    (tmp_path / "nodes.yaml").write_text(POOL)
    (tmp_path / "queues.yaml").write_text(QUEUE)
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        code = run([*words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("explain", "QC1O1"), "Did you mean QC101?"),
        (("explain", "qcl01"), "Did you mean QC101?"),
        (("explain", "hypernode"), "QC962 volcano-hypernode-invalid"),
        (("schema", "ClusterQueu"), "Did you mean ClusterQueue?"),
        (("check", "--add-nodes", "cpu=1"), "there is no such node pool; there are: gpu"),
        (("check", "--format", "json="), "a file name is missing"),
        (("suggest", "--pick", "50", "--write"), "alternative"),
    ],
)
def test_a_word_that_names_nothing_gets_the_nearest_name(say: Say, words: tuple[str, ...], expected: str) -> None:
    code, _, err = say(*words)
    assert code == 2
    assert expected in err


def test_kinds_are_found_whatever_their_case(say: Say) -> None:
    assert say("schema", "clusterqueue")[1] == say("schema", "ClusterQueue")[1]


def test_a_key_of_a_scenario_gets_the_nearest_key(say: Say) -> None:
    Path("s.yaml").write_text("version: 1\nworkloads: [{name: a, clusterQueue: team, duraton: 1h}]\n")
    _, _, err = say("simulate", "s.yaml", "--in", "queues.yaml")
    assert "workloads[0].duraton: there is no such key; did you mean duration?" in err
    assert "qcheck schema scenario" in err


def test_a_wrong_flag_of_simulate_does_not_point_to_the_scenario(say: Say) -> None:
    Path("s.yaml").write_text("version: 1\nworkloads: []\n")
    code, _, err = say("simulate", "s.yaml", "--in", "queues.yaml", "--full-with", "nothing")
    assert code == 2
    assert "no shape 'nothing'" in err
    assert "qcheck schema scenario" not in err


def test_a_scenario_has_at_most_100_000_workloads(say: Say) -> None:
    repeated = "{name: NAME, clusterQueue: team, podSets: [{}], repeat: {count: 60000, every: 1s}}"
    Path("s.yaml").write_text(
        f"version: 1\nworkloads:\n- {repeated.replace('NAME', 'a')}\n- {repeated.replace('NAME', 'b')}\n"
    )
    assert "s.yaml:2: workloads: 120000 workloads in total, more than 100000" in say("simulate", "s.yaml")[2]
    Path("s.yaml").write_text("version: 1\nworkloads: []\n")
    _, _, err = say("simulate", "s.yaml", "--in", "queues.yaml", "--full-with", "memory=1")
    assert "the queues have quota for more than 100000 such workloads; use larger ones" in err


def test_a_value_that_needs_quotes_is_shown_as_it_is_written(say: Say) -> None:
    assert 'Put it in quotes: "y"; without quotes, YAML reads y as true.' in say("check", "--select", "QC003")[1]


def test_a_toleration_can_be_pasted(say: Say) -> None:
    assert (
        '{key: dedicated, operator: Equal, value: "true", effect: NoSchedule}' in say("check", "--select", "QC202")[1]
    )


def test_sums_with_estimates_are_rounded_and_share_a_unit(say: Say) -> None:
    out = say("check", "--select", "QC101")[1]
    assert "promises ~8.79 TiB of memory (team), but the nodes can supply ~3.7 TiB: 2 nodes x ~1.85 TiB" in out
    assert " B of memory" not in out
    assert "- 2 nodes x ~1.85 TiB" in out


def test_no_quota_is_raised_for_pods_that_no_node_can_hold(say: Say) -> None:
    Path("queues.yaml").write_text(QUEUE.replace("namespace: y", "namespace: team"))
    Path("job.yaml").write_text(JOB)
    code, out, _ = say("admit", "job.yaml", "--in", "queues.yaml", "--in", "nodes.yaml")
    assert code == 1
    assert "never admitted" in out
    assert "smallest change: raise nominalQuota" not in out


def test_a_merged_report_shows_columns_and_no_source_lines(say: Say) -> None:
    say("check", "--select", "QC101", "--format", "json=a.json")
    out = say("merge", "a.json")[1]
    assert "queues.yaml:13:" in out
    assert "queues.yaml:13:1\n" not in out
    assert "13 | ... 24 for team" in out


def test_the_name_of_a_queue_of_volcano_is_an_edit(say: Say) -> None:
    Path("volcano.yaml").write_text(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: research}\nspec: {weight: 1}\n---\n"
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train, namespace: ml}\n"
        "spec:\n  queue: researc\n  schedulerName: volcano\n  minAvailable: 1\n  tasks:\n  - name: w\n    replicas: 1\n"
        "    template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}\n"
    )
    code, out, _ = say("suggest", "volcano.yaml", "--write")
    assert code == 0, out
    assert "queue: research\n" in Path("volcano.yaml").read_text()


def test_ceilings_of_estimates_are_marked(say: Say) -> None:
    Path("nodes.yaml").write_text(POOL.replace("count: 2", "count: {min: 0, max: 2}"))
    row = next(line for line in say("capacity")[1].splitlines() if " memory " in line)
    assert row.split()[3:8] == ["TiB", "0", "TiB", "~3.7", "TiB"], row


def test_suggest_names_the_clusters(say: Say) -> None:
    Path("qcheck.yaml").write_text("version: 1\nclusters: {a: {include: ['*s.yaml']}, b: {include: ['*s.yaml']}}\n")
    assert "nodes can supply 16: 2 nodes x 8 = 16 (gpu) (clusters a, b)" in say("suggest")[1]


DAEMON_SET = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: probe, namespace: monitoring}
spec:
  selector: {matchLabels: {app: probe}}
  template:
    metadata: {labels: {app: probe}}
    spec:
      nodeSelector: {gpu: h100}
      containers: [{name: main, image: registry.example/probe:1, resources: {limits: {nvidia.com/gpu: 1}}}]
"""
GKE = """\
variable "nodes" {}
resource "google_container_node_pool" "h100" {
  name           = "h100"
  cluster        = "fleet"
  node_locations = ["us-central1-a"]
  node_count     = var.nodes
  node_config {
    machine_type = "a3-highgpu-8g"
    labels       = { gpu = "h100" }
  }
}
"""


def test_a_daemon_set_on_a_pool_of_unknown_size_is_not_on_0_nodes(say: Say) -> None:
    Path("nodes.yaml").unlink()
    Path("pool.tf").write_text(GKE)
    Path("system.yaml").write_text(
        DAEMON_SET.replace("nodeSelector", "tolerations: [{operator: Exists}]\n      nodeSelector")
    )
    out = say("check", "--select", "QC104")[1]
    assert "DaemonSet probe takes 1 nvidia.com/gpu on each node in h100; the 24 promised by h100" in out
    assert "h100: number unknown" in out
    assert "0 nodes" not in out


@pytest.mark.parametrize(
    ("pool", "severity"),
    [(GKE, "error"), (GKE.replace('"a3-highgpu-8g"', "var.nodes"), "warning")],
    ids=["count unknown", "machines unknown too"],
)
def test_labels_of_a_pool_of_unknown_size_are_known(say: Say, pool: str, severity: str) -> None:
    Path("nodes.yaml").unlink()
    Path("pool.tf").write_text(pool)
    Path("queues.yaml").write_text(QUEUE.replace("gpu: h100", "gpu: h200"))
    assert say("check", "--all", "--select", "QC201")[1].startswith(f"{severity}[QC201]")


SERVICE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: team, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  replicas: 2
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
      containers: [{name: main, image: registry.example/serve:1, resources: {limits: {nvidia.com/gpu: 8}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: serve, namespace: team}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: serve}
  maxReplicas: 6
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
"""


@pytest.mark.parametrize(("complete", "is_proof"), [("true", True), ("false", False)])
def test_a_limit_that_a_queue_elsewhere_may_raise_is_no_proof(say: Say, complete: str, is_proof: bool) -> None:
    queues = "---\n".join([FLAVOR, cluster_queue(24).replace("spec:", "spec:\n  cohortName: all"), local_queue("team")])
    Path("queues.yaml").write_text(queues)
    Path("serve.yaml").write_text(SERVICE)
    Path("qcheck.yaml").write_text(f"version: 1\ncomplete: {complete}\n")
    out = say("check", "--select", "QC609")[1]
    assert "team can hold 3 of its 6 pods at a time" in out
    assert ("not a proof" in out) is not is_proof


@pytest.mark.parametrize(("release", "value"), [("0.14", "Borrow"), ("0.15", "MayStopSearch")])
def test_a_policy_has_the_name_that_the_release_knows(say: Say, release: str, value: str) -> None:
    flavors = "{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 0}]}, {name: a100"
    team = cluster_queue(8).replace("{name: h100", flavors).replace("spec:", "spec:\n  cohort: all")
    other = cluster_queue(8, "other").replace("spec:", "spec:\n  cohort: all")
    queues = "---\n".join([FLAVOR, FLAVOR.replace("h100", "a100"), team, other]).replace("v1beta2", "v1beta1")
    Path("queues.yaml").write_text(queues)
    Path("qcheck.yaml").write_text(f'version: 1\nkueue: "{release}"\n')
    assert f"that it owns: whenCanBorrow is {value} " in say("check", "--select", "QC417")[1].replace("\n", " ")
