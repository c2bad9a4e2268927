"""Repositories with test files or kustomizations next to objects, and clusters of which only a part was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from manifests import FLAVOR, cluster_queue, local_queue
from test_unprepared import NODES, PYTORCH_JOB, QUEUE, WHOLE_JOB, repository, said

from qcheck.api import audit
from qcheck.cli.entrypoint import run as front

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["repository"]

CHAINSAW = """\
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: queues}
spec:
  steps:
    - try:
        - apply: {file: job.yaml}
        - apply: {file: filled.yaml}
        - assert: {file: job.yaml}
        - assert: {file: ../ready.yaml}
"""
UNFINISHED = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nstatus: {active: 1}\n"
STATUS_ONLY = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team}\nstatus: {readyReplicas: 1}\n"
)

COMPUTED_NAME = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: ($DRIVER)\n  namespace: team\nspec: {}\n"
COMPUTED_LABEL = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    version: ($VERSION)\n"
COMPUTED_KEY = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: driver, namespace: team}\nspec:\n  (volumes[0] != `[]`): true\n"
)


@pytest.mark.parametrize(
    ("path", "text", "is_read"),
    [
        ("tests/ready.yaml", UNFINISHED, False),
        ("tests/a/filled.yaml", "spec:\n  parallelism: ($count)\napiVersion: batch/v1\nkind: Job\n", False),
        ("tests/a/job.yaml", UNFINISHED, True),
        ("tests/b/01-assert.yaml", UNFINISHED, False),
        ("tests/b/01-asserted.yaml", UNFINISHED, True),
        ("tests/assertions/driver.yaml", COMPUTED_NAME, False),
        ("tests/assertions/driver.yaml", COMPUTED_KEY, False),
        ("tests/assertions/driver.yaml", COMPUTED_LABEL, False),
        ("tests/assertions/driver.yaml", COMPUTED_KEY.replace("(volumes", "volumes"), True),
        ("policies/web.yaml", STATUS_ONLY, False),
        ("policies/web.yaml", STATUS_ONLY.replace("status:", "metadate:"), True),
    ],
)
def test_expected_states_of_tests_and_policies_are_not_objects(
    repository: Path, path: str, text: str, is_read: bool
) -> None:
    found = said(repository, {"tests/a/chainsaw-test.yaml": CHAINSAW, path: text}, "QC003")
    assert bool(found) is is_read
    assert [n.path for n in audit(["."]).inputs.not_read] == ([] if is_read else [path])


VOLCANO_JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: team}
spec:
  minAvailable: 2
  schedulerName: volcano
  queue: missing
  tasks: [{replicas: 2, name: main, template: {spec: {containers: [{name: main, image: trainer}]}}}]
"""


def test_a_job_of_volcano_beside_a_kustomization_is_read(repository: Path) -> None:
    files = {"k8s/kustomization.yaml": "resources: []\n", "k8s/job.yaml": VOLCANO_JOB, "nodes.yaml": NODES}
    assert said(repository, files, "QC960") != []


KARPENTER = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  limits: {nvidia.com/gpu: 16}
  template:
    metadata: {labels: {gpu: h100}}
    spec: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}]}
