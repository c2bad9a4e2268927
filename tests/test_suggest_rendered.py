"""`qcheck suggest` on rendered text: edits where people write the values and seen wherever these go, or none at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from manifests import FLAVOR, cluster_queue_by_lines, local_queue

from qcheck.cli.entrypoint import run

if TYPE_CHECKING:
    from collections.abc import Mapping

NODES = """apiVersion: qcheck.dev/v1
kind: NodePool
metadata: {name: h100}
spec:
  count: %d
  labels: {gpu: h100}
  allocatable: {cpu: 96, memory: 900Gi, nvidia.com/gpu: 8}
"""
JOB = (
    local_queue("research", queue="research")
    + """---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: research, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  parallelism: 17
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: example.com/x, resources: {limits: {nvidia.com/gpu: 8}}}
"""
)
KUSTOMIZE = '''#!/usr/bin/env python3
"""A stand-in for kustomize: the base, with the quota of the overlay's patch if there is one."""
import pathlib, re, sys
if "version" in sys.argv:
    print("v5.6.0"); sys.exit()
here = pathlib.Path([a for a in sys.argv[1:] if not a.startswith("-") and a != "build"][-1])
text = (here / "../../base/queues.yaml").read_text()
if (here / "quota.yaml").exists():
    quota = re.search(r"nominalQuota: (\\S+)", (here / "quota.yaml").read_text())[1]
    text = re.sub(r"nominalQuota: \\S+", f"nominalQuota: {quota}", text)
print(text, end="")
'''
HELM = '''#!/usr/bin/env python3
"""A stand-in for helm: the template with the quota of the values."""
import pathlib, re, sys
if "version" in sys.argv:
    print("v3.17.0"); sys.exit()
quota = re.search(r"quota: (\\S+)", pathlib.Path("charts/queues/values.yaml").read_text())[1]
print("---\\n# Source: queues/templates/queues.yaml")
print(pathlib.Path("charts/queues/templates/queues.yaml").read_text().replace("{{ .Values.quota }}", quota), end="")
'''
OVERLAY = "resources: [../../base]\n"
PATCHED = f"{OVERLAY}patches:\n- path: quota.yaml\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    for name, text in (("kustomize", KUSTOMIZE), ("helm", HELM)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def suggested(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["suggest", "--format", "json"]) == 1
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def fleet(*clusters: str) -> str:
    parts = [f"  {c}:\n    include: ['nodes/{c}/**']\n    render: [{{kustomize: overlays/{c}}}]\n" for c in clusters]
    return "version: 1\nclusters:\n" + "".join(parts)


def test_a_patched_value_is_edited_in_the_patch_and_check_passes(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(
        place,
        {
            "qcheck.yaml": fleet("prod"),
            "base/kustomization.yaml": "resources: [queues.yaml]\n",
            "base/queues.yaml": f"{FLAVOR}---\n{cluster_queue_by_lines(64)}",
            "overlays/prod/kustomization.yaml": PATCHED,
            "overlays/prod/quota.yaml": cluster_queue_by_lines(136),
            "nodes/prod/pool.yaml": NODES % 16,
        },
    )
    found = suggested(capsys)
    assert [[(e["file"], e["old"], e["new"]) for e in a["edits"]] for a in found["alternatives"]] == [
        [("overlays/prod/quota.yaml", "136", "128")],
        [("nodes/prod/pool.yaml", "16", "17")],
    ]
    assert run(["suggest", "--write"]) == 0
    assert (place / "overlays/prod/quota.yaml").read_text() == cluster_queue_by_lines(128)
    assert (place / "base/queues.yaml").read_text() == f"{FLAVOR}---\n{cluster_queue_by_lines(64)}"
    assert run(["check"]) == 0


def test_a_base_is_edited_only_if_all_that_is_rendered_from_it_allows_it(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "qcheck.yaml": fleet("prod", "lab"),
        "base/kustomization.yaml": "resources: [queues.yaml]\n",
        "base/queues.yaml": f"{FLAVOR}---\n{cluster_queue_by_lines(136)}",
        "overlays/prod/kustomization.yaml": OVERLAY,
        "overlays/lab/kustomization.yaml": OVERLAY,
        "nodes/prod/pool.yaml": NODES % 16,
        "nodes/lab/pool.yaml": NODES % 17,
    }
    written(place, files)
    edits = [(e["file"], e["new"]) for a in suggested(capsys)["alternatives"] for e in a["edits"]]
    assert edits == [("base/queues.yaml", "128"), ("nodes/prod/pool.yaml", "17")]
    written(place, {"nodes/lab/job.yaml": JOB})  # 17 pods of 8: the lab needs all 136
    found = suggested(capsys)
    assert [(e["file"], e["new"]) for a in found["alternatives"] for e in a["edits"]] == [
        ("nodes/prod/pool.yaml", "17")
    ]
    (rejected,) = found["rejected"]
    assert rejected["edit"] == "lower the quota of research from 136 to 128 nvidia.com/gpu"
    assert "QC601 never-admitted" in rejected["why"]


def test_a_value_that_helm_renders_is_not_edited(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(
        place,
        {
            "qcheck.yaml": (
                "version: 1\nclusters:\n  prod:\n    include: ['nodes/**']\n    render: [{helm: charts/queues}]\n"
            ),
            "charts/queues/Chart.yaml": "apiVersion: v2\nname: queues\nversion: 1.0.0\n",
            "charts/queues/values.yaml": "quota: 136\n",
            "charts/queues/templates/queues.yaml": f"{FLAVOR}---\n{cluster_queue_by_lines('{{ .Values.quota }}')}",
            "nodes/pool.yaml": NODES % 16,
        },
    )
    found = suggested(capsys)
    assert [(e["file"], e["new"]) for a in found["alternatives"] for e in a["edits"]] == [("nodes/pool.yaml", "17")]
    (rejected,) = found["rejected"]
    assert "its source is not known" in rejected["why"]
