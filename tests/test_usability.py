"""The topology part of `qcheck capacity`: 16 nodes of 8 GPUs, of which a DaemonSet takes one each; and racks."""

from __future__ import annotations

import json
from pathlib import Path

from qcheck.api import audit
from qcheck.reports.capacity import render_json, render_text
from qcheck.settings import load_settings

FIXTURES = Path("fixtures/rules")
SEVEN = FIXTURES / "QC506-shapes-do-not-pack" / "fail-daemonset-leaves-seven"
RACKS = FIXTURES / "QC507-gang-exceeds-domain" / "fail-shape"
CORES = FIXTURES / "QC509-co-resource-strands-accelerators" / "fail-cores"


def topology(case: Path) -> dict[str, object]:
    result = audit([str(case)], load_settings(explicit=str(case / "qcheck.yaml")))
    data = json.loads(render_json(result.clusters))
    found = data["clusters"][0]["flavors"][0]["topology"]
    assert isinstance(found, dict)
    return found


def test_what_a_daemon_set_strands() -> None:
    found = topology(SEVEN)
    taken = [{"pool": "h100", "amount": 112, "by": "DaemonSets and reserves"}]
    assert found["free"] == 112
    assert found["sizes"] == [
        {"name": "1", "size": 1, "pods": 112, "idle": 0, "stranded": []},
        {"name": "2", "size": 2, "pods": 48, "idle": 16, "stranded": [{**taken[0], "amount": 16}]},
        {"name": "4", "size": 4, "pods": 16, "idle": 48, "stranded": [{**taken[0], "amount": 48}]},
        {"name": "8", "size": 8, "pods": 0, "idle": 112, "stranded": taken},
    ]
    assert found["expectedFragment"] == [0, 1]


def test_what_cores_strand() -> None:
    found = topology(CORES)
    assert found["shapes"] == [
        {"name": "trainer", "size": 1, "pods": 12, "idle": 4, "stranded": [{"pool": "h100", "amount": 4, "by": "cpu"}]}
    ]
    assert found["perAccelerator"] == {"cpu": 11_500, "memory": 980 * 2**30 // 8}


def test_the_largest_domain_of_each_level() -> None:
    assert topology(RACKS)["largestDomains"] == {"example.com/rack": {"nodes": 18, "accelerators": 72}}


def test_in_words() -> None:
    result = audit([str(CORES)], load_settings(explicit=str(CORES / "qcheck.yaml")))
    text, _, _ = render_text(result.clusters).partition("\n\nwhere the figures come from")
    assert text.splitlines()[-5:] == [
        "h100: 16 nvidia.com/gpu free",
        "  pods that fit, by size: 16 of 1, 8 of 2, 4 of 4, 2 of 8",
        "  trainer (1 each): 12 pods (4 idle: cpu)",
        "  no accelerator is stranded up to 11500m cpu and 122Gi memory per nvidia.com/gpu",
        "  expected fragment for the declared shapes: 0 of 16",
    ]