"""


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("namespace: karpenter\n", "QC101"),
        ("labels: [{pairs: {team: ml}, includeSelectors: true}]\n", "QC101"),
        ("labels: [{pairs: {team: ml}, fields: [{path: spec/template/metadata/labels, kind: NodePool}]}]\n", "QC009"),
        ("namePrefix: prod-\n", "QC009"),
    ],
)
def test_a_kustomization_leaves_nodes_as_they_are_if_it_only_changes_metadata(
    repository: Path, change: str, rule: str
) -> None:
    queues = f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '24')}"
    files = {
        "queues.yaml": queues,
        "k/kustomization.yaml": f"{change}resources: [pool.yaml]\n",
        "k/pool.yaml": KARPENTER,
    }
    assert {each[0] for each in said(repository, files, "QC101", "QC009")} == {rule}


PLAIN_FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: h100}\n"
TOLERANT = f"{PLAIN_FLAVOR}spec: {{tolerations: [{{key: dedicated, operator: Exists}}]}}\n"
TAINTED = NODES.replace("labels: {gpu: h100}", "labels: {gpu: h100}, taints: [{key: dedicated, effect: NoSchedule}]")
PLAIN_NODES = NODES.replace("h100", "plain").replace(", nvidia.com/gpu: 8", "")


@pytest.mark.parametrize(
    ("nodes", "flavor", "quota", "expected"),
    [
        (TAINTED, PLAIN_FLAVOR, {"cpu": 500}, [("QC010", "warning")]),
        (TAINTED, TOLERANT, {"cpu": 500}, [("QC101", "error")]),
        (TAINTED, FLAVOR, {"cpu": 500}, [("QC101", "error"), ("QC202", "warning")]),
        (f"{TAINTED}---\n{PLAIN_NODES}", PLAIN_FLAVOR, {"cpu": 500}, [("QC101", "error")]),
        (TAINTED, PLAIN_FLAVOR, {"nvidia.com/gpu": 24}, [("QC101", "error"), ("QC202", "warning")]),
    ],
    ids=["unread nodes", "the flavor tolerates", "the flavor selects", "plain nodes are read", "accelerators"],
)
def test_the_nodes_for_system_pods_may_not_have_been_read(
    repository: Path, nodes: str, flavor: str, quota: dict[str, int], expected: list[tuple[str, str]]
) -> None:
    """A flavor without labels also selects these nodes, so the nodes that were read prove nothing about it."""
    queues = f"{flavor}---\n{cluster_queue(quota)}---\n{local_queue('team', name='team')}"
    assert said(repository, {"nodes.yaml": nodes, "queues.yaml": queues}, "QC010", "QC101", "QC202") == expected


def test_a_workload_proves_nothing_if_nodes_were_not_read(repository: Path) -> None:
    queues = f"{PLAIN_FLAVOR}---\n{QUEUE.replace('AMOUNT', '16')}"
    files = {"nodes.yaml": TAINTED, "queues.yaml": queues, "job.yaml": PYTORCH_JOB}
    assert said(repository, files, "QC202") == [("QC202", "warning")]
    files["queues.yaml"] = f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '16')}"
    assert said(repository, files, "QC202") == [("QC202", "error")]


def test_nodes_with_accelerators_are_named_if_there_is_no_quota(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "pools.yaml").write_text(NODES)
    assert front(["capacity"]) == 0
    assert capsys.readouterr().out == "no quota was found; the nodes of h100 have accelerators\n"


def test_a_change_without_nodes_shows_no_node_figures_and_short_names_of_items(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "import time; " * 50
    for side, amount, text in (("old", "8", script), ("new", "16", f"{script}print()")):
        job = WHOLE_JOB.replace("selector: SELECTOR, ", "").replace(
            "image: kubectl", f"image: kubectl, args: ['{text}']"
        )
        (repository / side).mkdir()
        (repository / side / "all.yaml").write_text(f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', amount)}---\n{job}")
    assert front(["diff", "old", "new"]) == 0
    out = capsys.readouterr().out
    assert "nvidia.com/gpu  8 -> 16  ?           ?        ?" in out
    assert max(map(len, out.splitlines())) < 400


@pytest.mark.parametrize(
    ("namespace", "queue", "change"),
    [
        ("", "team", "create it, or set metadata.namespace to a namespace that has it: b, team"),
        ("namespace: team, ", "other", "create it, or name one of: team"),
        ("namespace: empty, ", "team", "create it"),
    ],
)
def test_help_names_the_namespaces_that_have_the_missing_queue(
    repository: Path, capsys: pytest.CaptureFixture[str], namespace: str, queue: str, change: str
) -> None:
    job = PYTORCH_JOB.replace("namespace: team, ", namespace).replace("queue-name: team", f"queue-name: {queue}")
    (repository / "job.yaml").write_text(job)
    further = local_queue("b", name="team")
    (repository / "queues.yaml").write_text(f"{FLAVOR}---\n{QUEUE.replace('AMOUNT', '16')}---\n{NODES}---\n{further}")
    front(["admit", "job.yaml", "--in", "queues.yaml"])
    assert f"would help: {change}\n" in capsys.readouterr().out


CPU_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: serve, namespace: team, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: server, resources: {requests: {cpu: 1, memory: 1Gi}}}]
"""


@pytest.mark.parametrize(
    ("flavor", "job", "expected"),
    [
        (PLAIN_FLAVOR, CPU_JOB, "cannot tell whether it runs"),
        (PLAIN_FLAVOR, PYTORCH_JOB, "admitted but pending"),
        (FLAVOR, CPU_JOB, "admitted but pending"),
        (PLAIN_FLAVOR, CPU_JOB.replace("restart", "nodeSelector: {gpu: h100}\n      restart"), "admitted but pending"),
    ],
    ids=["any node", "accelerators", "the flavor selects", "the pods select"],
)
def test_pods_may_run_on_the_nodes_for_system_pods(
    repository: Path, capsys: pytest.CaptureFixture[str], flavor: str, job: str, expected: str
) -> None:
    queues = f"{flavor}---\n{QUEUE.replace('AMOUNT', '16')}---\n{TAINTED}"
    for name, text in {"job.yaml": job, "queues.yaml": queues}.items():
        (repository / name).write_text(text)
    front(["admit", "job.yaml", "--in", "queues.yaml"])
    assert expected in capsys.readouterr().out
