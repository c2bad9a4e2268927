"""Repositories as teams have them, for `make bench`: overlays and Terraform, two revisions, quota beyond the nodes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bench_inputs import (
    cohort,
    config_map,
    flavor,
    job,
    local_queue,
    namespace,
    pool,
    queue,
    repository,
    write,
)

SETTINGS = """\
version: 1
kueue: "0.19"
clusters:
  prod: {include: ["base/**", "overlays/prod/**", "terraform/**", "jobs/**"]}
  staging: {include: ["base/**", "overlays/staging/**"]}
capacity:
  reserves: [{pools: ["gpu-*"], perNode: {cpu: "2"}, reason: agents}]
shapes:
  - {name: trainer, requests: {nvidia.com/gpu: 8}, flavors: [flavor-0], pods: 2}
"""
TERRAFORM = """\
variable "sizes" {
  type    = map(number)
  default = { "gpu-0" = 4, "gpu-1" = 6 }
}
locals {
  labels = { "example.com/owner" = "platform" }
}
resource "aws_eks_node_group" "gpu" {
  for_each        = var.sizes
  node_group_name = each.key
  instance_types  = ["p5.48xlarge"]
  labels          = merge(local.labels, { "example.com/pool" = replace(each.key, "gpu", "pool") })
  scaling_config {
    min_size     = each.value
    desired_size = each.value
    max_size     = each.value
  }
  taint {
    key    = "nvidia.com/gpu"
    value  = "present"
    effect = "NO_SCHEDULE"
  }
}
"""
OVERLAY = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../base, cohort.yaml]
labels:
- pairs: {example.com/stage: STAGE}
patches:
- target: {kind: ClusterQueue, name: team-0}
  patch: |-
    - op: replace
      path: /spec/resourceGroups/0/flavors/0/resources/0/nominalQuota
      value: 4
"""


def written(folder: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        write(os.path.join(folder, path), text)


def real_repository(folder: str) -> None:
    """Thirty manifests: a base, two overlays of it, jobs, node groups in Terraform, and settings for two clusters."""
    base = {f"flavor-{at}.yaml": flavor(at) for at in range(2)}
    base |= {f"team-{at}.yaml": "---\n".join((namespace(at), queue(at, 1, 2), local_queue(at))) for at in range(8)}
    listed = "".join(f"- {name}\n" for name in base)
    files = {f"base/{name}": text for name, text in base.items()}
    files["base/kustomization.yaml"] = (
        f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{listed}"
    )
    for stage in ("prod", "staging"):
        files[f"overlays/{stage}/kustomization.yaml"] = OVERLAY.replace("STAGE", stage)
        files[f"overlays/{stage}/cohort.yaml"] = cohort(0, None)
    files |= {f"jobs/train-{at}.yaml": job(at, 8) for at in range(10)}
    files |= {f"jobs/settings-{at}.yaml": config_map(at) for at in range(5)}
    files |= {"terraform/main.tf": TERRAFORM, "qcheck.yaml": SETTINGS}
    written(folder, files)


def two_revisions(folder: str, count: int) -> None:
    """A git repository whose last commit gives one queue more quota."""
    repository(folder, count, count // 10)
    by_git(folder, "init", "-q")
    by_git(folder, "add", ".")
    by_git(folder, "commit", "-qm", "first")
    path = next(p for p in sorted(Path(folder).rglob("*.yaml")) if "nominalQuota: 8\n" in p.read_text())
    write(str(path), path.read_text().replace("nominalQuota: 8\n", "nominalQuota: 9\n", 1))
    by_git(folder, "commit", "-qam", "second")


def by_git(folder: str, *words: str) -> None:
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def overcommitted(folder: str, queues: int) -> None:
    """Queues in one cohort whose quota is twice what the nodes of four flavors hold."""
    nodes = queues // 4  # of 8 GPUs, for each flavor; a queue has 8 GPUs of quota in two flavors
    made = [flavor(at) for at in range(4)] + [pool(at, nodes) for at in range(4)] + [cohort(0, None)]
    for at in range(queues):
        made += [queue(at, 1, 4), local_queue(at), namespace(at)]
    written(folder, {"all.yaml": "---\n".join(made)})
