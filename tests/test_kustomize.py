"""Files that a kustomization applies as patches are no objects; without rendering they are named as not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from qcheck.api import audit

KUSTOMIZATION = """\
resources: [../base]
patches:
  - path: quota.yaml
    target: {kind: ClusterQueue}
  - patch: |-
      - {op: remove, path: /spec/cohortName}
patchesStrategicMerge:
  - deploy.yaml
  - |-
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a}
"""
QUOTA = (
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: a}\n"
    "spec: {resourceGroups: [{flavors: []}]}\n"
)
DEPLOY = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n"
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: a}\nspec: {clusterQueue: A}\n"


def test_patches_are_not_judged_as_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("overlay").mkdir()
    for name, text in (
        ("kustomization.yaml", KUSTOMIZATION),
        ("quota.yaml", QUOTA),
        ("deploy.yaml", DEPLOY),
        ("q.yaml", QUEUE),
    ):
        Path("overlay", name).write_text(text, encoding="utf-8")
    result = audit(["."])
    refused = [f.primary.origin.path for f in result.findings if f.rule and f.rule.id == "QC003"]
    assert refused == ["overlay/q.yaml"]
    assert sorted(n.path for n in result.inputs.not_read) == ["overlay/deploy.yaml", "overlay/quota.yaml"]
    assert not result.inputs.unjudged
