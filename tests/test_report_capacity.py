"""Both views side by side, on the example cluster: 19 nodes of 8, one of which a DaemonSet takes."""

from __future__ import annotations

import json
from pathlib import Path

from qcheck.api import audit
from qcheck.findings.result import Result
from qcheck.reports.capacity import render_json, render_text

FLEET = "fixtures/clusters/research-fleet"


def fleet() -> Result:
    return audit([FLEET])


def test_the_json_follows_the_contract() -> None:
    data = json.loads(render_json(fleet().clusters))
    assert (data["schema"], data["clusters"][0]["name"]) == (1, "default")
    first = data["clusters"][0]["flavors"][0]
    assert first == {
        "flavor": "h100",
        "resource": "nvidia.com/gpu",
        "nominal": 152,
        "static": 133,
        "ceiling": 133,
        "daemonSets": 19,
        "reserves": 0,
        "headroom": -19,
        "known": True,
        "estimated": False,
        "pools": [{"name": "h100", "nodes": 19, "ceilingNodes": 19, "perNode": 8, "freePerNode": 7}],
        "placeable": {"1": 133, "2": 57, "4": 19, "8": 0},
        "topology": first["topology"],
    }


def test_the_table_has_a_line_for_each_flavor_and_resource() -> None:
    header, gpus, absent = (" ".join(line.split()) for line in render_text(fleet().clusters).splitlines()[:3])
    assert header == "flavor resource promised nodes hold with autoscaling headroom DaemonSets, reserves nodes"
    assert gpus == "h100 nvidia.com/gpu 152 133 -19 DaemonSets: 19 19 nodes x 7 of 8 (h100)"
    assert absent == "l40s nvidia.com/gpu 16 0 -16 none selected"


def test_no_file_name_can_reorder_the_line_that_names_nodes_without_quota(tmp_path: Path) -> None:
    for name, zone in (("a.yaml", "a"), ("\u202elmay.yaml", "b")):
        pool = f"{{count: 1, labels: {{zone: {zone}}}, allocatable: {{nvidia.com/gpu: 8}}}}"
        written = f"apiVersion: qcheck.dev/v1\nkind: NodePool\nmetadata: {{name: gpu}}\nspec: {pool}\n"
        (tmp_path / name).write_text(written)
    shown = render_text(audit([str(tmp_path)]).clusters)
    assert "\\u202elmay.yaml" in shown
    assert "\u202e" not in shown
