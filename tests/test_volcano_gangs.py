"""The pods that Volcano starts together: an operator's gang, a pod group in a manifest, and several pod sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from qcheck.api import admit, audit

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: only}
status:
  allocatable: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "16", pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: lab}
spec: {weight: 1, capability: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: trio, namespace: lab}
spec: {minMember: 3, queue: lab}
"""


def pods(gpus: int, scheduler: str = "volcano", annotations: str = "{}") -> str:
    named = f"schedulerName: {scheduler}, " if scheduler else ""
    limits = f"resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}"
    containers = f"containers: [{{name: main, image: train, {limits}}}]"
    return f"{{metadata: {{annotations: {annotations}}}, spec: {{{named}restartPolicy: Never, {containers}}}}}"


def training(workers: int, policy: str, template: str) -> str:
    return f"""\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: asked, namespace: lab}}
spec:
  runPolicy: {{schedulingPolicy: {policy}}}
  pytorchReplicaSpecs:
    Master: {{replicas: 1, template: {template}}}
    Worker: {{replicas: {workers}, template: {template}}}
"""


def ray(labels: str, cluster: str, group: str) -> str:
    return f"""\
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: asked, namespace: lab, labels: {labels}}}
spec:
  headGroupSpec: {{rayStartParams: {{}}, template: {pods(2, scheduler="")}}}
  {cluster}
  workerGroupSpecs: [{{groupName: g, rayStartParams: {{}}, {group}, template: {pods(2, scheduler="")}}}]
"""


def job_set(large: int) -> str:
    named = "{scheduling.volcano.sh/queue-name: lab}"
    return f"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: asked, namespace: lab}}
spec:
  replicatedJobs:
  - {{name: small, template: {{spec: {{template: {pods(2, annotations=named)}}}}}}}
  - {{name: large, template: {{spec: {{template: {pods(large, annotations=named)}}}}}}}
"""


def member(gpus: int) -> str:
    return f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: asked, namespace: lab}}
spec:
  parallelism: 3
  completions: 3
  template: {pods(gpus, annotations="{scheduling.k8s.io/group-name: trio}")}
"""


UNKNOWN = None
"""Only an option of the operator, which no manifest shows, sends such a job to Volcano: it may start without Volcano."""
QUEUE = "{volcano.sh/queue-name: lab}"
CASES = {
    "all replicas of a training job": (training(3, "{queue: lab}", pods(2)), "lab", True),
    "more replicas than the queue holds": (training(4, "{queue: lab}", pods(2)), "lab", False),
    "its minimum": (training(4, "{queue: lab, minAvailable: 2}", pods(2)), "lab", True),
    "its written minimum request": (
        training(1, '{queue: lab, minResources: {nvidia.com/gpu: "12"}}', pods(2)),
        "lab",
        False,
    ),
    "a queue without a scheduler name": (training(4, "{queue: lab}", pods(2, scheduler="")), "lab", UNKNOWN),
    "the workers of a Ray cluster": (ray(QUEUE, "", "replicas: 3"), "lab", True),
    "too many workers": (ray(QUEUE, "", "replicas: 4"), "lab", UNKNOWN),
    "workers up to the maximum": (ray(QUEUE, "", "replicas: 4, maxReplicas: 3"), "lab", True),
    "workers from the minimum": (ray(QUEUE, "", "minReplicas: 4"), "lab", UNKNOWN),
    "hosts of a worker": (ray(QUEUE, "", "replicas: 2, numOfHosts: 2"), "lab", UNKNOWN),
    "the minimum with autoscaling": (
        ray(QUEUE, "enableInTreeAutoscaling: true", "replicas: 4, minReplicas: 1"),
        "lab",
        True,
    ),
    "a suspended group": (ray(QUEUE, "", "replicas: 4, suspend: true"), "lab", True),
    "each Job of a JobSet alone": (job_set(8), "lab", True),
    "one Job of a JobSet too large": (job_set(9), "lab", False),
    "a member of a pod group that fits": (member(2), "lab", True),
    "a member of a pod group that does not fit": (member(3), "lab", False),
}


@pytest.mark.parametrize(("manifest", "queue", "admitted"), CASES.values(), ids=CASES.keys())
def test_the_pods_that_start_together(manifest: str, queue: str, admitted: bool | None, tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    (tmp_path / "asked.yaml").write_text(manifest, encoding="utf-8")
    ((_, verdict),) = admit([str(tmp_path / "asked.yaml")], [str(tmp_path / "cluster.yaml")]).verdicts
    assert (verdict.decision.queue, verdict.decision.admitted) == (queue, admitted)
    exceeds = any(r.cause == "volcano-limit" for r in verdict.decision.reasons)
    assert exceeds == (admitted is not True)


@pytest.mark.parametrize(("scheduler", "severity"), [("volcano", "error"), ("", "warning")])
@pytest.mark.parametrize("queue", ["lab", "missing"])
def test_a_queue_is_no_proof_that_the_operator_creates_gangs(
    scheduler: str, severity: str, queue: str, tmp_path: Path
) -> None:
    job = training(4, f"{{queue: {queue}}}", pods(2, scheduler))
    (tmp_path / "all.yaml").write_text(f"{CLUSTER}---\n{job}", encoding="utf-8")
    found = [f for f in audit([str(tmp_path)]).findings if f.rule and f.rule.id == "QC960"]
    assert [f.severity for f in found] == [severity]
