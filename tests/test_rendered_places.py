"""Findings in rendered manifests point to the file that a person edits, as far as the renderer tells it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made import QUEUE, QUOTA_ROUTE, over_quota, settled

from qcheck.cluster.place import Place
from qcheck.documents.load import load
from qcheck.findings.result import Result
from qcheck.reports import render

HELM = f"---\n# Source: queues/templates/team-a.yaml\n{QUEUE}"
KUSTOMIZE = QUEUE.replace(
    "  name: team-a\n",
    "  annotations:\n    config.kubernetes.io/origin: |\n      path: ../base/team-a.yaml\n  name: team-a\n",
    1,
)


def result(text: str, path: str) -> Result:
    return settled(over_quota(Place(load(text, path).documents[0], QUOTA_ROUTE)))


@pytest.mark.parametrize(
    ("text", "path", "source"),
    [
        (HELM, "helm:charts/queues", "charts/queues/templates/team-a.yaml"),
        (QUEUE, "helm:charts/queues", "charts/queues/Chart.yaml"),
        (KUSTOMIZE, "kustomize:clusters/prod", "clusters/base/team-a.yaml"),
        (QUEUE, "kustomize:clusters/prod", "clusters/prod/kustomization.yaml"),
        (KUSTOMIZE.replace("path:", "repo: https://example.com/x\n      path:"), "kustomize:p", "p/kustomization.yaml"),
    ],
)
def test_annotations_go_to_the_source(text: str, path: str, source: str) -> None:
    found = result(text, path)
    assert render(found, "github").startswith(f"::error file={source},line=1,endLine=1")
    assert json.loads(render(found, "gitlab"))[0]["location"] == {"path": source, "lines": {"begin": 1}}
    location = json.loads(render(found, "sarif"))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == source
    assert json.loads(render(found, "rdjson"))["diagnostics"][0]["location"]["path"] == source


def test_the_line_of_the_output_is_kept_where_it_can_be_shown() -> None:
    found = result(HELM, "helm:charts/queues")
    place = json.loads(render(found, "json"))["findings"][0]["primary"]
    assert (place["file"], place["line"]) == ("helm:charts/queues", 14)
    assert place["source"] == "charts/queues/templates/team-a.yaml"
    text = render(found, "text")
    assert "--> helm:charts/queues:14:23 (rendered from charts/queues/templates/team-a.yaml)" in text
    assert "14 |         nominalQuota: 96" in text
    assert "line 14 of the output" in render(found, "github")


def test_a_file_written_by_hand_names_no_source(tmp_path: Path) -> None:
    assert "source" not in json.loads(render(result(HELM, "queues.yaml"), "json"))["findings"][0]["primary"]
