"""`Finding.fixes`: edits on the finding itself, which every consumer reads the same way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qcheck.api import audit
from qcheck.findings.result import Result
from qcheck.findings.text_edits import text_edits
from qcheck.pipeline.fix import rewritten
from qcheck.reports import render

QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-a}
spec:
  namespaceSelector: {}
  cohort: org
  resourceGroups:
    - coveredResources: [memory]
      flavors: [{name: h100, resources: [{name: memory, nominalQuota: 1024Gi}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: ml}
spec: {clusterQueue: team-aa}  # which one?
"""


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.chdir(tmp_path)
    Path("queues.yaml").write_text(QUEUES)
    return audit(["."])


def offered(result: Result) -> dict[str, list[tuple[bool, list[str]]]]:
    """What each rule offers: whether it is safe, and the texts that are written."""
    return {
        f.rule.id: [(fix.is_safe, [e.new for e in edits]) for fix, edits in text_edits(f.fixes)]
        for f in result.findings
        if f.rule and f.fixes
    }


def test_findings_carry_their_fixes(result: Result) -> None:
    assert offered(result) == {
        "QC006": [(True, ["kueue.x-k8s.io/v1beta2", "cohortName"])],
        "QC008": [(True, ["1Ti"])],
        "QC402": [(False, ["team-a"])],
    }


def test_only_safe_ones_are_applied(result: Result) -> None:
    (fixed,) = rewritten(audit(["."]))
    assert "clusterQueue: team-aa" in fixed.after
    assert "cohortName: org" in fixed.after


def test_a_suppressed_finding_is_not_rewritten(result: Result) -> None:
    Path("queues.yaml").write_text(QUEUES.replace("1024Gi}]}]", "1024Gi}]}]  # qcheck: ignore[QC008] as the node says"))
    (fixed,) = rewritten(audit(["."]))
    assert "nominalQuota: 1024Gi" in fixed.after


def applied(text: str, edits: list[dict[str, object]]) -> str:
    lines = text.splitlines(keepends=True)
    for edit in edits:
        assert edit["line"] == edit["endLine"]
        at = int(str(edit["line"])) - 1
        first, last = int(str(edit["column"])) - 1, int(str(edit["endColumn"])) - 1
        lines[at] = lines[at][:first] + str(edit["new"]) + lines[at][last:]
    return "".join(lines)


def test_json_says_where_and_what(result: Result) -> None:
    found = {f["rule"]: f["fixes"] for f in json.loads(render(result, "json"))["findings"]}
    (fix,) = found["QC402"]
    assert fix["safe"] is False
    assert "spec: {clusterQueue: team-a}  # which one?" in applied(QUEUES, fix["edits"])
    assert "cohortName: org" in applied(QUEUES, found["QC006"][0]["edits"])


def test_sarif_and_rdjson_offer_them(result: Result) -> None:
    results = json.loads(render(result, "sarif"))["runs"][0]["results"]
    (change,) = next(r for r in results if r["ruleId"] == "QC008")["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "1Ti"}
    diagnostics = {d["code"]["value"]: d for d in json.loads(render(result, "rdjson"))["diagnostics"]}
    assert diagnostics["QC402"]["suggestions"][0]["text"] == "team-a"
    assert "suggestions" not in diagnostics["QC006"], "reviewdog applies one range at a time"
