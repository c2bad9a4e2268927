"""Which pods KAI starts together, by kind, and jobs for which it creates no pod group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from qcheck.api import admit

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
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: lab}
spec:
  resources:
    gpu: {quota: 8, limit: 8, overQuotaWeight: 1}
    cpu: {quota: -1, limit: -1, overQuotaWeight: 1}
    memory: {quota: -1, limit: -1, overQuotaWeight: 1}
"""
PODS = (
    "{spec: {schedulerName: kai-scheduler, restartPolicy: Never, "
    "containers: [{name: main, image: train, resources: {limits: {nvidia.com/gpu: 2}}}]}}"
)


def asked(api: str, kind: str, spec: str, annotations: str = "{}") -> str:
    metadata = f"{{name: asked, namespace: lab, labels: {{kai.scheduler/queue: lab}}, annotations: {annotations}}}"
    return f"apiVersion: {api}\nkind: {kind}\nmetadata: {metadata}\nspec:\n{spec}"


def training(kind: str, field: str, roles: dict[str, int], policy: str = "{}") -> str:
    specs = "\n".join(f"    {role}: {{replicas: {count}, template: {PODS}}}" for role, count in roles.items())
    return asked("kubeflow.org/v1", kind, f"  runPolicy: {{schedulingPolicy: {policy}}}\n  {field}:\n{specs}\n")


def job(annotations: str) -> str:
    return asked("batch/v1", "Job", f"  parallelism: 5\n  completions: 5\n  template: {PODS}\n", annotations)


def job_set(parallelism: int, annotations: str = "{}", of_job: str = "{}", policy: str = "{}") -> str:
    metadata = f"metadata: {{annotations: {of_job}}}"
    template = f"{{{metadata}, spec: {{parallelism: {parallelism}, completions: {parallelism}, template: {PODS}}}}}"
    jobs = "\n".join(f"  - {{name: {name}, replicas: 1, template: {template}}}" for name in ("a", "b", "c"))
    return asked(
        "jobset.x-k8s.io/v1alpha2", "JobSet", f"  startupPolicy: {policy}\n  replicatedJobs:\n{jobs}\n", annotations
    )


def ray(group: str) -> str:
    spec = (
        f"  headGroupSpec: {{rayStartParams: {{}}, template: {PODS}}}\n"
        f"  workerGroupSpecs: [{{groupName: g, rayStartParams: {{}}, {group}, template: {PODS}}}]\n"
    )
    return asked("ray.io/v1", "RayCluster", spec)


LEAST = "kai.scheduler/batch-min-member"
CASES = {
    "all replicas": (training("PyTorchJob", "pytorchReplicaSpecs", {"Master": 1, "Worker": 3}), True),
    "too many replicas": (training("PyTorchJob", "pytorchReplicaSpecs", {"Master": 1, "Worker": 4}), False),
    "the minimum": (training("PyTorchJob", "pytorchReplicaSpecs", {"Worker": 8}, "{minAvailable: 4}"), True),
    "a minimum above the replicas": (training("TFJob", "tfReplicaSpecs", {"Worker": 2}, "{minAvailable: 3}"), False),
    "no replicas of a type": (training("TFJob", "tfReplicaSpecs", {"Worker": 2, "PS": 0}), False),
    "a type that must exist": (training("XGBoostJob", "xgbReplicaSpecs", {"Master": 1}), False),
    "a kind without a gang": (training("PaddleJob", "paddleReplicaSpecs", {"Worker": 8}), True),
    "pods of a Job": (job("{}"), True),
    "the minimum of a Job": (job(f'{{{LEAST}: "4"}}'), True),
    "a minimum of a Job above the quota": (job(f'{{{LEAST}: "5"}}'), False),
    "a minimum of a Job above its pods": (job(f'{{{LEAST}: "6"}}'), False),
    "a minimum of a Job that is not a number": (job(f"{{{LEAST}: four}}"), False),
    "all of a JobSet": (job_set(1), True),
    "too much of a JobSet": (job_set(2), False),
    "a JobSet in order": (job_set(2, policy="{startupPolicyOrder: InOrder}"), True),
    "two of three replicated jobs": (job_set(2, f'{{{LEAST}: "2"}}'), True),
    "a minimum of each Job": (job_set(2, of_job=f'{{{LEAST}: "1"}}'), True),
    "a minimum of each Job above its pods": (job_set(1, of_job=f'{{{LEAST}: "2"}}'), False),
    "a minimum of 0 for each Job": (job_set(1, of_job=f'{{{LEAST}: "0"}}'), False),
    "a JobSet with a minimum of 0": (job_set(1, f'{{{LEAST}: "0"}}'), False),
    "Ray workers": (ray("replicas: 3"), True),
    "too many Ray workers": (ray("replicas: 4"), False),
    "the minimum of Ray workers": (ray("replicas: 4, minReplicas: 3"), True),
    "a minimum above the Ray workers": (ray("minReplicas: 1"), False),
}


@pytest.mark.parametrize(("manifest", "admitted"), CASES.values(), ids=CASES.keys())
def test_the_pods_that_start_together(manifest: str, admitted: bool, tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER, encoding="utf-8")
    (tmp_path / "asked.yaml").write_text(manifest, encoding="utf-8")
    ((_, verdict),) = admit([str(tmp_path / "asked.yaml")], [str(tmp_path / "cluster.yaml")]).verdicts
    assert (verdict.decision.queue, verdict.decision.admitted) == ("lab", admitted)


SHARING = (
    CLUSTER
    + """\
---
apiVersion: kai.scheduler/v1
kind: Config
metadata: {name: kai-config}
spec: {admission: {gpuSharing: true}}
"""
)


@pytest.mark.parametrize(("workers", "runs"), [(15, True), (40, None)])
def test_pods_with_different_parts_of_gpus_run_if_each_finds_a_device_of_its_own(
    workers: int, runs: bool | None, tmp_path: Path
) -> None:
    """How pods with different parts share devices is not computed. With a device for each pod, they need not share."""
    manifest = training("PyTorchJob", "pytorchReplicaSpecs", {"Master": 1, "Worker": workers})
    for part, of_kind in (("0.5", "Master"), ("0.1", "Worker")):
        own = PODS.replace("{spec:", f'{{metadata: {{annotations: {{gpu-fraction: "{part}"}}}}, spec:', 1)
        own = own.replace(", resources: {limits: {nvidia.com/gpu: 2}}", "")
        line = next(line for line in manifest.splitlines() if of_kind in line)
        manifest = manifest.replace(line, line.replace(PODS, own))
    (tmp_path / "cluster.yaml").write_text(SHARING, encoding="utf-8")
    (tmp_path / "asked.yaml").write_text(manifest, encoding="utf-8")
    ((_, verdict),) = admit([str(tmp_path / "asked.yaml")], [str(tmp_path / "cluster.yaml")]).verdicts
    assert (verdict.decision.admitted, verdict.runs) == (True, runs)
